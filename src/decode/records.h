// Streams of records that say their own length.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class ValueDecoder;

/// Elements or records: a bound for endless ones.
constexpr std::uint64_t max_counted = 1U << 20;

class RecordDecoder {
 public:
  RecordDecoder(Session& session, const Evaluator& evaluator, ValueDecoder& values)
      : session_(session),
        tables_(session.tables),
        state_(session.state),
        out_(session.out),
        evaluator_(evaluator),
        values_(values) {}

  bool records(const spec::Type& type, const Place& place, const Context& context, std::uint64_t size) const;
  struct Counted {
    std::uint64_t number = 0;
    bool and_more = false;  ///< the next one cannot be read
  };
  [[nodiscard]] Counted count_records(const spec::Type& type, const Place& place, const Context& context,
                                      std::uint64_t size) const;

 private:
  struct RecordSize {
    std::uint64_t length = 0;  ///< bytes of data
    std::uint64_t step = 0;    ///< bytes to the next record
  };
  [[nodiscard]] RecordSize record_size(const spec::Type& type, const Place& place, const Context& context,
                                       std::uint64_t left, std::span<std::int64_t> params) const;
  void emit_no_records(bool is_list) const;
  [[nodiscard]] bool is_there(const Place& place, std::uint64_t size) const;

  Session& session_;
  const spec::Tables& tables_;
  CallState& state_;
  render::Emitter& out_;
  const Evaluator& evaluator_;
  ValueDecoder& values_;
};

}  // namespace tracer::decode
