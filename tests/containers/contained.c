/* contained GROUP PATH...: enters the control group (a file cgroup.procs; - for none) and runs itself again, which
 * makes one call that is easily told from others, for each path.
 *
 * contained until FILE PATH...: makes these calls again and again until FILE exists, for a minute at most. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Paths that do not exist. */
static int chdir_to_all(char** paths) {
  for (; *paths != NULL; ++paths) {
    if (chdir(*paths) == 0) {
      return -1;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  if (strcmp(argv[1], "until") == 0) {
    for (int i = 0; i < 6000 && access(argv[2], F_OK) != 0; ++i) {
      if (chdir_to_all(argv + 3) != 0) {
        return 5;
      }
      usleep(10000);
    }
    return 0;
  }
  if (strcmp(argv[1], "-") != 0) {
    const int procs = open(argv[1], O_WRONLY);
    if (procs < 0 || write(procs, "0", 1) != 1) {
      return 3;
    }
    argv[1] = (char[]){"-"};
    execv("/proc/self/exe", argv);
    return 4;
  }
  return chdir_to_all(argv + 2) == 0 ? 0 : 5;
}
