// A library that calls itself through its linkage table (-DLIBRARY), and its program.
#ifdef LIBRARY
int inner(int number) {
  return number + 1;
}

int outer(int number) {
  return inner(number + 1);
}
#else
int outer(int number);

int main() {
  return outer(1);
}
#endif
