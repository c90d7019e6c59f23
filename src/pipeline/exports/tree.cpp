#include "pipeline/exports/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "pipeline/exports/shell_words.h"

namespace tracer::pipeline::exports {

namespace {

std::string title(const Process& process) {
  return fmt::format("{}({})", process.command.empty() ? "?" : process.command, process.pid);
}

std::string facts(const History::Node& node) {
  std::string text = ending(node.process);
  if (node.process.end) {
    text += ", " + duration_text(*node.process.end - node.process.start);
  }
  if (node.threads > 1) {
    text += fmt::format(", {} threads", node.threads);
  }
  return text;
}

/// The command line, or the program if its arguments are unknown.
std::string command_line(const Exec& exec) {
  std::string line = exec.arguments.empty() ? shell_word(exec.path) : shell_words(exec.arguments);
  return exec.arguments_left_out != 0 ? fmt::format("{}  # {} more words", line, exec.arguments_left_out)
         : exec.cut                   ? line + "  # cut by -s"
                                      : line;
}

std::string environment_line(const Exec& exec) {
  std::string line;
  for (const std::string& change : exec.environment_changes) {
    line += line.empty() ? "" : " ";
    const std::size_t equals = std::min(change.find('='), change.size() - 1) + 1;
    line += printable(std::string_view(change).substr(0, equals));
    line += equals == change.size() ? "" : shell_word(std::string_view(change).substr(equals));
  }
  return exec.changes_left_out == 0 ? line : fmt::format("{} ({} more)", line, exec.changes_left_out);
}

/// A string of graphviz's language; each backslash and quotation mark is escaped.
std::string dot_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return result;
}

/// Cuts a line for a box, not within a character.
std::string box_line(std::string_view line) {
  constexpr std::size_t most = 60;
  std::size_t length = 0;
  while (length < line.size() && length < most) {
    length += std::max<std::size_t>(printable_length(line.substr(length)), 1);
  }
  return dot_text(line.substr(0, length)) + (length < line.size() ? "…" : "");
}

}  // namespace

void Tree::write_node(const History::Node& node, const std::string& first, const std::string& next) const {
  write(first + title(node.process) + "  " + facts(node) + '\n');
  const std::string below = next + (node.children.empty() ? "    " : "│   ");
  for (const Exec& exec : node.process.execs) {
    if (!exec.path.empty()) {
      write(below + "$ " + command_line(exec) + '\n');
    }
    if (!exec.environment_changes.empty()) {
      write(below + "  env " + environment_line(exec) + '\n');
    }
    if (&exec == &node.process.execs.front() && node.process.execs_left_out != 0) {
      write(below + fmt::format("({} more programs)\n", node.process.execs_left_out));
    }
  }
}

void Tree::finish() {
  struct Step {
    std::size_t node;
    std::string first;
    std::string next;
  };
  constexpr std::size_t deepest = 400;  // bytes of indentation: a chain of forks must not take its square in output
  std::vector<Step> open;
  const auto add = [&open](const std::vector<std::size_t>& nodes, const std::string& indent, bool nested) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const bool last = i + 1 == nodes.size();
      const bool deeper = nested && indent.size() < deepest;
      open.push_back(
          {nodes[i], nested ? indent + (last ? "└─" : "├─") : "", deeper ? indent + (last ? "  " : "│ ") : indent});
    }
  };
  add(history().roots(), "", false);
  while (!open.empty()) {
    const Step step = std::move(open.back());
    open.pop_back();
    const History::Node& node = history().nodes()[step.node];
    write_node(node, step.first, step.next);
    add(node.children, step.next, true);
  }
  if (history().left_out() != 0) {
    write(fmt::format("({} more processes)\n", history().left_out()));
  }
  if (lost_events() != 0) {
    write(fmt::format("({} events were lost; processes may be missing)\n", lost_events()));
  }
}

void Dot::finish() {
  write("digraph processes {\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (const History::Node& node : history().nodes()) {
    std::string label = box_line(title(node.process));
    for (const Exec& exec : node.process.execs) {
      if (!exec.path.empty()) {
        label += "\\n" + box_line(command_line(exec));
      }
      if (!exec.environment_changes.empty()) {
        label += "\\nenv " + box_line(environment_line(exec));
      }
    }
    label += "\\n" + box_line(facts(node));
    const bool good = node.process.status == 0;
    write(fmt::format("  p{} [label=\"{}\"{}];\n", node.process.id, label,
                      good || !node.process.status ? "" : ", color=red"));
    for (const std::size_t child : node.children) {
      write(fmt::format("  p{} -> p{};\n", node.process.id, history().nodes()[child].process.id));
    }
  }
  write("}\n");
}

}  // namespace tracer::pipeline::exports
