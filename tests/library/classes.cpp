// C++: methods, exceptions, deep recursion.
#include <cstdlib>

namespace app {

struct Counter {
  int total = 0;
  __attribute__((noinline)) int add(int number, const char*) { return total += number; }
};

__attribute__((noinline)) int fail(int number) {
  if (number > 0) {
    throw number;
  }
  return number;
}

__attribute__((noinline)) int try_it(int number) {
  try {
    return fail(number);
  } catch (int thrown) {
    return thrown;
  }
}

// What follows the handler is where the call would have returned to.
__attribute__((noinline)) int go_on(int number) {
  int result = number;
  try {
    fail(number);
  } catch (int thrown) {
    result += thrown;
  }
  return result;
}

__attribute__((noinline)) int deep(int level) {
  return level == 0 ? 0 : 1 + deep(level - 1);
}

}  // namespace app

int main(int argc, char**) {
  if (argc == 2) {
    return app::try_it(6) + app::go_on(1);
  }
  if (argc == 3) {
    return app::deep(300) & 0xff;
  }
  app::Counter counter;
  counter.add(2, "two");
  return counter.add(3, "three");
}
