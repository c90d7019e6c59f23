// What is copied out of a tracee for a call: what its form shows, and no more.
#include <algorithm>

#include "capture/operations.h"
#include "capture/plans.h"
#include "catch.h"

namespace tracer::test {

namespace {

constexpr Abi abi = Abi::x86_64;
constexpr std::uint32_t ioctl_number = 16;
constexpr std::uint32_t fcntl_number = 72;

capture::CapturePlans usual_plans() {
  return capture::make_capture_plans(spec::builtin_tables(), mask_of(abi), capture::CaptureLimits{});
}

const capture_plan& plan_of(const capture::CapturePlans& plans, std::uint32_t number) {
  return plans.by_slot[index_of(abi) * numbers_per_abi + number];
}

const capture_plan* form_of(const capture::CapturePlans& plans, std::uint32_t number, std::uint32_t value) {
  return plans.form(abi, number, value);
}

}  // namespace

TEST_CASE("each request of ioctl copies what it has, at the entry or at the exit") {
  const capture::CapturePlans plans = usual_plans();
  const capture_plan* tcgets = form_of(plans, ioctl_number, 0x5401);
  REQUIRE(tcgets != nullptr);
  CHECK(tcgets->entry_count == 0);
  REQUIRE(tcgets->exit_count == 1);
  CHECK(plans.operations[tcgets->exit_first].kind == capture_block);
  CHECK(plans.operations[tcgets->exit_first].base == 2);
  CHECK(plans.operations[tcgets->exit_first].most == 36);  // struct termios
  const capture_plan* tcsets = form_of(plans, ioctl_number, 0x5402);
  REQUIRE(tcsets != nullptr);
  REQUIRE(tcsets->entry_count == 2);
  CHECK(plans.operations[tcsets->entry_first].kind == capture_block);
  CHECK(plans.operations[tcsets->entry_first + 1].kind == capture_file_kind);  // drivers share the number
  CHECK(tcsets->exit_count == 0);
  // A number that no table knows shows as it is.
  CHECK(form_of(plans, ioctl_number, 0xdead) == nullptr);
  CHECK(plan_of(plans, ioctl_number).entry_count < 8);
}

TEST_CASE("what a slot holds within a loop is not taken for what it holds behind it") {
  capture::CaptureOperations plan(spec::builtin_tables(), abi);
  capture_operation each = capture::CaptureOperations::operation(capture_each, 1, 0);
  each.most = 8;
  each.element = 16;
  std::uint8_t element_slot = slot_none;
  plan.add_loop(each, [&](std::uint8_t element) {
    element_slot = element;
    plan.load(element, 8, 4);
  });
  const std::uint8_t pointer = plan.load(1, 0, 8);
  REQUIRE(pointer == element_slot);
  plan.load(pointer, 8, 4);
  CHECK(plan.operations().size() == 4);
  plan.load(pointer, 8, 4);  // this one is there
  CHECK(plan.operations().size() == 4);
}

TEST_CASE("a number is not taken for an address because other forms of the call have one") {
  const capture::CapturePlans plans = usual_plans();
  constexpr std::uint32_t set_flags = 4;
  constexpr std::uint32_t set_lock = 6;
  const capture_plan* flags = form_of(plans, fcntl_number, set_flags);
  CHECK((flags == nullptr ? plan_of(plans, fcntl_number) : *flags).entry_count == 0);
  const capture_plan* lock = form_of(plans, fcntl_number, set_lock);
  REQUIRE(lock != nullptr);
  CHECK(lock->entry_count != 0);
}

TEST_CASE("registers are copied whole, where a note's number says what the structure's pointer leads to") {
  const capture::CapturePlans plans = usual_plans();
  constexpr std::uint32_t ptrace_number = 101;
  constexpr std::uint32_t get_registers = 12;
  constexpr std::uint32_t get_register_set = 0x4204;
  for (const std::uint32_t request : {get_registers, get_register_set}) {
    INFO(request);
    const capture_plan* form = form_of(plans, ptrace_number, request);
    REQUIRE(form != nullptr);
    const auto first = plans.operations.begin() + form->exit_first;
    CHECK(std::any_of(first, first + form->exit_count, [](const capture_operation& operation) {
      constexpr std::uint32_t user_registers = 27 * 8;
      return operation.kind == capture_block && operation.most >= user_registers;
    }));
  }
}

TEST_CASE("every form is found within the steps that the kernel's program makes") {
  const capture::CapturePlans plans = usual_plans();
  CHECK(std::all_of(plans.forms.begin(), plans.forms.end(), [&](const form_plan& form) {
    return form.slot == 0 || form_of(plans, (form.slot - 1) % numbers_per_abi, form.value) != nullptr;
  }));
}

TEST_CASE("what a call has not filled is copied of a failed one only where it shows all the same") {
  const capture::CapturePlans plans = usual_plans();
  constexpr std::uint32_t read_number = 0;
  constexpr std::uint32_t accept_number = 43;
  CHECK(plan_of(plans, read_number).exit_count == 1);
  CHECK(plan_of(plans, read_number).exit_if_failed == 0);
  CHECK(plan_of(plans, accept_number).exit_if_failed == 1);  // the length, which went in
}

TEST_CASE("of what only the note looks at after a call all is copied, of what shows then no more than shows") {
  const capture::CapturePlans plans = usual_plans();
  const auto most_of = [&plans](std::uint32_t number, std::uint8_t argument) {
    const capture_plan& plan = plan_of(plans, number);
    const auto first = plans.operations.begin() + plan.exit_first;
    const auto found = std::find_if(first, first + plan.exit_count, [argument](const capture_operation& operation) {
      return operation.kind == capture_block && operation.base == argument && operation.offset == 0;
    });
    return found == first + plan.exit_count ? 0 : found->most;
  };
  constexpr std::uint32_t poll_number = 7;
  constexpr std::uint32_t recvmmsg_number = 299;
  CHECK(most_of(poll_number, 0) == largest_block);
  CHECK(most_of(recvmmsg_number, 1) > 0);
  CHECK(most_of(recvmmsg_number, 1) < largest_piece);
}

TEST_CASE("no plan looks at the result before there is one") {
  const capture::CapturePlans plans = usual_plans();
  const auto looks_at_result = [](const capture_operation& operation) {
    return operation.base == slot_result || operation.length == slot_result;
  };
  const auto fails = [&](const capture_plan& plan) {
    const auto entry = plans.at_entry(plan);
    return std::any_of(entry.begin(), entry.end(), looks_at_result);
  };
  CHECK(std::none_of(plans.by_slot.begin(), plans.by_slot.end(), fails));
  CHECK(std::none_of(plans.forms.begin(), plans.forms.end(), [&](const form_plan& form) { return fails(form.plan); }));
  constexpr std::uint32_t recvmmsg_number = 299;
  const capture_plan& recvmmsg = plan_of(plans, recvmmsg_number);
  const auto entry = plans.at_entry(recvmmsg);
  constexpr std::uint8_t vlen = 2;
  CHECK(std::any_of(entry.begin(), entry.end(), [](const capture_operation& operation) {
    return operation.kind == capture_each && operation.base == 1 && operation.length == vlen;
  }));
}

TEST_CASE("what a field with a place of its own overlays is not copied again") {
  const capture::CapturePlans plans = usual_plans();
  constexpr std::uint32_t bind_number = 49;
  const auto entry = plans.at_entry(plan_of(plans, bind_number));
  const auto each = std::find_if(entry.begin(), entry.end(), [](const auto& o) { return o.kind == capture_each; });
  REQUIRE(each != entry.end());  // the pieces that an address may consist of
  CHECK(std::all_of(each + 1, entry.end(), [](const capture_operation& o) { return o.most <= 16; }));
}

TEST_CASE("a plan follows arrays within arrays") {
  constexpr std::uint32_t sendmmsg_number = 307;
  constexpr std::uint32_t io_submit_number = 209;
  const capture::CapturePlans plans = usual_plans();
  // Each message; of each its parts; of each part its bytes.
  const auto depth = [&plans](std::size_t first, std::size_t count) {
    std::vector<std::size_t> ends;
    std::size_t deepest = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      while (!ends.empty() && i >= ends.back()) {
        ends.pop_back();
      }
      if (plans.operations[i].kind == capture_each) {
        ends.push_back(i + 1 + plans.operations[i].body);
      } else if (plans.operations[i].kind == capture_block) {
        deepest = std::max(deepest, ends.size());
      }
    }
    return deepest;
  };
  const capture_plan& sendmmsg = plan_of(plans, sendmmsg_number);
  CHECK(depth(sendmmsg.exit_first, sendmmsg.exit_count) == 2);
  const capture_plan& io_submit = plan_of(plans, io_submit_number);
  CHECK(depth(io_submit.entry_first, io_submit.entry_count) == 2);
}

