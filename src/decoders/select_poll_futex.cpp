// Arguments and results of select(2) and poll(2), and the operation of FUTEX_WAKE_OP.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "decoders/time_left.h"

namespace tracer::decoders {
namespace {

using spec::Style;

constexpr std::size_t max_set_bytes = 1024 * 1024 / 8;  // NR_OPEN: no process has more descriptors
constexpr std::size_t small_set_bytes = 1024 / 8;

/// A set of file descriptors that select(2) takes and returns.
class FdSet {
 public:
  /// Reads the descriptors below `nfds`; returns false if the memory is unreadable.
  bool read(const CustomContext& context, RemoteAddr address, std::int64_t nfds) {
    nfds_ = static_cast<std::size_t>(std::clamp<std::int64_t>(nfds, 0, 8 * max_set_bytes));
    const std::size_t word = word_size(context.entry().abi);
    const std::size_t size = ((nfds_ + 7) / 8 + word - 1) / word * word;
    if (size > small_.size()) {
      large_.resize(size);
      bytes_ = large_;
    } else {
      bytes_ = std::span(small_).first(size);
    }
    return context.memory().read(address, bytes_) == size;
  }

  /// Calls `function` with each descriptor until it returns false.
  template <typename Function>
  void for_each(Function function) const {
    for (std::size_t fd = 0; fd < nfds_; ++fd) {
      if (bit_of(bytes_, fd) != 0 && !function(fd)) {
        break;
      }
    }
  }

  [[nodiscard]] bool empty() const {
    bool any = false;
    for_each([&](std::size_t) {
      any = true;
      return false;
    });
    return !any;
  }

  /// Emits at most `left` descriptors and subtracts their number from it. `style` decides whether they show with their
  /// names.
  void emit(CustomContext& context, Style style, std::uint64_t& left) const {
    auto& out = context.out();
    out.begin_list();
    for_each([&](std::size_t fd) {
      if (left == 0) {
        return false;
      }
      --left;
      if (!context.spend()) {
        out.more();
        return false;
      }
      out.begin_element();
      context.number(fd, style, 4, true);
      return true;
    });
    out.end_array();
  }

 private:
  std::array<std::byte, small_set_bytes> small_{};
  std::vector<std::byte> large_;
  std::span<std::byte> bytes_;
  std::size_t nfds_ = 0;
};

}  // namespace

bool fd_set(decode::CustomContext& context) {
  FdSet set;
  if (!set.read(context, context.address(), static_cast<std::int32_t>(context.argument("nfds").value_or(0)))) {
    return false;
  }
  auto all = std::numeric_limits<std::uint64_t>::max();
  set.emit(context, Style::fd, all);
  return true;
}

bool select_result(decode::CustomContext& context) {
  const auto* outcome = context.outcome();
  if (outcome == nullptr || outcome->is_error) {
    return true;
  }
  auto& out = context.out();
  if (outcome->value == 0) {
    out.symbol("Timeout");
    return true;
  }
  out.begin_parts();
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> sets = {
      {{"readfds", "in"}, {"writefds", "out"}, {"exceptfds", "except"}}};
  const auto nfds = static_cast<std::int32_t>(context.argument("nfds").value_or(0));
  auto ready = static_cast<std::uint64_t>(outcome->value);
  for (const auto& [parameter, word] : sets) {
    FdSet set;
    const auto address = context.argument(parameter).value_or(0);
    if (ready != 0 && address != 0 && set.read(context, RemoteAddr(address), nfds) && !set.empty()) {
      out.begin_part(word);
      set.emit(context, Style::number, ready);
    }
  }
  if (const auto timeout = context.argument("timeout").value_or(0); timeout != 0) {
    out.begin_part("left");
    const bool is_pselect = context.call_name().front() == 'p';
    emit_time_left(context, timeout, is_pselect ? "tv_nsec" : "tv_usec");
  }
  out.end_parts();
  return true;
}

bool poll_result(decode::CustomContext& context) {
  const auto* outcome = context.outcome();
  if (outcome == nullptr || outcome->is_error) {
    return true;
  }
  auto& out = context.out();
  const auto timeout = context.argument("tmo_p").value_or(0);
  if (outcome->value == 0) {
    out.symbol("Timeout");
    return true;
  }
  const auto address = context.argument("fds").value_or(0);
  const auto count = static_cast<std::uint32_t>(context.argument("nfds").value_or(0));
  if (address == 0 || !context.depth().dereference) {
    return true;
  }
  constexpr std::size_t entry_size = 8;
  std::array<std::byte, entry_size> raw{};
  const std::uint64_t limit = context.depth().abbreviate ? context.options().string_limit : max_set_bytes;
  std::uint64_t shown = 0;
  out.begin_parts();
  bool any = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const RemoteAddr here = RemoteAddr(address) + i * entry_size;
    const bool readable = context.memory().read(here, raw) == raw.size();
    const auto revents = number_at(raw, 6, 2);
    if (readable && revents == 0) {
      continue;
    }
    if (!std::exchange(any, true)) {
      out.begin_part({});
      out.begin_array();
    }
    if (!readable) {
      out.begin_element();
      out.address(here);
      break;
    }
    if (shown++ >= limit || !context.spend()) {
      out.more();
      break;
    }
    out.begin_element();
    out.begin_struct();
    out.begin_field("fd", "fd");
    context.number(format::cut(number_at(raw, 0, 4), 4, true), Style::number, 4, true);
    out.begin_field("revents", "poll_events");
    context.constant("poll_events", revents, 2);
    out.end_struct();
  }
  if (any) {
    out.end_array();
  }
  if (timeout != 0) {
    out.begin_part("left");
    emit_time_left(context, timeout, "tv_nsec");
  }
  out.end_parts();
  return true;
}

bool futex_wake_op(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 5> operations = {"SET", "ADD", "OR", "ANDN", "XOR"};
  static constexpr std::array<std::string_view, 6> comparisons = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto word = context.value();
  const auto operation = (word >> 28) & 7;
  const auto comparison = (word >> 24) & 0xf;
  TextBuffer text;
  // Like strace, -X raw formats every number as an unknown one.
  const auto part = [&](std::uint64_t bits, std::span<const std::string_view> names, std::string_view prefix,
                        std::string_view shift) {
    const auto form = context.out().constant_form();
    TextBuffer name;
    if (bits < names.size()) {
      name.append(prefix);
      name.append(names[bits]);
    }
    if (name.view().empty() || form == format::ConstantForm::raw) {
      text.hex(bits);
      text.append(shift);
      text.append(" /* ");
      text.append(prefix);
      text.append("??? */");
    } else {
      append_named(text, bits, name.view(), {}, form);
      text.append(shift);
    }
  };
  if ((word >> 31 & 1) != 0) {
    append_named(text, 8, "FUTEX_OP_OPARG_SHIFT", {}, context.out().constant_form());
    text.append("<<28|");
  }
  part(operation, operations, "FUTEX_OP_", "<<28");
  text.append('|');
  text.hex((word >> 12) & 0xfff);
  text.append("<<12|");
  part(comparison, comparisons, "FUTEX_OP_CMP_", "<<24");
  text.append('|');
  text.hex(word & 0xfff);
  context.out().symbol(text.view());
  return true;
}

}  // namespace tracer::decoders
