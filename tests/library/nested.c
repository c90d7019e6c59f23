// A function that stands in another one, as gcc lets them, and two of one name.
struct point {
  int x, y;
};

int twice(int number) {
  __attribute__((noinline)) int inner(struct point at, const char* name) {
    return at.x + at.y + number + (name[0] == 'a');
  }
  return inner((struct point){number, 1}, "a name");
}

int main(int argc, char** argv) {
  (void)argv;
  __attribute__((noinline)) int inner(int number) {
    return number + argc;
  }
  return inner(twice(3));
}
