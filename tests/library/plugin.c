#include <stdlib.h>

int plugin(int n) {
  return abs(n) + atoi("1");
}
