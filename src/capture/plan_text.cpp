#include "capture/plan_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "capture/plans.h"

namespace tracer::capture {
namespace {

using namespace spec;

/// Writes operations, one a line, with the names of parameters for the slots that hold them.
class OperationWriter {
 public:
  OperationWriter(const Tables& tables, const Signature* signature, Abi abi) {
    if (signature == nullptr) {
      return;
    }
    for (const Param& param : Tables::slice(tables.params, signature->params)) {
      if (const std::uint8_t slot = param.slot[index_of(abi)]; slot < most_arguments) {
        names_.emplace(slot, tables.text(param.name));
      }
    }
  }

  [[nodiscard]] std::string lines(std::span<const capture_operation> operations, std::size_t indent) const {
    std::string out;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const capture_operation& operation = operations[i];
      out += std::string(indent, ' ') + line(operation) + '\n';
      if (operation.kind == capture_each) {
        out += lines(operations.subspan(i + 1, operation.body), indent + 2);
        i += operation.body;
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::string slot(std::uint8_t slot) const {
    if (const auto name = names_.find(slot); name != names_.end()) {
      return std::string(name->second);
    }
    return slot < most_arguments ? fmt::format("argument {}", slot)
           : slot == slot_result ? "ret"
           : slot == slot_stack  ? "stack pointer"
                                 : fmt::format("${}", slot);
  }

  [[nodiscard]] std::string address(const capture_operation& operation) const {
    return operation.offset == 0 ? slot(operation.base) : fmt::format("{}+{}", slot(operation.base), operation.offset);
  }

  [[nodiscard]] std::string count(const capture_operation& operation) const {
    std::string out = slot(operation.length);
    if (operation.count_width < sizeof(std::uint64_t)) {
      out += fmt::format(":u{}", 8 * operation.count_width);
    }
    return out;
  }

  /// `count * 16 + 4 bytes`
  [[nodiscard]] std::string counted_bytes(const capture_operation& operation) const {
    std::string out = count(operation);
    if (operation.scale != 1) {
      out += fmt::format(" * {}", operation.scale);
    }
    if (operation.more != 0) {
      out += fmt::format(" + {}", operation.more);
    }
    return out + " bytes";
  }

  [[nodiscard]] std::string extent(const capture_operation& operation) const {
    return operation.length == slot_none ? fmt::format("{} bytes", operation.most)
                                         : fmt::format("{}, at most {}", counted_bytes(operation), operation.most);
  }

  [[nodiscard]] std::string elements(const capture_operation& operation) const {
    return operation.length == slot_none ? fmt::format("{} elements of {} bytes", operation.most, operation.element)
                                         : fmt::format("{}, {} each, at most {} elements", counted_bytes(operation),
                                                       operation.element, operation.most);
  }

  static const char* kind_of_name(std::uint8_t kind) {
    return kind == named_descriptor ? "descriptor"
           : kind == named_process  ? "process"
                                    : "descriptor of another process";
  }

  [[nodiscard]] std::string line(const capture_operation& operation) const {
    switch (operation.kind) {
      case capture_block:
        return fmt::format("copy {}: {}", address(operation), extent(operation));
      case capture_text:
        return fmt::format("copy {}: text, at most {} bytes", address(operation), operation.most);
      case capture_load:
        return fmt::format("load {} = u{} at {}", slot(operation.to), 8 * operation.width, address(operation));
      case capture_each:
        return operation.width == 0
                   ? fmt::format("for {} in {}: {}", slot(operation.to), address(operation), elements(operation))
                   : fmt::format("for {} = u{} in {}: {}", slot(operation.to), 8 * operation.width, address(operation),
                                 elements(operation));
      case capture_netlink:
        return fmt::format("name {}: netlink protocol", slot(operation.base));
      case capture_file_kind:
        return fmt::format("name {}: kind of file", slot(operation.base));
      case capture_texts:
        return fmt::format("copy each u{} in {} until 0: text, at most {} bytes", 8 * operation.width,
                           address(operation), operation.most);
      case capture_named: {
        const std::string whose = operation.length == slot_none ? "" : ", " + slot(operation.length);
        return fmt::format("name {}: {}{}", slot(operation.base), kind_of_name(operation.to), whose);
      }
      case capture_there_named:
        return fmt::format("name u32 at {}: {}", address(operation), kind_of_name(operation.to));
      case capture_fd_set:
        return fmt::format("name bits at {}: descriptors below {}", address(operation), count(operation));
      default:
        return fmt::format("name messages at {}: {} bytes", address(operation), count(operation));
    }
  }

  std::map<std::uint8_t, std::string_view> names_;
};

/// What a call or a form of it is called, and the plan of it on some ABIs.
struct Block {
  std::string heading;
  std::string body;
  AbiMask abis = 0;
};

class PlanText {
 public:
  PlanText(const Tables& tables, std::string_view name) : t_(tables), name_(name) {}

  void add(Abi abi, const CapturePlans& plans, const NumberedCall& numbered) {
    abis_ |= mask_of(abi);
    const Call& call = t_.calls[numbered.call];
    const capture_plan& plan = plans.by_slot[index_of(abi) * numbers_per_abi + numbered.number];
    if (call.signature == none) {
      put(std::string(name_), abi, body(plans, plan, nullptr, abi));
      return;
    }
    const Signature& signature = t_.signatures[call.signature];
    put(heading(signature, ""), abi, body(plans, plan, &signature, abi));
    if (plan.chooser == slot_none) {
      return;
    }
    std::vector<Index> seen;
    for (const SignatureRow& row : Tables::slice(t_.signature_rows, signature.rows)) {
      const bool own = (row.abis & mask_of(abi)) != 0 && row.open_bits == 0;
      if (!own || std::find(seen.begin(), seen.end(), row.signature) != seen.end()) {
        continue;
      }
      seen.push_back(row.signature);
      const capture_plan* form =
          plans.form(abi, numbered.number, static_cast<std::uint32_t>(row.value) & plan.chooser_bits);
      const Signature& chosen = t_.signatures[row.signature];
      put(heading(chosen, ' ' + keys(signature, row.signature, abi)), abi,
          form == nullptr ? nothing : body(plans, *form, &chosen, abi));
    }
  }

  [[nodiscard]] std::string result() const {
    std::string out;
    for (const Block& block : blocks_) {
      out += block.heading + (block.abis == abis_ ? "" : " on" + names_of(block.abis)) + '\n' + block.body;
    }
    return out;
  }

 private:
  static constexpr const char* nothing = "  copies nothing\n";

  static std::string names_of(AbiMask abis) {
    std::string out;
    for (std::size_t i = 0; i < abi_count; ++i) {
      if ((abis & mask_of(static_cast<Abi>(i))) != 0) {
        out += ' ' + std::string(abi_names[i]);
      }
    }
    return out;
  }

  [[nodiscard]] std::string heading(const Signature& signature, const std::string& form) const {
    std::string out = std::string(name_) + form + '(';
    const auto params = Tables::slice(t_.params, signature.params);
    for (std::size_t i = 0; i < params.size(); ++i) {
      out += (i == 0 ? "" : ", ") + std::string(t_.text(params[i].name));
    }
    return out + ')';
  }

  [[nodiscard]] std::string body(const CapturePlans& plans, const capture_plan& plan, const Signature* signature,
                                 Abi abi) const {
    const OperationWriter writer(t_, signature, abi);
    const auto part = [&](const char* when, std::span<const capture_operation> operations) {
      return operations.empty() ? std::string() : std::string("  ") + when + '\n' + writer.lines(operations, 4);
    };
    const std::string out = part("entry", plans.at_entry(plan)) +
                            part(plan.exit_if_failed != 0 ? "exit" : "exit, where it succeeds", plans.at_exit(plan));
    return out.empty() ? nothing : out;
  }

  void put(const std::string& heading, Abi abi, const std::string& body) {
    const auto known = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const Block& block) { return block.heading == heading && block.body == body; });
    if (known != blocks_.end()) {
      known->abis |= mask_of(abi);
    } else {
      blocks_.push_back({heading, body, mask_of(abi)});
    }
  }

