// The C library's functions that take or return structures by value.
#include <complex.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

struct in_addr {  // the header of the C library is not there for 32-bit programs everywhere
  unsigned s_addr;
};
struct in_addr inet_makeaddr(unsigned net, unsigned host);
char* inet_ntoa(struct in_addr in);

int main(void) {
  volatile int seventeen = 17;
  volatile double one = 1;
  double complex z = one + 2 * I;
  div_t small = div(seventeen, 5);
  ldiv_t middle = ldiv(-seventeen, 5);
  lldiv_t large = lldiv(seventeen * 1000000000LL, 7);
  ENTRY entry = {"key", 0};
  cabs(3 * one + 4 * I);
  z = conj(z);
  cabsf(3 * (float)one + 4 * I);
  conjf((float)one + 2 * I);
  cabsl(3 * (long double)one + 4 * I);
  conjl((long double)one + 2 * I);
  hcreate(10);
  hsearch(entry, ENTER);
  inet_ntoa(inet_makeaddr(0x7f, 5));
  return small.quot + (int)middle.rem + (int)large.rem + (int)cimag(z);
}