TEST_CASE("what descriptors and ids stand for is captured only if somebody wants to know") {
  constexpr std::uint32_t close_number = 3;
  constexpr std::uint32_t poll_number = 7;
  constexpr std::uint32_t dup_number = 32;
  constexpr std::uint32_t kill_number = 62;
  capture::CaptureLimits limits;
  limits.descriptors = true;
  const capture::CapturePlans usual = usual_plans();
  const capture::CapturePlans named = capture::make_capture_plans(spec::builtin_tables(), mask_of(abi), limits);
  CHECK(plan_of(usual, close_number).entry_count == 0);
  REQUIRE(plan_of(named, close_number).entry_count == 1);
  CHECK(named.operations[plan_of(named, close_number).entry_first].kind == capture_named);
  // What a call returns is known at its end.
  CHECK(plan_of(usual, dup_number).exit_count == 0);
  REQUIRE(plan_of(named, dup_number).exit_count == 1);
  CHECK(named.operations[plan_of(named, dup_number).exit_first].base == slot_result);
  const auto first = named.operations.begin() + plan_of(named, poll_number).entry_first;
  const auto last = first + plan_of(named, poll_number).entry_count;
  const auto each = std::find_if(first, last, [](const capture_operation& o) {
    return o.kind == capture_each && o.length == 1 && o.element == 8;
  });
  REQUIRE(last - each == 2);
  CHECK(each->body == 1);
  CHECK(each[1].kind == capture_there_named);
  CHECK(each[1].base == each->to);
  CHECK(plan_of(named, kill_number).entry_count == 0);
  limits.processes = true;
  CHECK(capture::make_capture_plans(spec::builtin_tables(), mask_of(abi), limits)
            .by_slot[index_of(abi) * numbers_per_abi + kill_number]
            .entry_count == 1);
}

}  // namespace tracer::test
