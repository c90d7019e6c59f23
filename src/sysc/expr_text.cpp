#include "sysc/expr_text.h"

#include <fmt/core.h>

namespace tracer::sysc {

using namespace spec;

namespace {

const char* operator_text(ExprOp op) {
  switch (op) {
    case ExprOp::bit_and:
      return " & ";
    case ExprOp::bit_or:
      return " | ";
    case ExprOp::equal:
      return " == ";
    case ExprOp::not_equal:
      return " != ";
    case ExprOp::less:
      return " < ";
    case ExprOp::greater:
      return " > ";
    case ExprOp::add:
      return " + ";
    case ExprOp::subtract:
      return " - ";
    default:
      return " * ";
  }
}

std::string operand(const Tables& t, ExprId id) {
  const auto text = expr_text(t, id);
  return t.exprs[id].op >= ExprOp::bit_and ? "(" + text + ")" : text;
}

}  // namespace

std::string expr_text(const Tables& t, ExprId id) {
  const auto& e = t.exprs[id];
  const auto name = [](std::string_view text) { return std::string(text); };
  switch (e.op) {
    case ExprOp::literal:
      return std::to_string(e.value);
    case ExprOp::variable_literal:
      return fmt::format("{}@x86_64", t.abi_values[e.a]);
    case ExprOp::arg:
      return name(t.text(t.params[e.a].name));
    case ExprOp::deref:
      return "*" + name(t.text(t.params[e.a].name));
    case ExprOp::was:
      return "was " + name(t.text(t.params[e.a].name));
    case ExprOp::field:
      return name(t.text(t.fields[e.a].name));
    case ExprOp::deref_field:
      return "*" + name(t.text(t.fields[e.a].name));
    case ExprOp::outer:
      return "^" + name(t.text(e.a));
    case ExprOp::param:
      return fmt::format("value {}", e.a + 1);
    case ExprOp::ret:
      return "ret";
    case ExprOp::ok:
      return "ok";
    case ExprOp::rest:
      return "rest";
    case ExprOp::word:
      return "word";
    case ExprOp::nth:
      return "nth";
    case ExprOp::full:
      return "full";
    case ExprOp::rings:
      return "rings";
    case ExprOp::everything:
      return "all";
    case ExprOp::member:
      return name(t.text(t.fields[e.a].name)) + "." + name(t.text(t.fields[e.b].name));
    case ExprOp::netlink:
      return "netlink(" + expr_text(t, e.a) + ")";
    case ExprOp::sibling:
      return "sibling(" + expr_text(t, e.a) + ")";
    case ExprOp::generic:
      return "generic(" + expr_text(t, e.a) + ")";
    case ExprOp::align:
      return "align(" + expr_text(t, e.a) + ", " + expr_text(t, e.b) + ")";
    default:
      return operand(t, e.a) + operator_text(e.op) + operand(t, e.b);
  }
}

}  // namespace tracer::sysc
