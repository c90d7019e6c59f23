// RecordEmitter is an emitter like those of text and JSON; it makes a Call.
#pragma once

#include <vector>

#include "explain/record.h"
#include "render/emitter.h"

namespace tracer::explain {

/// Each thread needs one, because a call is decoded at entry and at exit.
class RecordEmitter final : public render::Emitter {
 public:
  explicit RecordEmitter(const spec::Tables& tables) : tables_(tables) {}

  [[nodiscard]] Call& call() { return call_; }
  /// Starts a value that belongs to no call, such as a siginfo.
  void begin_alone();
  /// Returns the value that was emitted since begin_alone().
  [[nodiscard]] Value take_alone() { return std::move(alone_); }

  [[nodiscard]] std::size_t written() const override { return written_; }
  void begin_call(std::string_view name) override;
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override;
  void end_argument() override { open_.clear(); }
  void end_arguments() override { open_.clear(); }
  void begin_result(const render::CallResult& result) override;
  void begin_note(std::string_view prefix, bool styled) override;
  void end_note() override;
  void end_result() override { open_.clear(); }
  void begin_struct() override { begin(Value::Kind::object); }
  void begin_field(std::string_view name, std::string_view type) override;
  void end_struct() override { end(); }
  void begin_array() override { begin(Value::Kind::list); }
  void begin_element(std::string_view /*index*/) override { begin_field({}, {}); }
  void end_array() override { end(); }
  void more() override;
  void scalar(std::uint64_t bits, const spec::Type& type) override;
  void constant(std::uint64_t bits, const spec::Type& type, Abi abi) override;
  void bytes(std::span<const std::byte> data, render::StringForm form) override;
  void address(RemoteAddr address) override;
  void symbol(std::string_view text) override;
  void named(const render::SymbolicName& name, std::uint64_t bits, const spec::Type& number) override;
  void named_bytes(const render::SymbolicName& name, std::span<const std::byte> data) override;
  void comment(std::string_view) override {}
  void annotation(std::string_view text, std::string_view suffix) override;
  void changed() override {}  // the value at exit replaces the one at entry

 private:
  struct Level {
    Value* holder;  ///< the object or list; nullptr: an argument
    Value* slot;    ///< the place of the next value
  };

  Value& put(Value::Kind kind);
  void begin(Value::Kind kind);
  void put_name(const render::SymbolicName& name);
  void end();

  const spec::Tables& tables_;
  Call call_;
  Value alone_;
  Value note_;
  Value nowhere_;            ///< takes values that are dropped
  std::vector<Level> open_;  ///< open aggregates, outermost first; the pointers are valid while their level is open
  std::size_t written_ = 0;
};

}  // namespace tracer::explain
