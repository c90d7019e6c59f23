// The rows of a recording, block by block: a block is decoded when it is looked at, and few are held at a time, so that
// it does not matter how long the recording is.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "pipeline/filter.h"
#include "pipeline/pipeline.h"
#include "pipeline/views/rows.h"
#include "replay/replay_engine.h"

namespace tracer::replay::viewer {

struct RecordingOptions {
  pipeline::PipelineOptions pipeline;
  pipeline::views::TextViewOptions text;
  trace::StackTracer* stacks = nullptr;  ///< those of details; null: none. It outlives the recording.
};

class Recording {
 public:
  using Rows = std::vector<pipeline::views::Row>;

  /// All arguments outlive this. `decoder` writes the rows, `whole` their details.
  Recording(RecordingOptions options, replay::ReplayEngine& engine, const spec::Tables& tables,
            const decode::Decoder& decoder, const decode::Decoder& whole, const names::Names& names,
            names::DescriptorNames& plain_names);

  [[nodiscard]] std::size_t blocks() const { return places_.size(); }
  [[nodiscard]] const spec::Tables& tables() const { return tables_; }
  /// Looks for blocks that were written since. Returns whether there are some, or the end of the recording is there.
  bool grow();
  /// Whether a recorder may still write to it.
  [[nodiscard]] bool may_grow() const { return !engine_.file().is_whole(); }
  /// How far into the recording a block starts, or, behind the last one, it ends; in parts of one.
  [[nodiscard]] double part_before(std::size_t block) const;
  /// Returns the rows of a block, valid until the next call.
  const Rows& rows(std::size_t block);
  /// Hands all events of some blocks to a handler, as long as `goes_on` returns true. Returns whether it did.
  bool play(std::size_t from, std::size_t to, trace::EventHandler& handler, const std::function<bool()>& goes_on);
  /// Collects what the calls of some blocks change about descriptors.
  void changes(std::size_t from, std::size_t to, trace::EventHandler& collector) {
    static_cast<void>(play(from, to, collector, [] { return true; }));
  }
  /// How many blocks are damaged, as far as is known.
  [[nodiscard]] std::size_t damaged() const { return damaged_.size(); }

  /// Which rows there are from now on.
  void filter(const pipeline::FilterOptions& filter);
  [[nodiscard]] const pipeline::FilterOptions& filter() const { return options_.pipeline.filter; }

  /// Returns a row with all that is known of it. The end of a call is looked for up to the end of the recording, as
  /// long as `goes_on` returns true.
  std::optional<pipeline::views::Row> details(std::size_t block, std::size_t row, const std::function<bool()>& goes_on);

 private:
  struct Held {
    std::size_t block = 0;
    Rows rows;
  };
  /// The ends of calls whose entries are in blocks before, by Ends::key_of().
  using LooseEnds = std::vector<std::uint64_t>;
  class Ends;

  Rows decode(std::size_t block, bool details, std::size_t most_ahead, const std::function<bool()>& goes_on);
  const LooseEnds& loose_ends(std::size_t block);

  RecordingOptions options_;
  replay::ReplayEngine& engine_;
  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  const decode::Decoder& whole_;
  names::Names names_;
  names::DescriptorNames& plain_names_;
  std::vector<replay::BlockPlace> places_;
  std::vector<std::optional<LooseEnds>> loose_ends_;
  std::list<Held> held_;  ///< the one that was used last comes first
  std::set<std::size_t> damaged_;
};

}  // namespace tracer::replay::viewer
