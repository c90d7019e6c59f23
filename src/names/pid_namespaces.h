// Process ids of other PID namespaces, in terms of the tracer's own. From /proc: kernels before 6.11 have no call for
// it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace tracer::names {

enum class PidKind : std::uint8_t {
  process,  ///< or a thread
  group,    ///< or a session
};

class PidNamespaces {
 public:
  PidNamespaces();

  /// What `number` is here if thread `tid` means it; `number` itself if that thread shares the tracer's namespace; 0 if
  /// nothing has that number, or /proc does not tell.
  std::int32_t here(std::int32_t tid, std::int32_t number, PidKind kind);

 private:
  /// A namespace as one of its threads shows it.
  struct Home {
    std::string name;       ///< `pid:[4026531836]`
    std::size_t level = 0;  ///< index of its number in the lists of /proc/PID/status, which go from the outside in
  };
  [[nodiscard]] static bool answers(const Home& home, std::int32_t candidate, std::int32_t number, PidKind kind,
                                    std::int32_t& found);
  static std::int32_t search(const Home& home, std::int32_t number, PidKind kind, std::int32_t& witness);

  std::string own_;
  std::unordered_map<std::string, std::int32_t> witnesses_;  ///< who answered the last time; asked first
};

}  // namespace tracer::names
