// What --fold takes for noise: rules about single calls, in one table, and what must be remembered to apply them.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::pipeline::views {

struct FoldRule {
  /// Which calls of the names in `calls` it is about.
  enum class By : std::uint8_t {
    path,       ///< those with a path that matches one of `paths`
    opened,     ///< those on a descriptor that a call of a `path` rule has opened; they count as calls of that rule
    name,       ///< all
    anonymous,  ///< those without a descriptor
    within,     ///< those that follow a call that is folded
    repeat,     ///< those that do the same to the same descriptor, with such a result, as a call that is shown
  };
  std::string_view label;  ///< in the line of a fold
  By by = By::name;
  std::string_view calls;
  std::string_view paths = {};  ///< patterns of fnmatch(3) in which * matches slashes, too
  int forgiven = 0;             ///< the only error of a call that may be folded; 0: none
};

[[nodiscard]] std::span<const FoldRule> fold_rules();

/// A call as the rules see it.
struct NoisyCall {
  std::string name;
  std::string path;                  ///< empty: none
  std::optional<std::int32_t> fd;    ///< empty: none; negative ones count as none
  std::uint64_t first_argument = 0;  ///< what a call without a descriptor is about
};

struct NoisyResult {
  std::int64_t value = 0;
  int error = 0;  ///< 0: the call succeeded
};

/// The descriptors of a process that calls of `path` rules have opened.
class NoisyFiles {
 public:
  void add(std::int32_t fd, const FoldRule& rule);
  void remove(std::int32_t fd);
  [[nodiscard]] const FoldRule* find(std::int32_t fd) const;

 private:
  static constexpr std::size_t most = 64;  ///< the oldest is forgotten
  struct File {
    std::int32_t fd = -1;
    const FoldRule* rule = nullptr;
  };
  std::vector<File> files_;
};

/// The last calls of a thread that were shown and that a `repeat` rule is about.
class ShownCalls {
 public:
  /// `result` empty: with any result.
  [[nodiscard]] bool has(const NoisyCall& call, const std::optional<NoisyResult>& result) const;
  void add(const NoisyCall& call, const NoisyResult& result);
  /// Forgets the calls on a descriptor: it may stand for something else from now on.
  void remove(std::int32_t fd);

 private:
  static constexpr std::size_t most = 8;
  struct Key {
    std::string name;
    std::uint64_t object = 0;
    int error = 0;
    bool nothing = false;  ///< the result was 0: end of file, or a time-out
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const NoisyCall& call, const NoisyResult& result);
  std::array<Key, most> keys_;
  std::size_t next_ = 0;
};

/// Returns the rule by which a call is noise; null: none. `result` empty: it has not ended, and is noise with some
/// result. `within`: the call before it is folded.
[[nodiscard]] const FoldRule* find_noise(const NoisyCall& call, const std::optional<NoisyResult>& result, bool within,
                                         const NoisyFiles& files, const ShownCalls& shown);

/// The sum of the calls that one line stands for.
class FoldTally {
 public:
  void add(const FoldRule& rule, const NoisyCall& call, const NoisyResult& result, std::chrono::nanoseconds duration);
  void clear() { *this = FoldTally(); }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Returns `⋯ 214 calls: loader, 38 files, 11 ms`, or the same in ASCII.
  [[nodiscard]] std::string text(bool utf8) const;

 private:
  static constexpr std::size_t most_labels = 8;
  struct Label {
    std::string_view label;
    std::int32_t fd = -1;
    friend bool operator==(const Label&, const Label&) = default;
  };
  std::vector<Label> labels_;
  bool others_ = false;  ///< there are more labels than are kept
  std::uint64_t calls_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t not_found_ = 0;
  std::chrono::nanoseconds time_{};
};

}  // namespace tracer::pipeline::views
