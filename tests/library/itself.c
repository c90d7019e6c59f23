// A library that calls itself through its linkage table (-DLIBRARY), and its program; -DTWICE calls it by another name,
// too.
#ifdef LIBRARY
int inner(int number) {
  return number + 1;
}

int outer(int number) {
  return inner(number + 1);
}

int outermost(int number) __attribute__((alias("outer")));
#else
int outer(int number);
int outermost(int number);
int atoi(const char* text);

int main() {
#ifdef TWICE
  return outer(1) + outermost(2) + atoi("3");
#else
  return outer(1);
#endif
}
#endif
