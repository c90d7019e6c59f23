// Prints the options section of the manual page; run when the program is built.
#include <cstdio>

#include "cli/help.h"

int main() {
  return std::fputs(tracer::cli::manual_options().c_str(), stdout) < 0 ? 1 : 0;
}
