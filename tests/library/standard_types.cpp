// Types of the C++ library as arguments and results.
#include <array>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

struct Point {
  int x;
  int y;
};

class Named {
 public:
  Named(int id, std::string name) : id_(id), name_(std::move(name)) {}
  ~Named() {}
  Named(const Named& other) : id_(other.id_), name_(other.name_) {}
  int id() const { return id_; }

 private:
  int id_;
  std::string name_;
};

#define FUNCTION __attribute__((noinline, used)) int

FUNCTION take_text(std::string text) {
  return static_cast<int>(text.size());
}
FUNCTION take_const_text(const std::string& text) {
  return static_cast<int>(text.size());
}
FUNCTION take_view(std::string_view text) {
  return static_cast<int>(text.size());
}
FUNCTION take_numbers(const std::vector<int>& all) {
  return static_cast<int>(all.size());
}
FUNCTION take_points(std::vector<Point> all) {
  return static_cast<int>(all.size());
}
FUNCTION take_texts(const std::vector<std::string>& all) {
  return static_cast<int>(all.size());
}
FUNCTION take_optional(std::optional<int> value, int more) {
  return value ? *value : more;
}
FUNCTION take_optional_text(const std::optional<std::string>& value) {
  return value ? 1 : 0;
}
FUNCTION take_unique(std::unique_ptr<Point> point) {
  return point ? point->x : 0;
}
FUNCTION take_shared(std::shared_ptr<Point> point) {
  return point ? point->y : 0;
}
FUNCTION take_three(const std::array<int, 3>& all) {
  return all[0];
}
FUNCTION take_span(std::span<int> all) {
  return static_cast<int>(all.size());
}
FUNCTION take_list(std::initializer_list<int> all) {
  return static_cast<int>(all.size());
}
FUNCTION take_map(const std::map<std::string, int>& all) {
  return static_cast<int>(all.size());
}
FUNCTION take_set(const std::unordered_set<int>& all) {
  return static_cast<int>(all.size());
}
FUNCTION take_chain(std::list<int> all) {
  return static_cast<int>(all.size());
}
FUNCTION take_named(Named named) {
  return named.id();
}
__attribute__((noinline)) Named give_named(int id) {
  return {id, "given"};
}
__attribute__((noinline)) std::string give_text(std::size_t size) {
  return std::string(size, 'z');
}
__attribute__((noinline)) std::string_view give_view() {
  return "a view";
}
__attribute__((noinline)) std::vector<int> give_numbers(int count) {
  return std::vector<int>(static_cast<std::size_t>(count), 7);
}
__attribute__((noinline)) std::optional<int> give_optional(bool there) {
  return there ? std::optional(5) : std::nullopt;
}
#ifdef __SIZEOF_INT128__
__attribute__((noinline)) __int128 give_wide(__int128 value, int more) {
  return value + more;
}
__attribute__((noinline)) unsigned __int128 give_unsigned(unsigned __int128 value) {
  return value;
}
#endif

int main() {
  std::string text("it is\0here", 10);
  take_text(text);
  take_text("");
  take_const_text(std::string(40, 'q'));
  take_view(std::string_view(text).substr(3, 2));
  take_view({});
  take_numbers({1, 2, 3});
  take_numbers({});
  take_points({{1, 2}, {3, 4}});
  take_texts({"a", "bc"});
  take_optional(3, 4);
  take_optional({}, 4);
  take_optional_text("there");
  take_optional_text({});
  take_unique(std::make_unique<Point>(Point{1, 2}));
  take_unique(nullptr);
  take_shared(std::make_shared<Point>(Point{3, 4}));
  take_three({7, 8, 9});
  int numbers[] = {4, 5};
  take_span(numbers);
  take_list({6, 7, 8});
  take_map({{"k", 1}, {"l", 2}});
  take_set({1, 2, 3});
  take_chain({5});
  take_named(give_named(2));
  give_text(4);
  give_view();
  give_numbers(2);
  give_optional(true);
  give_optional(false);
#ifdef __SIZEOF_INT128__
  give_wide(-3, 1);
  give_wide((static_cast<__int128>(1) << 100) + 5, 2);
  give_unsigned(~static_cast<unsigned __int128>(0));
#endif
  return 0;
}
