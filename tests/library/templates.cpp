// Functions whose names have a result and template arguments when they are demangled.
namespace shop {

template <typename T>
__attribute__((noinline)) int tw(T a, T b) {
  return a + b;
}

template <typename T>
struct Box {
  T value;
  __attribute__((noinline)) Box& operator<<(T other) {
    value += other;
    return *this;
  }
  template <typename U>
  __attribute__((noinline)) U get(U other) {
    return value + other;
  }
};

}  // namespace shop

int main() {
  shop::Box<long> box{1};
  box << 2;
  return shop::tw<int>(1, 2) + shop::tw<short>(1, 1) + box.get<int>(1);
}
