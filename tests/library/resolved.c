#include <string.h>

int main(int argc, char** argv) {
  const char* volatile text = "five5";
  const char* volatile other = "five!";
  int length = (int)strlen(text);
  int more = (int)(strchr(other, '!') - other);
  return length + more + (strlen(other) == 5 ? 1 : 0);
}
