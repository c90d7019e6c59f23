#include "replay/viewer/recording.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tracer::replay::viewer {

namespace {

/// How many blocks are held: enough for the screen, and to go back and forth.
constexpr std::size_t most_blocks = 12;
/// How many blocks are searched for the ends of calls that a block begins. The details of a call search all.
constexpr std::size_t usual_ahead = 64;

}  // namespace

/// Collects the ends of calls that began in other blocks.
class Recording::Ends final : public trace::EventHandler {
 public:
  trace::Verdict handle(const trace::Event& event, const trace::Memory& /*memory*/) override {
    if (std::holds_alternative<trace::SyscallEnter>(event.what)) {
      begun_.insert(call_of(event.tid));
    } else if (const auto* enter = std::get_if<trace::LibraryEnter>(&event.what)) {
      begun_.insert(function(enter->call));
    } else if (const auto key = key_of(event); key != 0 && begun_.erase(key) == 0 && seen_.insert(key).second) {
      ends_.push_back(key);
    }
    return trace::Verdict::go_on;
  }
  void idle() override {}

  /// Whether the call of a key is open in the view.
  static bool is_open(std::uint64_t key, const pipeline::views::RowsView& view) {
    return (key & 1U) != 0 ? view.is_open_function(key >> 1U) : view.is_open(static_cast<pid_t>(key >> 1U));
  }
  /// Returns which call an event ends; 0: none.
  static std::uint64_t key_of(const trace::Event& event) {
    if (const auto* exit = std::get_if<trace::LibraryExit>(&event.what)) {
      return exit->how == trace::LibraryExit::How::again ? 0 : function(exit->call);
    }
    const bool ends = std::holds_alternative<trace::SyscallExit>(event.what) ||
                      std::holds_alternative<trace::SyscallLost>(event.what);
    return ends ? call_of(event.tid) : 0;
  }
  [[nodiscard]] LooseEnds take() { return std::move(ends_); }

 private:
  static std::uint64_t call_of(pid_t tid) { return static_cast<std::uint64_t>(tid) << 1U; }
  static std::uint64_t function(std::uint64_t call) { return call << 1U | 1U; }

  std::unordered_set<std::uint64_t> begun_;
  std::unordered_set<std::uint64_t> seen_;
  LooseEnds ends_;
};

Recording::Recording(RecordingOptions options, replay::ReplayEngine& engine, const spec::Tables& tables,
                     const decode::Decoder& decoder, const decode::Decoder& whole, const names::Names& names,
                     names::DescriptorNames& plain_names)
    : options_(std::move(options)),
      engine_(engine),
      tables_(tables),
      decoder_(decoder),
      whole_(whole),
      names_(names),
      plain_names_(plain_names),
      places_(engine.file().places()),
      loose_ends_(places_.size()) {}

double Recording::part_before(std::size_t block) const {
  if (places_.empty()) {
    return 1;
  }
  const auto& last = places_.back();
  const std::uint64_t start = places_.front().mark_at;
  const std::uint64_t end = last.mark_at + replay::mark_size + last.packed_size;
  return static_cast<double>((block < places_.size() ? places_[block].mark_at : end) - start) /
         static_cast<double>(end - start);
}

bool Recording::grow() {
  const std::size_t before = places_.size();
  const bool was_whole = engine_.file().is_whole();
  engine_.file().find_more(places_);
  loose_ends_.resize(places_.size());
  if (places_.size() != before) {
    // Calls that were open may have ended.
    held_.remove_if([](const Held& one) {
      return std::any_of(one.rows.begin(), one.rows.end(), [](const pipeline::views::Row& row) { return !row.ended; });
    });
  }
  return places_.size() != before || engine_.file().is_whole() != was_whole;
}

bool Recording::play(std::size_t from, std::size_t to, trace::EventHandler& handler,
                     const std::function<bool()>& goes_on) {
  for (std::size_t block = from; block < std::min(to, places_.size()); ++block) {
    if (!goes_on()) {
      return false;
    }
    if (!engine_.play(places_[block], handler, [](const trace::Event&) { return true; })) {
      damaged_.insert(block);
    }
  }
  return true;
}

void Recording::filter(const pipeline::FilterOptions& filter) {
  options_.pipeline.filter = filter;
  held_.clear();
}

const Recording::Rows& Recording::rows(std::size_t block) {
  const auto held = std::find_if(held_.begin(), held_.end(), [block](const Held& one) { return one.block == block; });
  if (held != held_.end()) {
    held_.splice(held_.begin(), held_, held);
    return held_.front().rows;
  }
  Held decoded{block, decode(block, false, usual_ahead, [] { return true; })};
  if (held_.size() == most_blocks) {
    held_.pop_back();
  }
  held_.push_front(std::move(decoded));
  return held_.front().rows;
}

std::optional<pipeline::views::Row> Recording::details(std::size_t block, std::size_t row,
                                                       const std::function<bool()>& goes_on) {
  const Rows& known = rows(block);
  const bool is_far = row < known.size() && !known[row].ended;
  Rows all = decode(block, true, is_far ? places_.size() : usual_ahead, goes_on);
  return row < all.size() ? std::optional(std::move(all[row])) : std::nullopt;
}

const Recording::LooseEnds& Recording::loose_ends(std::size_t block) {
  auto& known = loose_ends_[block];
  if (!known) {
    Ends ends;
    engine_.play(places_[block], ends, [](const trace::Event&) { return true; });
    known = ends.take();
  }
  return *known;
}

Recording::Rows Recording::decode(std::size_t block, bool details, std::size_t most_ahead,
                                  const std::function<bool()>& goes_on) {
  pipeline::PipelineOptions settings = options_.pipeline;
  settings.launched = settings.launched && block == 0;
  if (details) {
    settings.abbreviate = {};
    settings.stacks = options_.stacks;
  }
  pipeline::views::TextViewOptions text = options_.text;
  if (details) {
    text.calls.column = 0;
  }
  const decode::Decoder& decoder = details ? whole_ : decoder_;
  pipeline::views::RowsView view(std::move(text), {details}, tables_, decoder, names_);
  pipeline::Pipeline pipeline(std::move(settings), tables_, decoder, plain_names_, view, nullptr,
                              [](std::string_view) {});
  if (!engine_.play(places_[block], pipeline, [](const trace::Event&) { return true; })) {
    damaged_.insert(block);
  }
  view.expect_ends();
  const std::size_t last = std::min(places_.size(), block + 1 + most_ahead);
  for (std::size_t ahead = block + 1; ahead < last && view.has_open() && goes_on(); ++ahead) {
    const LooseEnds& ends = loose_ends(ahead);
    if (std::any_of(ends.begin(), ends.end(), [&](std::uint64_t end) { return Ends::is_open(end, view); })) {
      engine_.play(places_[ahead], pipeline,
                   [&](const trace::Event& event) { return Ends::is_open(Ends::key_of(event), view); });
    }
  }
  return view.take();
}

}  // namespace tracer::replay::viewer
