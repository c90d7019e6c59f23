// Functions of the names that rustc gives: the older ones, and those of its second scheme.
int add(int n) __asm__("_ZN4shop6Basket3add17h4c952050b55ff183E");
int generic(int n) __asm__("_RINvCs83NsFMusk0o_4shop7largestlEB2_");
int method(int n) __asm__("_RNvMNtCs83NsFMusk0o_4shop5storeNtB2_6Basket4take");

int add(int n) {
  return n + 1;
}
int generic(int n) {
  return n + 2;
}
int method(int n) {
  return n + 3;
}

int main(void) {
  return method(generic(add(1)));
}
