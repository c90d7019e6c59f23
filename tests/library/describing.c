// Calls functions that only debugging information describes.
#include "described.h"

static int twice(int n) {
  return 2 * n;
}

int main(void) {
  char text[] = "was";
  point from = {1, 2};
  point to = {0, 0};
  struct node second = {8, 0};
  struct node first = {6, &second};
  struct vector v = {1.5, 2.5};
  struct vector w = {10, 20};
  struct floats f = {1, 2, 3};
  struct mixed m = {0.25, 'a'};
  struct mixed z = {9, 'z'};
  struct big b = {{11, 12, 13}, "bytes"};
  union number n = {41};
  struct nested nested = {{21, 22}, {5}, "inside", twice, BLUE};
  struct flags flags = {5, -3, 1000};
  int changed = 30;
  int kept = 12;
  char* end = text;
  scalars('c', true, -2, 200, 1.5F, 2.25, 3.5L, 4000000000UL);
  colors(BLUE, CAN_READ | CAN_RUN);
  texts("hello", text, L"wide", text, 0);
  pointers(&from, &to, &changed, &kept, &end, &first);
  by_value(from, 3);
  vectors(v, w);
  in_three(f, 0.5);
  mixed(m, m, m, m, z);
  big(b, from);
  either(n);
  whole(&nested, flags, twice);
  turned(1 + 2.0iF, 3, 4 + 5.0i, 6 + 7.0iL, 8);
  turned_twice(1 + 2.0i, 3 + 4.0iF);
  turned_more(1 + 2.0iL, 3);
  say("%s has %d", "it", 3);
  return to.x;
}
