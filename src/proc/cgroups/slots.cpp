#include "proc/cgroups/slots.h"

#include <fmt/core.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/read_file.h"
#include "proc/cgroups/finder.h"
#include "proc/cgroups/tree.h"

namespace tracer::proc::cgroups {

Slots::Slots(std::vector<Target> targets, Fill fill) : fill_(std::move(fill)), mount_(mount_point()) {
  for (Target& target : targets) {
    slots_.push_back({std::move(target), {}, 0, {}});
  }
}

Status Slots::start() {
  const bool any_comes_and_goes =
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.target.kind != TargetKind::path; });
  if (any_comes_and_goes) {
    // Before we look, so that nothing is made unseen in between.
    changes_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    watch_all();
  }
  for (Slot& slot : slots_) {
    if (const Status looked = look(slot); !looked) {
      return looked.error();
    }
  }
  looked_at_ = clock_now(CLOCK_MONOTONIC);
  return Done{};
}

std::vector<std::string> Slots::missing() const {
  std::vector<std::string> sentences;
  for (const Slot& slot : slots_) {
    if (slot.directory.empty()) {
      sentences.push_back(fmt::format("{}: no {} of that name is running; waiting for it to start{}",
                                      option_of(slot.target),
                                      slot.target.kind == TargetKind::unit ? "unit" : "container", slot.hint));
    }
  }
  return sentences;
}

void Slots::refresh() {
  constexpr std::chrono::nanoseconds usual_pause = std::chrono::milliseconds(200);
  constexpr int share = 10;  // one part of so many of the time is for looks
  if (slots_.empty()) {
    return;
  }
  something_new_ = drain() || something_new_;
  const auto pause = std::max(something_new_ ? std::chrono::nanoseconds(0) : usual_pause, share * look_took_);
  const auto now = clock_now(CLOCK_MONOTONIC);
  if (now - looked_at_ < pause) {
    return;
  }
  for (Slot& slot : slots_) {
    if (!is_there(slot)) {
      slot.directory.clear();
      // What has become ambiguous, or cannot be opened any more, is not watched.
      static_cast<void>(look(slot).ok());
    }
  }
  if (std::exchange(something_new_, false)) {
    watch_all();
  }
  looked_at_ = clock_now(CLOCK_MONOTONIC);
  look_took_ = looked_at_ - now;
}

Status Slots::look(Slot& slot) {
  std::string path = slot.target.name;
  if (slot.target.kind != TargetKind::path) {
    auto found = find(slot.target, {mount_, {}});
    if (!found) {
      return found.error();
    }
    if (!found.value().group) {
      slot.hint = std::move(found.value().hint);
      return Done{};
    }
    path = mount_ + *found.value().group;
  }
  const auto group = open_group(path);
  if (!group) {
    // A unit or a container may have ended meanwhile.
    return slot.target.kind == TargetKind::path ? Status(group.error()) : Status(Done{});
  }
  struct ::stat status {};
  ::fstat(group.value().get(), &status);
  slot.directory = read_link("/proc/self/fd/" + std::to_string(group.value().get()));
  slot.inode = status.st_ino;
  const std::size_t index = static_cast<std::size_t>(&slot - slots_.data());
  if (const Status filled = fill_(index, group.value()); !filled) {
    return Error{filled.error().number, option_of(slot.target) + ": " + filled.error().message};
  }
  return Done{};
}

bool Slots::is_there(const Slot& slot) {
  struct ::stat status {};
  return !slot.directory.empty() && ::stat(slot.directory.c_str(), &status) == 0 && status.st_ino == slot.inode;
}

void Slots::watch_all() {
  if (!changes_.valid()) {
    return;
  }
  const auto watch = [this](const std::string& path) {
    return ::inotify_add_watch(changes_.get(), (mount_ + path).c_str(), IN_CREATE | IN_ONLYDIR) >= 0 || errno != ENOSPC;
  };
  watch({});
  for_each_group(mount_, [&watch](const std::string& path, std::string_view) { return watch(path); });
}

bool Slots::drain() {
  std::array<char, 4096> events;
  bool any = false;
  while (changes_.valid() && ::read(changes_.get(), events.data(), events.size()) > 0) {
    any = true;
  }
  return any;
}

}  // namespace tracer::proc::cgroups
