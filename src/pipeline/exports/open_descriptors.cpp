#include "pipeline/exports/open_descriptors.h"

#include <cstdlib>
#include <utility>

namespace tracer::pipeline::exports {

namespace {

constexpr std::size_t most_inherited = 10'000;  // children that are not followed never appear

/// Whether an argument has a flag such as O_CLOEXEC.
bool closes_on_exec(const json_t* arguments) {
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* value = json_object_get(json_array_get(arguments, i), "value");
    const json_t* flags = json_object_get(bare(value), "flags");  // openat2's
    for (const json_t* each : {value, flags}) {
      if (text_of(json_object_get(json_array_get(arguments, i), "type")) != "path" &&
          text_of(each).find("_CLOEXEC") != std::string_view::npos) {
        return true;
      }
    }
  }
  return false;
}

std::int64_t raw_argument(const json_t* arguments, std::size_t index) {
  const json_t* raw = json_object_get(json_array_get(arguments, index), "raw");
  const std::int64_t value =
      json_is_integer(raw) ? json_integer_value(raw)
                           : static_cast<std::int64_t>(std::strtoull(std::string(text_of(raw)).c_str(), nullptr, 10));
  return static_cast<std::int32_t>(value);
}

}  // namespace

void OpenDescriptors::open(Held& held, std::int64_t descriptor, bool until_exec) {
  held.all.insert(descriptor);
  if (until_exec) {
    held.until_exec.insert(descriptor);
  } else {
    held.until_exec.erase(descriptor);
  }
}

bool OpenDescriptors::follow(const Call& call) {
  if (call.is_function || call.end != Call::End::returned) {
    return false;
  }
  const json_t* arguments = call.arguments();
  Held& held = held_[call.thread->process->id];
  const std::size_t before = held.all.size();
  if (call.name == "close") {  // the descriptor is free even if the call failed, but for EBADF
    held.all.erase(raw_argument(arguments, 0));
    held.until_exec.erase(raw_argument(arguments, 0));
  } else if (call.failed) {
    return false;
  } else if (call.name == "close_range") {
    const auto first = static_cast<std::uint32_t>(raw_argument(arguments, 0));
    const auto last = static_cast<std::uint32_t>(raw_argument(arguments, 1));
    for (auto each = held.all.lower_bound(first); each != held.all.end() && *each <= last;) {
      if (closes_on_exec(arguments)) {
        held.until_exec.insert(*each++);
      } else {
        held.until_exec.erase(*each);
        each = held.all.erase(each);
      }
    }
  } else if (call.name == "pipe" || call.name == "pipe2" || call.name == "socketpair") {
    const json_t* last = nullptr;
    for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
      const json_t* value = bare(json_object_get(json_array_get(arguments, i), "value"));
      last = json_is_array(value) ? value : last;
    }
    for (std::size_t i = 0; i < json_array_size(last); ++i) {
      if (const json_t* end = bare(json_array_get(last, i)); json_is_integer(end)) {
        open(held, json_integer_value(end), closes_on_exec(arguments));
      }
    }
  } else if (call.name == "fcntl" &&
             text_of(argument(arguments, "cmd") != nullptr ? json_object_get(argument(arguments, "cmd"), "value")
                                                           : nullptr) == "F_SETFD") {
    if (held.all.count(raw_argument(arguments, 0)) != 0) {
      open(held, raw_argument(arguments, 0), closes_on_exec(arguments));
    }
  } else if (call.result_is_descriptor) {
    open(held, call.result, closes_on_exec(arguments));
  }
  return held.all.size() != before;
}

void OpenDescriptors::forks(const Process& parent, pid_t child) {
  if (inherited_.size() < most_inherited) {
    inherited_[child] = held_[parent.id];
  }
}

void OpenDescriptors::process_appears(const Process& process) {
  Held& held = held_[process.id];
  if (auto inherited = inherited_.extract(process.pid); !inherited.empty()) {
    held = std::move(inherited.mapped());
  }
}

bool OpenDescriptors::executes(const Process& process) {
  Held& held = held_[process.id];
  for (const std::int64_t each : held.until_exec) {
    held.all.erase(each);
  }
  return !std::exchange(held.until_exec, {}).empty();
}

void OpenDescriptors::process_goes(const Process& process) {
  held_.erase(process.id);
}

std::size_t OpenDescriptors::count(const Process& process) const {
  const auto held = held_.find(process.id);
  return held == held_.end() ? 0 : held->second.all.size();
}

}  // namespace tracer::pipeline::exports
