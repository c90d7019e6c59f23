// Strings, vectors, tuples and enums of Rust as arguments and results.
#[inline(never)]
fn take_text(text: &str, more: usize) -> usize {
    text.len() + more
}

#[inline(never)]
fn take_string(text: String) -> usize {
    text.len()
}

#[inline(never)]
fn take_string_reference(text: &String) -> usize {
    text.len()
}

#[inline(never)]
fn take_slice(all: &[i32]) -> usize {
    all.len()
}

#[inline(never)]
fn take_vector(all: Vec<u16>) -> usize {
    all.len()
}

#[inline(never)]
fn take_wide(value: i128) -> i128 {
    value + 1
}

#[inline(never)]
fn give_text(number: usize) -> String {
    format!("number {}", number)
}

#[inline(never)]
fn give_part(text: &str) -> &str {
    &text[1..3]
}

struct Point {
    x: i32,
    y: i32,
}

enum Shape {
    Empty,
    Circle(f64),
    Rectangle { width: u32, height: u32 },
    Named(String),
}

#[inline(never)]
fn take_option(number: &Option<u32>) -> u32 {
    match number { Some(it) => *it, None => 9 }
}

#[inline(never)]
fn take_option_text(text: &Option<String>) -> bool {
    match text { Some(_) => true, None => false }
}

#[inline(never)]
fn take_option_word(number: Option<u64>) -> u64 {
    match number { Some(it) => it, None => 7 }
}

#[inline(never)]
fn take_result(result: Result<u32, String>) -> u32 {
    match result { Ok(it) => it, Err(_) => 0 }
}

#[inline(never)]
fn take_shape(shape: &Shape) -> u32 {
    match shape {
        Shape::Empty => 0,
        Shape::Circle(radius) => *radius as u32,
        Shape::Rectangle { width, height } => width * height,
        Shape::Named(name) => name.len() as u32,
    }
}

#[inline(never)]
fn take_tuple(all: &(u32, i64, String)) -> u32 {
    all.0
}

#[inline(never)]
fn take_pair(pair: (u64, i64)) -> u64 {
    pair.0
}

#[inline(never)]
fn take_box(point: Box<Point>) -> i32 {
    if point.x > 0 { point.y } else { 0 }
}

#[inline(never)]
fn take_options(all: &Vec<Option<u8>>) -> usize {
    all.len()
}

#[inline(never)]
fn give_option(number: usize) -> Option<String> {
    if number > 0 { Some("z".repeat(number)) } else { None }
}

#[inline(never)]
fn give_result(number: i32) -> Result<Vec<i32>, String> {
    if number > 0 { Ok(vec![number; number as usize]) } else { Err(format!("no {}", number)) }
}

#[inline(never)]
fn give_pair(number: u64) -> (u64, u64) {
    (number, number + 1)
}

#[inline(never)]
fn take_texts(first: &str, second: &str, third: &[u8]) -> usize {
    first.len() + second.len() + third.len()
}

#[inline(never)]
fn take_many(first: &str, second: &str, third: &str, fourth: &[i32], fifth: u8) -> usize {
    first.len() + second.len() + third.len() + fourth.len() + fifth as usize
}

#[inline(never)]
fn take_late(number: u8, first: &str, second: &str, third: &str) -> usize {
    number as usize + first.len() + second.len() + third.len()
}

#[inline(never)]
fn give_numbers(text: &str) -> [u64; 4] {
    [text.len() as u64; 4]
}

#[inline(never)]
fn take_numbers(numbers: [u16; 2], text: &str) -> usize {
    numbers[0] as usize + text.len()
}

fn main() {
    let mut sum = take_text("it", 3) + take_string("owned".to_string()) + take_string_reference(&"lent".to_string());
    sum += take_slice(&[4, 5]) + take_vector(vec![7, 8, 9]) + (take_wide(-2) + 1) as usize;
    println!("{} {} {}", sum, give_text(5), give_part("a part"));
    sum += (take_option(&Some(3)) + take_option(&None)) as usize;
    sum += (take_option_text(&Some("there".to_string())) as usize) + (take_option_text(&None) as usize);
    sum += (take_option_word(Some(4)) + take_option_word(None)) as usize;
    sum += (take_result(Ok(5)) + take_result(Err("bad".to_string()))) as usize;
    sum += (take_shape(&Shape::Empty) + take_shape(&Shape::Circle(2.5))) as usize;
    sum += (take_shape(&Shape::Rectangle { width: 2, height: 3 }) + take_shape(&Shape::Named("n".to_string()))) as usize;
    sum += take_tuple(&(1, -2, "x".to_string())) as usize + take_pair((5, -6)) as usize;
    sum += take_box(Box::new(Point { x: 7, y: 8 })) as usize + take_options(&vec![Some(1), None]);
    println!("{} {:?} {:?}", sum, give_option(2), give_option(0));
    println!("{} {}", take_texts("one", "two", b"3"), take_many("a", "bc", "def", &[1, 2], 3));
    println!("{} {:?} {}", take_late(1, "a", "b", "c"), give_numbers("abc"), take_numbers([1, 2], "abc"));
    println!("{:?} {:?} {:?}", give_result(2), give_result(-1), give_pair(3));
}
