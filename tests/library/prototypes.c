// Functions with arguments and results of all kinds.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

char* __strdup(const char* text);

static void handler(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  char text[40];
  wchar_t wide[40];
  long double extended = 1.5L;
  (void)argv;
  fopen("/nonexistent", "r");
  close(77);
  snprintf(text, sizeof text, "%d %s %5.2f %c %Lg %lld", 42, "hello", 3.25, 'z', extended, 1LL << 40);
  snprintf(text, sizeof text, "%c", -argc);
  pow(2.0, argc + 0.5);
  sqrtf((float)argc + 1.0F);
  strtod("2.5", NULL);
  free(NULL);
  swprintf(wide, 40, L"%d %s %.1f", 7, "narrow", 2.5);
  struct sigaction action = {.sa_handler = handler};
  signal(SIGUSR1, SIG_IGN);
  signal(SIGUSR1, handler);
  sigaction(SIGUSR2, &action, NULL);
#ifdef __GLIBC__
  __strdup("reserved");
#endif
  strndup("hello", 3);
  return atoi("12");
}
