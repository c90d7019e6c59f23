// --format=folded: writes one line for each stack that led to calls, in the format of flame graph tools:
//
//   program;main;outer;inner;libc.so.6`write;write 12
//
// The line has the name of the program, the functions starting with the outermost, the call, and after a blank the
// weight of all calls with that stack: their number, their time in microseconds, or the bytes that they transferred.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "decode/decoder.h"
#include "pipeline/channels.h"
#include "pipeline/view.h"
#include "render/text_choices.h"
#include "render/text_emitter.h"

namespace tracer::pipeline::views {

class FoldedView final : public View {
 public:
  FoldedView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names, Channels channels,
             render::FoldedWeight weight);

  void thread_appears(Thread& thread, const Moment&) override { channels_.assign(thread); }
  void thread_goes(Thread& thread) override { channels_.release(thread); }
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void exec(Thread& thread, const Moment&) override { thread.command.clear(); }
  void flush() override;
  void raw(std::string_view text) override { channels_.write_common(text); }
  /// Writes all lines, sorted.
  void finish() override;

 private:
  /// Further stacks are counted under one name.
  static constexpr std::size_t most_stacks = 1'000'000;

  [[nodiscard]] std::uint64_t weight_of(const Thread& thread, const CallEnd& end) const;

  const decode::Decoder& decoder_;
  names::ProcessNames& names_;
  Channels channels_;
  render::FoldedWeight weight_;
  TextBuffer scratch_;
  render::TextEmitter emitter_;
  std::string line_;
  std::unordered_map<std::string, std::uint64_t> weights_;
};

}  // namespace tracer::pipeline::views
