// Parses options whose value is a set; they are qualifiers of -e as well.
#include <array>
#include <cerrno>

#include "cli/draft.h"
#include "cli/injection.h"
#include "cli/values.h"

namespace tracer::cli {
namespace {

using filter::ChoiceName;
using filter::Quiet;

constexpr std::array<ChoiceName<filter::CallStatus>, 5> status_names = {{
    {"successful", filter::CallStatus::successful},
    {"failed", filter::CallStatus::failed},
    {"unfinished", filter::CallStatus::unfinished},
    {"unavailable", filter::CallStatus::unavailable},
    {"detached", filter::CallStatus::detached},
}};

constexpr std::array<ChoiceName<Quiet>, 7> quiet_names = {{
    {"attach", Quiet::attach},
    {"exit", Quiet::exit},
    {"exits", Quiet::exit},
    {"path-resolution", Quiet::path_resolution},
    {"personality", Quiet::personality},
    {"thread-execve", Quiet::thread_execve},
    {"superseded", Quiet::thread_execve},
}};

constexpr std::array<ChoiceName<FdDetail>, 6> fd_detail_names = {{
    {"path", FdDetail::path},
    {"socket", FdDetail::socket},
    {"dev", FdDetail::dev},
    {"pidfd", FdDetail::pidfd},
    {"eventfd", FdDetail::eventfd},
    {"signalfd", FdDetail::signalfd},
}};

constexpr std::array<ChoiceName<PidDetail>, 2> pid_detail_names = {{
    {"comm", PidDetail::comm},
    {"pidns", PidDetail::pidns},
}};

// `shown` has no name on the command line; with it `!full,mismatch` is not the empty set.
enum class ContextDetail : std::uint8_t { full, mismatch, shown };
constexpr std::array<ChoiceName<ContextDetail>, 3> context_names = {{
    {"full", ContextDetail::full},
    {"mismatch", ContextDetail::mismatch},
    {",", ContextDetail::shown},
}};

Failure failure_of(const Error& error) {
  return Failure{error.message, error.number == EINVAL};
}

template <typename T>
Applied store(Result<T> result, T& into) {
  if (!result) {
    return failure_of(result.error());
  }
  into = std::move(result).value();
  return std::nullopt;
}

Applied store_trace_set(Draft& draft, std::string_view value) {
  auto failure = store(filter::parse_syscall_set(value, draft.names), draft.options.filters.trace);
  if (!failure) {
    draft.options.filters.trace.add_unknown(draft.names.tables);
  }
  return failure;
}

Applied store_injection(Draft& draft, std::string_view value, Tampering kind) {
  std::vector<std::string> warnings;
  auto injection = parse_injection(value, kind, draft.names, warnings);
  for (const std::string& warning : warnings) {
    draft.warn(warning);
  }
  if (!injection) {
    return failure_of(injection.error());
  }
  draft.options.injections.push_back(std::move(injection).value());
  return std::nullopt;
}

Applied store_kvm(Format& format, std::string_view value) {
  if (value == "vcpu" || value == "vcpu+") {
    format.kvm = value == "vcpu" ? Kvm::vcpu : Kvm::vcpu_all;
    return std::nullopt;
  }
  return Failure{"invalid -e kvm= argument: '" + std::string(value) + "'"};
}

Applied store_secontext(Format& format, std::string_view value) {
  const auto set = filter::parse_choice_set<ContextDetail>(value, "secontext", context_names);
  if (!set) {
    return failure_of(set.error());
  }
  format.secontext = {!set.value().empty(), set.value().has(ContextDetail::full),
                      set.value().has(ContextDetail::mismatch)};
  return std::nullopt;
}

Applied store_rule(std::string_view value, std::string_view qualifier, std::vector<std::string>& rules) {
  if (value.empty()) {
    return Failure{"invalid " + std::string(qualifier) + " ''"};
  }
  rules.emplace_back(value);
  return std::nullopt;
}

}  // namespace

Applied with_remedy(Applied applied, const OptionRow& row) {
  if (applied) {
    applied->remedy = what_it_takes(row);
  }
  return applied;
}

Applied apply_qualifier(Draft& draft, OptionId id, std::string_view value) {
  Filters& filters = draft.options.filters;
  Format& format = draft.options.format;
  switch (id) {
    case OptionId::trace:
      return store_trace_set(draft, value);
    case OptionId::abbrev:
      return store(filter::parse_syscall_set(value, draft.names), format.abbrev);
    case OptionId::verbose:
      return store(filter::parse_syscall_set(value, draft.names), format.verbose);
    case OptionId::raw:
      return store(filter::parse_syscall_set(value, draft.names), format.raw);
    case OptionId::read:
      return store(filter::parse_descriptor_set(value), format.dump_reads);
    case OptionId::write:
      return store(filter::parse_descriptor_set(value), format.dump_writes);
    case OptionId::trace_fds:
      filters.trace_fds.emplace();
      return store(filter::parse_descriptor_set(value), *filters.trace_fds);
    case OptionId::signals:
      return store(filter::parse_signal_set(value), filters.signals);
    case OptionId::status:
      return store(filter::parse_choice_set<filter::CallStatus>(value, "status", status_names), filters.end.status);
    case OptionId::quiet:
      draft.long_quiet = true;
      return store(filter::parse_choice_set<Quiet>(value, "quiet", quiet_names), format.quiet);
    case OptionId::decode_fds:
      draft.long_decode_fds = true;
      return store(filter::parse_choice_set<FdDetail>(value, "decode-fds", fd_detail_names), format.fd_details);
    case OptionId::decode_pids:
      return store(filter::parse_choice_set<PidDetail>(value, "decode-pids", pid_detail_names), format.pid_details);
    case OptionId::kvm:
      return store_kvm(format, value);
    case OptionId::namespace_:
      format.namespaces = value == "new";
      return format.namespaces ? Applied{} : Failure{"invalid -e namespace= argument: '" + std::string(value) + "'"};
    case OptionId::secontext:
      return store_secontext(format, value);
    case OptionId::inject:
      return store_injection(draft, value, Tampering::inject);
    case OptionId::fault:
      return store_injection(draft, value, Tampering::fault);
    case OptionId::library:
      return store_rule(value, "library", draft.options.extras.libraries);
    case OptionId::symbol:
      return store_rule(value, "symbol", draft.options.extras.symbols);
    case OptionId::usdt:
      return store_rule(value, "usdt", draft.options.extras.probes);
    default:
      require(false, "an option that is a qualifier of -e");
      return std::nullopt;
  }
}

Applied apply_expression(Draft& draft, std::string_view text) {
  if (const auto equals = text.find('='); equals != std::string_view::npos) {
    if (const OptionRow* row = find_qualifier(text.substr(0, equals))) {
      return with_remedy(apply_qualifier(draft, row->id, text.substr(equals + 1)), *row);
    }
  }
  return apply_qualifier(draft, OptionId::trace, text);
}

}  // namespace tracer::cli
