// What a Rust program calls: its own functions, generic ones, and those of the C library.
mod shop {
    pub struct Basket {
        pub total: i32,
    }
    impl Basket {
        #[inline(never)]
        pub fn add(&mut self, price: i32) -> i32 {
            self.total += price;
            self.total
        }
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy>(one: T, other: T) -> T {
    if one > other { one } else { other }
}

extern "C" {
    fn atoi(text: *const u8) -> i32;
    fn toupper(character: i32) -> i32;
}

fn main() {
    let mut basket = shop::Basket { total: 4 };
    let sum = basket.add(std::env::args().count() as i32);
    let text = format!("{}\0", largest(sum, 1));
    let number = unsafe { atoi(text.as_ptr()) };
    std::process::exit(number + unsafe { toupper(i32::from(b'a') + number - 5) } - 65);
}
