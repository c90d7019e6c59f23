/* check_names.py replaces each NAME_… in what is compiled from this with a name that forges lines and records. */
#ifdef LIBRARY
__attribute__((noinline)) int NAME_OF_AN_EXPORTED_FUNCTION(int number) {
  return number;
}
#else
#include <sys/sdt.h>
#include <unistd.h>

enum NAME_OF_AN_ENUMERATION { NAME_OF_AN_ENUMERATOR = 5, NAME_OF_ANOTHER_ENUMERATOR = 6 };

struct NAME_OF_A_STRUCTURE {
  enum NAME_OF_AN_ENUMERATION NAME_OF_A_FIELD;
  int NAME_OF_ANOTHER_FIELD;
};

int NAME_OF_AN_EXPORTED_FUNCTION(int number);

__attribute__((noinline)) int NAME_OF_A_FUNCTION(const struct NAME_OF_A_STRUCTURE* NAME_OF_A_PARAMETER) {
  DTRACE_PROBE1(NAME_OF_A_PROVIDER, NAME_OF_A_PROBE, NAME_OF_A_PARAMETER);
  return getppid() == 0;
}

int main(void) {
  struct NAME_OF_A_STRUCTURE structure = {NAME_OF_AN_ENUMERATOR, 7};
  return NAME_OF_AN_EXPORTED_FUNCTION(NAME_OF_A_FUNCTION(&structure));
}
#endif
