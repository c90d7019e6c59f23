// A program with one call of each kind. It prints nothing.
#include <ctype.h>
#include <stdlib.h>

int (*volatile pointer)(int) = tolower;

int main(void) {
  int sum = atoi("5");
  sum += abs(-7);
  sum += toupper('a');
  sum += pointer('B');
  return sum == 5 + 7 + 65 + 98 ? 3 : 4;
}
