#include "pipeline/views/fold_rules.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

namespace tracer::pipeline::views {

namespace {

using By = FoldRule::By;

constexpr std::string_view path_calls =
    "open openat openat2 access faccessat faccessat2 stat stat64 lstat newfstatat fstatat64 statx readlink readlinkat";

/// A call is of the first rule that fits.
constexpr std::array rules = {
    FoldRule{"loader", By::path, path_calls,
             "/etc/ld.so.* *.so *.so.[0-9]* */glibc-hwcaps/* */tls */x86_64 */haswell */avx512_1", ENOENT},
    FoldRule{"locale", By::path, path_calls,
             "/usr/lib/locale /usr/lib/locale/* /usr/share/locale /usr/share/locale/* /usr/share/locale-langpack/* "
             "*/gconv/gconv-modules*",
             ENOENT},
    FoldRule{"time zone", By::path, path_calls, "/etc/localtime /usr/share/zoneinfo/*", ENOENT},
    FoldRule{"", By::opened,
             "read pread64 fstat fstat64 newfstatat fstatat64 statx lseek _llseek mmap mmap2 fcntl fcntl64 fadvise64 "
             "close"},
    FoldRule{"start-up", By::name, "arch_prctl set_tid_address set_robust_list rseq set_thread_area set_tls"},
    FoldRule{"allocator", By::anonymous, "brk mmap mmap2 munmap mremap madvise"},
    FoldRule{"start-up", By::within, "mprotect prlimit64 ugetrlimit getrandom"},
    FoldRule{"polling", By::repeat,
             "poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_wait epoll_pwait epoll_pwait2 "
             "nanosleep clock_nanosleep clock_nanosleep_time64 sched_yield"},
    FoldRule{"reads", By::repeat, "read pread64 readv preadv recv recvfrom recvmsg recvmmsg", {}, EAGAIN},
    FoldRule{"writes", By::repeat, "write pwrite64 writev pwritev send sendto sendmsg sendmmsg", {}, EAGAIN},
    FoldRule{"accepts", By::repeat, "accept accept4", {}, EAGAIN},
};

/// Returns whether `accepts` returns true for one of the words.
template <typename Accepts>
bool any_word(std::string_view words, Accepts accepts) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (accepts(word)) {
      return true;
    }
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return false;
}

bool is_among(std::string_view word, std::string_view words) {
  return any_word(words, [&](std::string_view one) { return one == word; });
}

bool matches(const std::string& path, std::string_view patterns) {
  return any_word(patterns,
                  [&](std::string_view one) { return fnmatch(std::string(one).c_str(), path.c_str(), 0) == 0; });
}

std::uint64_t object_of(const NoisyCall& call) {
  return call.fd ? static_cast<std::uint64_t>(*call.fd) : call.first_argument;
}

std::string time_text(std::chrono::nanoseconds time, bool utf8) {
  const auto count = time.count();
  if (count < 1'000'000) {
    return fmt::format("{} {}", count / 1000, utf8 ? "µs" : "us");
  }
  return count < 1'000'000'000 ? fmt::format("{} ms", count / 1'000'000)
                               : fmt::format("{:.1f} s", static_cast<double>(count) / 1e9);
}

}  // namespace

std::span<const FoldRule> fold_rules() {
  return rules;
}

// ---------------------------------------------------------------------------------------------- what is remembered

void NoisyFiles::add(std::int32_t fd, const FoldRule& rule) {
  remove(fd);
  if (files_.size() == most) {
    files_.erase(files_.begin());
  }
  files_.push_back({fd, &rule});
}

void NoisyFiles::remove(std::int32_t fd) {
  std::erase_if(files_, [fd](const File& file) { return file.fd == fd; });
}

const FoldRule* NoisyFiles::find(std::int32_t fd) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [fd](const File& file) { return file.fd == fd; });
  return found == files_.end() ? nullptr : found->rule;
}

ShownCalls::Key ShownCalls::key_of(const NoisyCall& call, const NoisyResult& result) {
  return {call.name, object_of(call), result.error, result.value == 0};
}

bool ShownCalls::has(const NoisyCall& call, const std::optional<NoisyResult>& result) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) {
    return result ? key == key_of(call, *result) : key.name == call.name && key.object == object_of(call);
  });
}

void ShownCalls::add(const NoisyCall& call, const NoisyResult& result) {
  const bool any_rule = std::any_of(rules.begin(), rules.end(), [&](const FoldRule& rule) {
    return rule.by == By::repeat && is_among(call.name, rule.calls);
  });
  if (any_rule && !has(call, result)) {
    keys_[next_] = key_of(call, result);
    next_ = (next_ + 1) % most;
  }
}

void ShownCalls::remove(std::int32_t fd) {
  for (Key& key : keys_) {
    if (key.object == static_cast<std::uint64_t>(fd)) {
      key = {};
    }
  }
}

// ---------------------------------------------------------------------------------------------- rules

const FoldRule* find_noise(const NoisyCall& call, const std::optional<NoisyResult>& result, bool within,
                           const NoisyFiles& files, const ShownCalls& shown) {
  const bool has_fd = call.fd && *call.fd >= 0;
  for (const FoldRule& rule : rules) {
    if (!is_among(call.name, rule.calls) || (result && result->error != 0 && result->error != rule.forgiven)) {
      continue;
    }
    bool fits = false;
    const FoldRule* counts_for = &rule;
    switch (rule.by) {
      case By::path:
        fits = !call.path.empty() && matches(call.path, rule.paths);
        break;
      case By::opened:
        counts_for = has_fd && call.path.empty() ? files.find(*call.fd) : nullptr;
        fits = counts_for != nullptr;
        break;
      case By::name:
        fits = true;
        break;
      case By::anonymous:
        fits = !has_fd;
        break;
      case By::within:
        fits = within;
        break;
      case By::repeat:
        fits = shown.has(call, result);
        break;
    }
    if (fits) {
      return counts_for;
    }
  }
  return nullptr;
}

// ---------------------------------------------------------------------------------------------- the line

void FoldTally::add(const FoldRule& rule, const NoisyCall& call, const NoisyResult& result,
                    std::chrono::nanoseconds duration) {
  ++calls_;
  time_ += duration;
  if (rule.by == By::path && result.error != 0) {
    ++not_found_;
  } else if (rule.by == By::path && call.name.starts_with("open")) {
    ++files_;
  }
  const Label label{rule.label, rule.by == By::repeat && call.fd ? *call.fd : -1};
  if (std::find(labels_.begin(), labels_.end(), label) != labels_.end()) {
    return;
  }
  if (labels_.size() < most_labels) {
    labels_.push_back(label);
  } else {
    others_ = true;
  }
}

std::string FoldTally::text(bool utf8) const {
  std::string line = fmt::format("{} {} calls: ", utf8 ? "⋯" : "...", calls_);
  for (const Label& label : labels_) {
    line += label.label;
    line += label.fd >= 0 ? fmt::format(" of {}, ", label.fd) : ", ";
  }
  if (others_) {
    line += "others, ";
  }
  if (files_ != 0) {
    line += fmt::format("{} {}, ", files_, files_ == 1 ? "file" : "files");
  }
  if (not_found_ != 0) {
    line += fmt::format("{} not found, ", not_found_);
  }
  return line + time_text(time_, utf8);
}

}  // namespace tracer::pipeline::views
