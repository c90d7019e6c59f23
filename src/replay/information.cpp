#include "replay/information.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <variant>

#include "base/printable.h"
#include "replay/event_reader.h"

namespace tracer::replay {
namespace {

using std::chrono::nanoseconds;

std::string text_of(nanoseconds since_epoch) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t time = seconds.count();
  std::tm parts{};
  ::localtime_r(&time, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:06}", std::string_view(text, size),
                     std::chrono::duration_cast<std::chrono::microseconds>(since_epoch - seconds).count());
}

std::string seconds_of(nanoseconds duration) {
  return fmt::format("{:.3f} s", std::chrono::duration<double>(duration).count());
}

/// A word of a command line, as a shell would need it. A recording is not to change the terminal.
std::string in_quotes(std::string_view bytes) {
  std::string word = printable(bytes);
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + '\'';
}

class Report {
 public:
  void line(std::string_view name, std::string_view value) { text_ += fmt::format("{:<12}{}\n", name, value); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct Counts {
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t functions = 0;
  std::uint64_t signals = 0;
  std::uint64_t lost = 0;
  nanoseconds first{};
  nanoseconds last{};
  static constexpr std::size_t most_processes = std::size_t{1} << 20U;
  std::map<pid_t, std::string> processes;  ///< and their last command
  bool more_processes = false;             ///< than are counted

  void add(const EventReader& reader) {
    const trace::Event& event = reader.event();
    ++events;
    calls += std::holds_alternative<trace::SyscallEnter>(event.what) ? 1 : 0;
    functions += std::holds_alternative<trace::LibraryEnter>(event.what) ? 1 : 0;
    signals += std::holds_alternative<trace::SignalStop>(event.what) ? 1 : 0;
    auto process = processes.find(event.tgid);
    if (process == processes.end()) {
      if (processes.size() == most_processes) {
        more_processes = true;
        return;
      }
      process = processes.try_emplace(event.tgid).first;
    }
    if (reader.facts().command && event.tid == event.tgid) {
      process->second = *reader.facts().command;
    }
  }
  void add(const Mark& mark) {
    first = blocks++ == 0 ? mark.first : std::min(first, mark.first);
    last = std::max(last, mark.last);
    lost = mark.lost;
  }
};

Counts count(TraceFile& file) {
  Counts counts;
  EventReader reader;
  file.leave_facts_out();
  for (auto block = file.next([](const Mark&) { return true; }); !block.empty();
       block = file.next([](const Mark&) { return true; })) {
    counts.add(file.mark());
    reader.begin(block, file.mark().events_size);
    for (auto found = reader.next(); found == EventReader::Found::event || found == EventReader::Found::lost;
         found = reader.next()) {
      if (found == EventReader::Found::event) {
        counts.add(reader);
      }
    }
  }
  return counts;
}

void add_processes(Report& report, const Counts& counts) {
  constexpr std::size_t most_shown = 20;
  report.line("processes", (counts.more_processes ? "more than " : "") + std::to_string(counts.processes.size()));
  std::size_t shown = 0;
  for (const auto& [pid, command] : counts.processes) {
    if (++shown > most_shown) {
      report.line("", "...");
      break;
    }
    report.line("", fmt::format("{} {}", pid, command.empty() ? "?" : in_quotes(command)));
  }
}

}  // namespace

std::string describe(TraceFile& file) {
  const Head& head = file.head();
  Report report;
  std::string command;
  for (const std::string& word : head.command) {
    command += (command.empty() ? "" : " ") + in_quotes(word);
  }
  report.line("command", command);
  report.line("recorded by", in_quotes(head.tracer));
  report.line("engine", in_quotes(head.engine));
  report.line("machine", in_quotes(head.machine));
  report.line("boot", in_quotes(head.boot_id));
  report.line("ABI", abi_names[index_of(head.native)]);
  report.line("captured", fmt::format("-s {} -v{}{}", head.string_limit, head.names ? " -yy" : "",
                                      head.sources  ? " -kk"
                                      : head.stacks ? " -k"
                                                    : ""));
  for (const auto& [name, text] : head.definitions) {
    report.line("definitions", in_quotes(name));
  }
  report.line("started", text_of(head.started));
  const Counts counts = count(file);
  if (counts.blocks != 0) {
    report.line("first event", text_of(counts.first));
    report.line("last event",
                fmt::format("{} (after {})", text_of(counts.last), seconds_of(counts.last - counts.first)));
  }
  report.line("events", fmt::format("{}: {} system calls, {} function calls, {} signals", counts.events, counts.calls,
                                    counts.functions, counts.signals));
  report.line("lost", std::to_string(counts.lost));
  report.line("blocks", fmt::format("{}, {} bytes", counts.blocks, file.position()));
  add_processes(report, counts);
  if (const std::string missing = file.missing(); !missing.empty()) {
    report.line("missing", missing);
  }
  return report.take();
}

}  // namespace tracer::replay