  /// The names of the values that choose a signature.
  [[nodiscard]] std::string keys(const Signature& signature, Index chosen, Abi abi) const {
    std::string out;
    for (const SignatureRow& row : Tables::slice(t_.signature_rows, signature.rows)) {
      if (row.signature == chosen && (row.abis & mask_of(abi)) != 0 && row.open_bits == 0) {
        out += (out.empty() ? "" : "|") + name_of(selector_set(signature.selector), row);
      }
    }
    return out;
  }

  [[nodiscard]] SetId selector_set(ExprId id) const {
    const Expr& expr = t_.exprs[id];
    if (expr.op == ExprOp::arg) {
      const TypeId type = t_.params[expr.a].type;
      return type == none ? none : t_.types[type].set;
    }
    return expr.op >= ExprOp::bit_and ? selector_set(expr.a) : none;
  }

  [[nodiscard]] std::string name_of(SetId set, const SignatureRow& row) const {
    if (set != none) {
      for (const auto& group : Tables::slice(t_.groups, t_.sets[set].groups)) {
        for (const auto& constant : Tables::slice(t_.constants, group.constants)) {
          if (constant.value == row.value && (constant.abis & row.abis) != 0) {
            return std::string(t_.text(constant.name));
          }
        }
      }
    }
    return fmt::format("{:#x}", row.value);
  }

  const Tables& t_;
  std::string_view name_;
  std::vector<Block> blocks_;
  AbiMask abis_ = 0;
};

}  // namespace

std::string plan_text(const Tables& tables, std::string_view name, CaptureLimits limits) {
  PlanText text(tables, name);
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    std::optional<CapturePlans> plans;
    for (const NumberedCall& numbered : tables.numbers[i]) {
      if (numbered.call == none || numbered.number >= numbers_per_abi ||
          tables.text(tables.calls[numbered.call].name) != name) {
        continue;
      }
      if (!plans) {
        plans = make_capture_plans(tables, mask_of(abi), limits);
      }
      text.add(abi, *plans, numbered);
    }
  }
  return text.result();
}

}  // namespace tracer::capture
