// Leaves functions by other ways than their return.
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf there;

static int compare(const void* left, const void* right) {
  (void)left;
  (void)right;
  longjmp(there, 5);
}

static int in_order(const void* left, const void* right) {
  return *(const char*)left - *(const char*)right;
}

int main(void) {
  char letters[] = "ba";
  const int value = _setjmp(there);
  if (value == 0) {
    qsort(letters, 2, 1, compare);
  }
  qsort(letters, 2, 1, in_order);
  return abs(value);
}
