#include "proc/cgroups/finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>

#include "base/near_miss.h"
#include "base/printable.h"
#include "proc/cgroups/containers.h"
#include "proc/cgroups/tree.h"

namespace tracer::proc::cgroups {
namespace {

constexpr std::size_t most_shown = 4;

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) {
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  return names.size() > most_shown ? fmt::format("{} and {} more", text, names.size() - most_shown) : text;
}

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() > ending.size() && text.substr(text.size() - ending.size()) == ending;
}

bool has_type_of_unit(std::string_view name) {
  constexpr std::array<std::string_view, 6> types = {".service", ".scope", ".slice", ".socket", ".mount", ".swap"};
  return std::any_of(types.begin(), types.end(), [name](std::string_view type) { return ends_with(name, type); });
}

Result<Found> find_unit(const Target& target, const Places& places) {
  const std::string unit = has_type_of_unit(target.name) ? target.name : target.name + ".service";
  std::vector<std::string> groups;
  NearMiss near(unit);
  for_each_group(places.mount, [&](const std::string& path, std::string_view name) {
    if (name == unit) {
      groups.push_back(path);
    } else if (has_type_of_unit(name)) {
      near.consider(name);
    }
    return true;
  });
  // Containers with a systemd of their own have units of the same names.
  if (std::find(groups.begin(), groups.end(), "/system.slice/" + unit) != groups.end()) {
    return Found{"/system.slice/" + unit, {}};
  }
  if (groups.size() > 1) {
    return Error{EINVAL, fmt::format("{}: {} units are called that: {}; choose one of them with --cgroup=",
                                     option_of(target), groups.size(), join(groups))};
  }
  return groups.empty() ? Found{std::nullopt, printable(near.suggestion())} : Found{groups.front(), {}};
}

/// How well a container fits the name that the user gave.
enum class Fit : std::uint8_t { no, beginning_of_id, exact };

Fit fit_of_id(std::string_view id, std::string_view name) {
  constexpr std::size_t shortest = 3;
  if (id == name) {
    return Fit::exact;
  }
  const bool begins = name.size() >= shortest && id.substr(0, name.size()) == name &&
                      name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return begins ? Fit::beginning_of_id : Fit::no;
}

class ContainerSearch {
 public:
  ContainerSearch(std::string_view name, const Places& places) : name_(name), near_(name) {
    note_containers(places);
    look_for_groups(places);
  }

  /// By id, the groups of those that fit best and run.
  [[nodiscard]] std::map<std::string, std::string> running() const {
    std::map<std::string, std::string> groups;
    for (const Fit fit : {Fit::exact, Fit::beginning_of_id}) {
      for (const Running& one : running_) {
        if (one.fit == fit) {
          groups.emplace(one.id, one.group);
        }
      }
      if (!groups.empty()) {
        break;
      }
    }
    return groups;
  }
  /// Whether a container is known by the name, though it may not be running.
  [[nodiscard]] bool known() const { return !noted_.empty() || !running_.empty(); }
  [[nodiscard]] std::string suggestion() const { return near_.suggestion(); }

 private:
  struct Noted {
    std::string id;
    Fit fit = Fit::no;
    std::string group;
    std::string slice;  ///< below which it must be; empty: anywhere
  };
  struct Running {
    std::string id;
    Fit fit = Fit::no;
    std::string group;
  };

  void note_containers(const Places& places) {
    constexpr unsigned most_of_owner = 64;  // each group is compared with them
    std::map<std::string, unsigned> counts;
    for (const Container& container : noted_containers(places.root)) {
      Fit fit = fit_of_id(container.id, name_);
      for (const std::string& name : container.names) {
        fit = name == name_ ? Fit::exact : fit;
        near_.consider(name);
      }
      near_.consider(container.id);
      if (fit != Fit::no && counts[container.slice]++ < most_of_owner) {
        noted_.push_back({container.id, fit, container.group, container.slice});
      }
    }
  }

  void look_for_groups(const Places& places) {
    for_each_group(places.mount, [this](const std::string& path, std::string_view name) {
      const std::string_view id = id_in_group_name(name);
      for (auto one = noted_.begin(); one != noted_.end();) {
        const bool may_be_there = one->slice.empty() || path.find('/' + one->slice + '/') != std::string::npos;
        // A runtime without systemd calls the group as the container, and notes its path later than it makes it.
        if (may_be_there && (path == one->group || id == one->id || name == one->id)) {
          running_.push_back({std::move(one->id), one->fit, path});
          one = noted_.erase(one);
        } else {
          ++one;
        }
      }
      if (!id.empty()) {
        near_.consider(id);
      }
      if (const Fit fit = fit_of_id(id, name_); fit != Fit::no) {
        running_.push_back({std::string(id), fit, path});
      }
      return true;
    });
  }

  std::string name_;
  NearMiss near_;
  std::vector<Noted> noted_;      ///< as each file says; those whose groups were not found
  std::vector<Running> running_;  ///< as files and groups say
};

Result<Found> find_container(const Target& target, const Places& places) {
  constexpr std::size_t enough_of_id = 12;  // what runtimes show
  const ContainerSearch search(target.name, places);
  const auto running = search.running();
  if (running.size() > 1) {
    std::vector<std::string> ids;
    ids.reserve(running.size());
    for (const auto& [id, group] : running) {
      ids.push_back(id.substr(0, enough_of_id));
    }
    return Error{EINVAL, fmt::format("{}: {} containers are called that; choose one by its id: {}", option_of(target),
                                     ids.size(), join(ids))};
  }
  if (!running.empty()) {
    return Found{running.begin()->second, {}};
  }
  return Found{std::nullopt, search.known() ? std::string{} : printable(search.suggestion())};
}

}  // namespace

std::string option_of(const Target& target) {
  const std::string_view option = target.kind == TargetKind::path   ? "--cgroup="
                                  : target.kind == TargetKind::unit ? "--unit="
                                                                    : "--container=";
  return std::string(option) + printable(target.name);
}

Result<Found> find(const Target& target, const Places& places) {
  return target.kind == TargetKind::unit ? find_unit(target, places) : find_container(target, places);
}

Status check(const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (target.kind == TargetKind::path) {
      if (const auto opened = open_group(target.name); !opened) {
        return opened.error();
      }
      continue;
    }
    const Places places{mount_point(), {}};
    if (places.mount.empty()) {
      return Error{ENOENT, option_of(target) + ": control groups of version 2 are not mounted on this machine"};
    }
    if (const auto found = find(target, places); !found) {
      return found.error();
    }
  }
  return Done{};
}

}  // namespace tracer::proc::cgroups
