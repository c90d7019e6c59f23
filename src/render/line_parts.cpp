#include "render/line_parts.h"

#include <sys/wait.h>

#include <algorithm>

#include "spec/signal_names.h"

namespace tracer::render {

namespace {

constexpr std::uint64_t second_in_ns = 1'000'000'000;
constexpr std::string_view hex_digits = "0123456789abcdef";

void append_right(TextBuffer& text, std::uint64_t value, unsigned width) {
  unsigned digits = 1;
  for (std::uint64_t rest = value / 10; rest != 0; rest /= 10) {
    ++digits;
  }
  if (digits < width) {
    text.append(width - digits, ' ');
  }
  text.decimal(value);
}

void append_hex_digits(TextBuffer& text, std::uint64_t value, unsigned digits) {
  for (unsigned shift = digits * 4; shift > 0; shift -= 4) {
    text.append(hex_digits[(value >> (shift - 4)) & 0xf]);
  }
}

void append_command(TextBuffer& text, std::string_view command) {
  if (!command.empty()) {
    text.append('<');
    text.append(command);
    text.append('>');
  }
}

/// Appends `.123456`, truncated to `digits`; nothing if `digits` is 0.
void append_fraction(TextBuffer& text, std::uint64_t nanoseconds, unsigned digits) {
  if (digits == 0) {
    return;
  }
  for (unsigned cut = digits; cut < 9; ++cut) {
    nanoseconds /= 10;
  }
  text.append('.');
  text.decimal_padded(nanoseconds, digits);
}

}  // namespace

void append_seconds(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits, unsigned width) {
  const auto total = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  append_right(text, total / second_in_ns, width);
  append_fraction(text, total % second_in_ns, digits);
}

void LinePrefix::write(TextBuffer& text, const PrefixFacts& facts) {
  if (facts.pid == PidForm::bracketed) {
    text.append("[pid ");
    append_right(text, static_cast<std::uint64_t>(facts.tid), 5);
    append_command(text, facts.command);
    text.append("] ");
  } else if (facts.pid == PidForm::column) {
    write_column(text, facts.tid, facts.command);
  }
  if (!facts.security_context.empty()) {
    text.append('[');
    text.append(facts.security_context);
    text.append("] ");
  }
  write_times(text, facts.realtime, facts.monotonic);
  if (options_.syscall_number) {
    text.append('[');
    append_right(text, facts.number, 4);
    text.append("] ");
  }
  if (options_.instruction_pointer) {
    text.append('[');
    if (facts.instruction_pointer) {
      append_hex_digits(text, *facts.instruction_pointer, facts.word_size * 2);
    } else {
      text.append(facts.word_size * std::size_t{2}, '?');
    }
    text.append("] ");
  }
}

void LinePrefix::write_column(TextBuffer& text, std::int32_t tid, std::string_view command) {
  if (!command.empty() || tid != tid_in_column_) {
    column_.clear();
    column_.decimal(static_cast<std::uint64_t>(tid));
    append_command(column_, command);
    column_.append(column_.size() < 5 ? 6 - column_.size() : 1, ' ');
    tid_in_column_ = command.empty() ? tid : 0;
  }
  text.append(column_.view());
}

void LinePrefix::write_times(TextBuffer& text, std::chrono::nanoseconds realtime, std::chrono::nanoseconds monotonic) {
  if (options_.clock != Clock::none) {
    write_clock(text, realtime);
  }
  if (options_.since_digits) {
    write_since(text, monotonic);
  }
}

void LinePrefix::write_clock(TextBuffer& text, std::chrono::nanoseconds realtime) {
  if (options_.clock == Clock::unix_time) {
    append_seconds(text, realtime, options_.clock_digits);
    text.append(' ');
    return;
  }
  const auto second = static_cast<std::time_t>(static_cast<std::uint64_t>(realtime.count()) / second_in_ns);
  if (second != second_) {
    second_ = second;
    ::localtime_r(&second, &local_);
  }
  text.decimal_padded(static_cast<std::uint64_t>(local_.tm_hour), 2);
  text.append(':');
  text.decimal_padded(static_cast<std::uint64_t>(local_.tm_min), 2);
  text.append(':');
  text.decimal_padded(static_cast<std::uint64_t>(local_.tm_sec), 2);
  append_fraction(text, static_cast<std::uint64_t>(realtime.count()) % second_in_ns, options_.clock_digits);
  text.append(' ');
}

void LinePrefix::write_since(TextBuffer& text, std::chrono::nanoseconds monotonic) {
  const auto since = previous_ ? monotonic - *previous_ : std::chrono::nanoseconds(0);
  previous_ = monotonic;
  const bool bracketed = options_.clock != Clock::none;
  if (bracketed) {
    text.append("(+");
  }
  append_seconds(text, since, *options_.since_digits, options_.since_width);
  text.append(bracketed ? ") " : " ");
}

void append_duration(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits) {
  text.append(" <");
  append_seconds(text, time, digits);
  text.append('>');
}

void append_tampered(TextBuffer& text, bool arguments, bool result, bool delayed) {
  if (arguments || result) {
    text.append(!arguments ? " (INJECTED)" : result ? " (INJECTED: args, retval)" : " (INJECTED: args)");
  }
  if (delayed) {
    text.append(" (DELAYED)");
  }
}

std::string_view mode_name(Abi abi) {
  if (abi == Abi::x32) {
    return "x32";
  }
  return word_size(abi) == 8 ? "64 bit" : "32 bit";
}

void append_signal(TextBuffer& text, int signal) {
  const std::string_view name = spec::signal_name(static_cast<std::uint64_t>(signal));
  if (name.empty()) {
    text.decimal(std::int64_t{signal});
  } else {
    text.append(name);
  }
}

void append_exit(TextBuffer& text, int status) {
  if (WIFSIGNALED(status)) {
    text.append("+++ killed by ");
    append_signal(text, WTERMSIG(status));
    text.append(WCOREDUMP(status) ? " (core dumped) +++" : " +++");
  } else {
    text.append("+++ exited with ");
    text.decimal(std::int64_t{WEXITSTATUS(status)});
    text.append(" +++");
  }
}

void append_dump(TextBuffer& text, std::string_view bytes, std::size_t offset) {
  constexpr std::size_t row = 16;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, row);
    bytes.remove_prefix(part.size());
    text.append(" | ");
    append_hex_digits(text, offset, offset > 0xfffff ? 8 : 5);
    for (std::size_t i = 0; i < row; ++i) {
      text.append(i % 8 == 0 ? 2 : 1, ' ');
      if (i < part.size()) {
        append_hex_digits(text, static_cast<unsigned char>(part[i]), 2);
      } else {
        text.append("  ");
      }
    }
    text.append("  ");
    for (std::size_t i = 0; i < row; ++i) {
      const char c = i < part.size() ? part[i] : ' ';
      text.append(c >= ' ' && c <= '~' ? c : '.');
    }
    text.append(" |\n");
    offset += row;
  }
}

}  // namespace tracer::render
