// Functions that are called through pointers, one that is called directly too, and text that cannot be read.
#include <stdio.h>
#include <stdlib.h>

static int (*volatile of_data)(int) = abs;

int main(void) {
  int (*volatile taken)(const char*) = atoi;
  const int sum = taken("3") + atoi("4") + of_data(-5);
  fopen((const char*)0x1234, "r");
  return sum;
}
