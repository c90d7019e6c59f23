// Exceptions that pass functions, are thrown again, come from deep and through a function of the C library.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

struct Guard {
  explicit Guard(int n) : number(n) {}
  ~Guard() { asm volatile(""); }
  int number;
};

extern "C" {
int inner(int n) {
  if (n % 2 != 0) {
    throw std::runtime_error("odd");
  }
  return n;
}

int middle(int n) {
  const Guard guard(n);
  return inner(n) + guard.number;
}

int outer(int n) {
  try {
    return middle(n);
  } catch (const std::exception&) {
    return -1;
  }
}

int down(int depth, int n) {
  return depth == 0 ? middle(n) : down(depth - 1, n) + 1;
}

int again(int n) {
  try {
    return down(3, n);
  } catch (...) {
    try {
      throw;
    } catch (const std::exception& error) {
      return static_cast<int>(std::string(error.what()).size());
    }
  }
}

int compare(const void*, const void*) {
  throw 5;
}
}

int main() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += outer(i) + again(i);
  }
  try {
    sum += down(100, 3);
  } catch (const std::exception&) {
    sum += 20;
  }
  int two[2] = {1, 2};
  try {
    std::qsort(two, 2, sizeof two[0], compare);
  } catch (int number) {
    sum += number;
  }
  return sum;
}
