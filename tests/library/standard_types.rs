// Strings and vectors of Rust as arguments and results.
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

fn main() {
    let mut sum = take_text("it", 3) + take_string("owned".to_string()) + take_string_reference(&"lent".to_string());
    sum += take_slice(&[4, 5]) + take_vector(vec![7, 8, 9]) + (take_wide(-2) + 1) as usize;
    println!("{} {} {}", sum, give_text(5), give_part("a part"));
}
