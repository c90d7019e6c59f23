#include "pipeline/exports/history.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <array>
#include <utility>

#include "spec/signal_names.h"

namespace tracer::pipeline::exports {

void History::process_appears(const Process& process) {
  if (nodes_.size() == most_processes) {
    ++left_out_;
    return;
  }
  const std::size_t index = nodes_.size();
  nodes_.push_back({process, {}, 0});
  indexes_[process.id] = index;
  const auto parent = indexes_.find(process.parent);
  (parent == indexes_.end() ? roots_ : nodes_[parent->second].children).push_back(index);
}

History::Node* History::find(const Process& process) {
  const auto at = indexes_.find(process.id);
  return at == indexes_.end() ? nullptr : &nodes_[at->second];
}

void History::thread_appears(const Thread& thread) {
  if (Node* node = find(*thread.process); node != nullptr) {
    ++node->threads;
  }
}

void History::executes(const Thread& thread) {
  process_goes(*thread.process);
}

void History::process_goes(const Process& process) {
  if (Node* node = find(process); node != nullptr) {
    node->process = process;
  }
}

std::string ending(const Process& process) {
  if (!process.status) {
    return process.detached ? "detached" : process.end ? "end unknown" : "still running";
  }
  if (!WIFSIGNALED(*process.status)) {
    return fmt::format("exit {}", WEXITSTATUS(*process.status));
  }
  return "killed by " + std::string(spec::signal_name(static_cast<std::uint64_t>(WTERMSIG(*process.status)))) +
         (WCOREDUMP(*process.status) ? " (core dumped)" : "");
}

std::string duration_text(Time time) {
  constexpr std::array<std::pair<double, const char*>, 3> units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  const auto nanoseconds = static_cast<double>(time.count());
  for (const auto& [size, name] : units) {
    if (nanoseconds >= size) {
      return nanoseconds / size < 10    ? fmt::format("{:.2f} {}", nanoseconds / size, name)
             : nanoseconds / size < 100 ? fmt::format("{:.1f} {}", nanoseconds / size, name)
                                        : fmt::format("{:.0f} {}", nanoseconds / size, name);
    }
  }
  return fmt::format("{} ns", time.count());
}

}  // namespace tracer::pipeline::exports
