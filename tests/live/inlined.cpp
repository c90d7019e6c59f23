// A deep, inlined C++ program, whose stack the tests compare with gdb's.
#include <unistd.h>

#include <functional>
#include <vector>

namespace app {

inline int leaf(int n) {
  return getppid() + n;
}

template <class T>
struct Visitor {
  T base;
  int visit(const T& value) const { return leaf(value + base); }
};

class Tree {
 public:
  std::vector<int> items{3, 1, 2};
  template <class F>
  int walk(F visit) const {
    int sum = 0;
    for (const int item : items) {
      sum += visit(item);
    }
    return sum;
  }
};

__attribute__((noinline)) int process(const Tree& tree, Visitor<int> visitor) {
  return tree.walk([&](int item) { return visitor.visit(item) + 1; });
}

struct Base {
  virtual ~Base() = default;
  virtual int run(int depth) = 0;
};

struct Job : Base {
  Tree tree;
  int run(int depth) override { return depth == 0 ? process(tree, {5}) + 1 : run(depth - 1) + 1; }
};

}  // namespace app

int main() {
  app::Job job;
  app::Base* base = &job;
  const std::function<int()> function = [base] { return base->run(20); };
  return function() > 100000;
}
