// Loads, calls and unloads a plug-in three times.
#include <dlfcn.h>

int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(argv[argc - 1], RTLD_NOW);
    if (library == 0) {
      return 1;
    }
    int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
    sum += plugin(-i);
    dlclose(library);
  }
  return sum;
}
