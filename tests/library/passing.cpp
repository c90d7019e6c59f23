// Classes of C++ as arguments and results: what decides whether they are in registers or in memory.
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

struct Plain {
  int a;
};
struct Holder {
  std::unique_ptr<int> pointer;
};
struct Destroyed {
  int a;
  ~Destroyed() {}
};
struct Derived : Destroyed {
  int b;
};
struct Defaulted {
  int a;
  explicit Defaulted(int value) : a(value) {}
  Defaulted(const Defaulted&) = default;
  ~Defaulted() = default;
};
struct OnlyMoved {
  int a;
  explicit OnlyMoved(int value) : a(value) {}
  OnlyMoved(OnlyMoved&&) = default;
  OnlyMoved(const OnlyMoved&) = delete;
};
struct NeverMoved {
  int a;
  explicit NeverMoved(int value) : a(value) {}
  NeverMoved(const NeverMoved&) = delete;
};
struct OnlyAssigned {
  int a;
  explicit OnlyAssigned(int value) : a(value) {}
  OnlyAssigned& operator=(OnlyAssigned&&) = default;  // nothing copies or moves
};
struct Moved {
  int a;
  explicit Moved(int value) : a(value) {}
  Moved(Moved&& other) : a(other.a) {}
};
struct CopiedElsewhere {
  int a;
  explicit CopiedElsewhere(int value) : a(value) {}
  CopiedElsewhere(const CopiedElsewhere&);
};
CopiedElsewhere::CopiedElsewhere(const CopiedElsewhere&) = default;
struct FromAny {
  int a;
  explicit FromAny(int value) : a(value) {}
  template <typename T>
  explicit FromAny(const T&) : a(9) {}
};
struct WithDefaultArgument {
  int a;
  explicit WithDefaultArgument(int value) : a(value) {}
  WithDefaultArgument(const WithDefaultArgument& other, int = 1) : a(other.a) {}
};
struct Floats {  // in vector registers, were it not for the destructor
  double x;
  double y;
  ~Floats() {}
};

#define PASSED(type, name, make, number)                               \
  __attribute__((noinline, used)) type give_##name(int value) {        \
    return make;                                                       \
  }                                                                    \
  __attribute__((noinline, used)) int take_##name(type it, int more) { \
    return (number) + more;                                            \
  }

PASSED(Plain, plain, {value}, it.a)
PASSED(std::unique_ptr<int>, unique, std::make_unique<int>(value), *it)
PASSED(std::shared_ptr<int>, shared, std::make_shared<int>(value), *it)
PASSED(Holder, holder, {std::make_unique<int>(value)}, *it.pointer)
PASSED(Destroyed, destroyed, {value}, it.a)
PASSED(Derived, derived, (Derived{{value}, 2}), it.a)
PASSED(Defaulted, defaulted, Defaulted(value), it.a)
PASSED(OnlyMoved, only_moved, OnlyMoved(value), it.a)
PASSED(NeverMoved, never_moved, NeverMoved(value), it.a)
PASSED(OnlyAssigned, only_assigned, OnlyAssigned(value), it.a)
PASSED(Moved, moved, Moved(value), it.a)
PASSED(CopiedElsewhere, copied, CopiedElsewhere(value), it.a)
PASSED(FromAny, from_any, FromAny(value), it.a)
PASSED(WithDefaultArgument, with_default, WithDefaultArgument(value), it.a)
PASSED(Floats, floats, (Floats{value + 0.5, 2}), static_cast<int>(it.x))
PASSED(std::optional<std::unique_ptr<int>>, maybe, std::make_unique<int>(value), **it)
using Pair = std::pair<int, int>;
using Tuple = std::tuple<int, long, char>;
PASSED(Pair, pair, Pair(value, 2), it.first)
PASSED(Tuple, tuple, Tuple(value, 2, 'c'), std::get<0>(it))

int main() {
  take_plain(give_plain(11), 1);
  take_unique(give_unique(12), 1);
  take_shared(give_shared(13), 1);
  take_holder(give_holder(14), 1);
  take_destroyed(give_destroyed(15), 1);
  take_derived(give_derived(16), 1);
  take_defaulted(give_defaulted(17), 1);
  take_only_moved(give_only_moved(18), 1);
  take_never_moved(give_never_moved(19), 1);
  take_only_assigned(give_only_assigned(20), 1);
  take_moved(give_moved(21), 1);
  take_copied(give_copied(22), 1);
  take_from_any(give_from_any(23), 1);
  take_with_default(give_with_default(24), 1);
  take_floats(give_floats(25), 1);
  take_maybe(give_maybe(26), 1);
  take_pair(give_pair(27), 1);
  take_tuple(give_tuple(28), 1);
}
