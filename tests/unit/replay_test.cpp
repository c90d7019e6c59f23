// Trace files: the format, and a recording of another machine.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "catch.h"
#include "decoders/decoders.h"
#include "names/proc_names.h"
#include "pipeline_stage.h"
#include "replay/crc32c.h"
#include "replay/event_reader.h"
#include "replay/event_writer.h"
#include "replay/recorder.h"
#include "replay/replay_engine.h"

using namespace tracer;

namespace {

class Nobody final : public trace::EventHandler {
 public:
  trace::Verdict handle(const trace::Event&, const trace::Memory&) override { return trace::Verdict::go_on; }
  void idle() override {}
};

void ignore(std::string_view) {}

/// A file in memory.
class MemoryFile {
 public:
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }
  [[nodiscard]] UniqueFd copy() const { return UniqueFd(::dup(fd_.get())); }

 private:
  UniqueFd fd_{::memfd_create("trace", MFD_CLOEXEC)};
};

std::unique_ptr<replay::BlockWriter> writer_of(const MemoryFile& file) {
  replay::TraceWriter writer(file.copy(), "trace", ignore);
  return std::make_unique<replay::BlockWriter>(std::make_unique<replay::FileTarget>(std::move(writer)), false, ignore);
}

trace::Event event_at(int time, Abi abi) {
  trace::Event event;
  event.tid = event.tgid = 7;
  event.abi = abi;
  event.time.realtime = std::chrono::seconds(1700000000 + time);
  event.time.monotonic = std::chrono::seconds(time);
  return event;
}

/// Records openat(AT_FDCWD, "/dir", flags) = 3.
void record_open(const MemoryFile& file, const spec::Tables& tables, Abi abi, std::uint64_t number,
                 std::uint64_t flags) {
  Nobody nobody;
  replay::RecorderOptions options;
  options.head.native = abi;
  options.head.string_limit = replay::default_string_limit;
  replay::Recorder recorder(std::move(options), tables, writer_of(file), nobody);
  test::FakeMemory memory;
  memory.put(0x1000, std::string("/dir\0beyond", 11));
  trace::Event event = event_at(1, abi);
  trace::SyscallEnter enter;
  enter.number = number;
  enter.args = {static_cast<std::uint64_t>(-100), 0x1000, flags, 0, 77, 78};
  event.what = enter;
  recorder.handle(event, memory);
  event = event_at(2, abi);
  trace::SyscallExit exit;
  exit.value = 3;
  event.what = exit;
  recorder.handle(event, memory);
}

std::string replayed(const MemoryFile& file, const spec::Tables& tables) {
  auto opened = replay::TraceFile::open(file.path());
  REQUIRE(opened.ok());
  const Abi native = opened.value()->head().native;
  replay::ReplayEngine engine(std::move(opened).value(), {}, tables, ignore);
  names::ProcNames proc({});
  const names::Names names{proc.names().descriptors, proc.names().processes, engine.kernel_facts()};
  const decode::Decoder decoder(tables, {}, names, decoders::all());
  std::string text;
  std::string flushed;
  pipeline::views::TextViewOptions settings;
  settings.native = native;
  pipeline::views::TextView view(std::move(settings), tables, decoder, names,
                                 pipeline::Channels(std::make_unique<test::StringSink>(text, flushed)));
  pipeline::PipelineOptions options;
  options.native = native;
  pipeline::Pipeline pipeline(std::move(options), tables, decoder, names.descriptors, view, nullptr, ignore);
  REQUIRE(engine.run(pipeline).ok());
  view.flush();
  return text;
}

}  // namespace

TEST_CASE("The checksum is CRC-32C") {
  CHECK(replay::crc32c("123456789") == 0xe3069283);
  CHECK(replay::crc32c("6789", replay::crc32c("12345")) == 0xe3069283);
}

TEST_CASE("Numbers come back as they were, and a cursor ends with zeros") {
  std::string text;
  replay::Encoder out(text);
  out.number(~std::uint64_t{0});
  out.signed_number(-1);
  out.difference(5, 7);
  out.text("abc");
  replay::Cursor in(text);
  CHECK(in.number() == ~std::uint64_t{0});
  CHECK(in.signed_number() == -1);
  CHECK(in.difference(7) == 5);
  CHECK(in.text() == "abc");
  CHECK(in.at_end());
  CHECK(in.number() == 0);
  CHECK(in.failed());
}

TEST_CASE("A text keeps no more of memory than was looked at, unless another read needs it") {
  replay::Ranges ranges;
  ranges.add(0x1000, replay::bytes_of(std::string("text\0beyond", 11)));
  ranges.trim(5);
  std::array<std::byte, 11> into{};
  CHECK(ranges.read(0x1000, into) == 5);
  CHECK(ranges.find(0x1002, std::span(into).first(5)));
  CHECK(ranges.read(0x1000, into) == 7);
  ranges.trim(1);
  CHECK(ranges.read(0x1000, into) == 5);
}

TEST_CASE("Memory that is read again from the same place on is kept once") {
  replay::Ranges ranges;
  ranges.add(0x1000, replay::bytes_of("head"));
  ranges.add(0x1000, replay::bytes_of("head and body"));
  ranges.add(0x100d, replay::bytes_of("next"));
  ranges.add(0x100d, replay::bytes_of("next one"));
  ranges.add_view(0x2000, replay::bytes_of("elsewhere"));
  std::vector<std::pair<std::uint64_t, std::string>> kept;
  ranges.for_each([&](std::uint64_t address, std::span<const std::byte> bytes) {
    kept.emplace_back(address, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  });
  CHECK(kept ==
        std::vector<std::pair<std::uint64_t, std::string>>{{0x1000, "head and bodynext one"}, {0x2000, "elsewhere"}});
  std::array<std::byte, 4> into{};
  for (const std::uint64_t address : {0x2000U, 0x1011U, 0x1000U, 0x2005U}) {
    CHECK(ranges.read(address, into) == into.size());
  }
  CHECK(ranges.read(0x2006, into) == 3);
  CHECK(ranges.read(0x3000, into) == 0);
}

TEST_CASE("Events are the same without what only decoding needs") {
  const spec::Tables tables = spec::builtin_tables();
  replay::EventWriter writer(tables);
  const std::string provider = "provider";
  const std::string name = "of a probe";
  trace::Event event = event_at(1, Abi::x86_64);
  event.what = trace::GroupStop{19};
  replay::Facts facts;
  trace::TaskSnapshot::Process process;
  process.command = "a command";
  facts.processes.emplace_back(7, process);
  facts.names.push_back({replay::NameFact::Kind::function, 1, "a function"});
  writer.write(event, facts);
  trace::ProbeHit hit;
  hit.provider = hit.module = &provider;
  hit.name = &name;
  event.what = hit;
  writer.write(event, {});
  std::string block;
  const std::uint32_t events_size = writer.take(block).events_size;
  for (const bool with_facts : {true, false}) {
    replay::EventReader reader;
    reader.begin(with_facts ? std::string_view(block) : std::string_view(block).substr(0, events_size), events_size);
    REQUIRE(reader.next() == replay::EventReader::Found::event);
    REQUIRE(reader.next() == replay::EventReader::Found::event);
    const auto* read = std::get_if<trace::ProbeHit>(&reader.event().what);
    REQUIRE(read != nullptr);
    CHECK(*read->provider == provider);
    CHECK(*read->name == name);
    CHECK(reader.next() == replay::EventReader::Found::end);
  }
  replay::EventReader reader;
  reader.begin(std::string_view(block).substr(0, events_size - 1), events_size);
  CHECK(reader.next() == replay::EventReader::Found::damage);
}

TEST_CASE("A file that a descriptor still has is not said again") {
  const spec::Tables tables = spec::builtin_tables();
  replay::EventWriter writer(tables);
  const auto write = [&](pid_t tgid, std::uint64_t fd,
                         std::initializer_list<std::pair<std::int32_t, const char*>> files) {
    trace::Event event = event_at(1, Abi::x86_64);
    event.tid = event.tgid = tgid;
    trace::SyscallEnter enter;
    enter.number = 292;  // dup3
    enter.args = {fd, 4, 0, 0, 0, 0};
    event.what = enter;
    replay::Facts facts;
    for (const auto& [descriptor, path] : files) {
      auto file = std::make_shared<trace::OpenFile>();
      file->link = path;
      const auto owner = descriptor < 0 ? replay::FileFact::Owner::directory : replay::FileFact::Owner::task;
      facts.files.push_back({owner, 0, std::max(descriptor, 0), std::move(file)});
    }
    const std::size_t before = writer.size();
    writer.write(event, facts);
    return writer.size() - before;
  };
  write(7, 3, {{3, "/of 3"}, {4, "/of 4"}, {-1, "/"}});
  const std::size_t first = write(7, 3, {});
  const std::size_t again = write(7, 3, {{3, "/of 3"}, {4, "/of 4"}, {-1, "/"}});
  CHECK(again - first == 1);  // which places
  write(7, 3, {{4, "/another"}});
  write(8, 3, {{3, "/of 4"}});
  write(7, 5, {{4, "/another"}, {9, "/of 3"}});
  std::string block;
  const std::uint32_t events_size = writer.take(block).events_size;
  replay::EventReader reader;
  reader.begin(block, events_size);
  const auto next = [&] {
    REQUIRE(reader.next() == replay::EventReader::Found::event);
    std::string seen;
    for (const std::int32_t fd : {3, 4, 9, -1}) {
      const auto owner = fd < 0 ? replay::FileFact::Owner::directory : replay::FileFact::Owner::task;
      const trace::OpenFile* file = reader.file(owner, 0, std::max(fd, 0));
      seen += file == nullptr ? "- " : file->link + ' ';
    }
    return seen;
  };
  CHECK(next() == "/of 3 /of 4 - / ");
  CHECK(next() == "- - - - ");
  CHECK(next() == "/of 3 /of 4 - / ");
  CHECK(next() == "- /another - - ");
  CHECK(next() == "/of 4 - - - ");
  CHECK(next() == "- /another /of 3 - ");
  CHECK(reader.next() == replay::EventReader::Found::end);
}

TEST_CASE("Times of this version and of the one before are read") {
  const bool has_lows = GENERATE(true, false);
  constexpr std::int64_t times[] = {-1, 70000, 255, 1'700'000'000'000'000'000};
  replay::ColumnWriter columns;
  for (const std::int64_t time : times) {
    columns.at(replay::Column::tags).number(static_cast<unsigned>(replay::Tag::detached));
    columns.at(replay::Column::flags).number(replay::same_thread | replay::same_abi | replay::same_offset);
    columns.at(replay::Column::others).text("");
    const std::uint64_t number = replay::zigzag(time);
    columns.at(replay::Column::times).number(has_lows ? number >> 8U : number);
    if (has_lows) {
      columns.at(replay::Column::time_lows).byte(static_cast<unsigned char>(number & 0xffU));
    }
  }
  std::string block;
  columns.take(block);
  const auto events_size = static_cast<std::uint32_t>(block.size());
  block.append(std::size(times), '\0');  // no facts
  replay::EventReader reader;
  reader.begin(block, events_size);
  std::int64_t sum = 0;
  for (const std::int64_t time : times) {
    REQUIRE(reader.next() == replay::EventReader::Found::event);
    sum += time;
    CHECK(reader.event().time.monotonic.count() == sum);
  }
  CHECK(reader.next() == replay::EventReader::Found::end);
}

TEST_CASE("Events can be had of a file without the facts behind them") {
  const spec::Tables tables = spec::builtin_tables();
  const MemoryFile file;
  record_open(file, tables, Abi::x86_64, 257, 0200000);
  const auto block_of = [&file](bool whole) {
    auto opened = replay::TraceFile::open(file.path());
    REQUIRE(opened.ok());
    if (!whole) {
      opened.value()->leave_facts_out();
    }
    std::string block(opened.value()->next([](const replay::Mark&) { return true; }));
    return std::pair(std::move(block), opened.value()->mark().events_size);
  };
  const auto [whole, size] = block_of(true);
  const auto [events, same_size] = block_of(false);
  CHECK(size == same_size);
  CHECK(events.size() == size);
  CHECK(whole.size() > size);
  CHECK(whole.substr(0, size) == events);
  CHECK(whole.find("/dir") > size);
}

namespace {

/// A block of events that exit, and of facts behind the last.
class Block {
 public:
  void add_exit(pid_t tid) { add_event(replay::Tag::exited, tid); }
  void add_event(replay::Tag tag, pid_t tid) {
    end_facts();
    columns_.at(replay::Column::tags).number(static_cast<unsigned>(tag));
    columns_.at(replay::Column::flags).number(0);
    for (const int part : {tid, 0, 0}) {  // thread, group, ABI
      columns_.at(replay::Column::threads).signed_number(part);
    }
    for (int clock = 0; clock < 2; ++clock) {
      columns_.at(replay::Column::times).number(0);
    }
    columns_.at(replay::Column::others).text(std::string(1, '\0'));  // status
    has_event_ = true;
  }
  void add_fact(replay::Tag tag, std::string_view payload) {
    const bool apart = replay::is_apart(tag);
    replay::Encoder facts(facts_);
    (apart ? facts : columns_.at(replay::Column::tags)).number(static_cast<unsigned>(tag));
    (apart ? facts : columns_.at(replay::Column::others)).text(payload);
  }
  void begin(replay::EventReader& reader) {
    end_facts();
    columns_.take(bytes_);
    const std::size_t events_size = bytes_.size();
    bytes_.append(all_facts_);
    reader.begin(bytes_, static_cast<std::uint32_t>(events_size));
  }

 private:
  void end_facts() {
    if (std::exchange(has_event_, false)) {
      replay::Encoder(all_facts_).text(facts_);
      facts_.clear();
    }
  }

  replay::ColumnWriter columns_;
  std::string facts_;  ///< of the last event
  bool has_event_ = false;
  std::string all_facts_;
  std::string bytes_;
};

std::string numbers(std::initializer_list<std::uint64_t> values, std::string_view text = {}) {
  std::string payload;
  replay::Encoder out(payload);
  for (const std::uint64_t value : values) {
    out.number(value);
  }
  if (!text.empty()) {
    out.text(text);
  }
  return payload;
}

}  // namespace

TEST_CASE("A text of a block that facts name by number is not copied without a limit") {
  const std::string large(std::size_t{8} << 20U, 'x');
  Block block;
  block.add_exit(7);
  SECTION("names") {
    block.add_fact(replay::Tag::name, numbers({0, 1, 0}, large));
    for (std::uint64_t i = 0; i < 40; ++i) {
      block.add_fact(replay::Tag::name, numbers({0, i, 0}));
    }
  }
  SECTION("frames") {
    std::string frame = numbers({0}, "file");
    replay::Encoder(frame).text(large);
    replay::Encoder(frame).text("");
    block.add_fact(replay::Tag::frame, frame + std::string(5, '\0'));
    block.add_fact(replay::Tag::stack, numbers({0}, std::string(40, '\0')));
  }
  block.add_exit(8);
  replay::EventReader reader;
  block.begin(reader);
  REQUIRE(reader.next() == replay::EventReader::Found::event);
  std::size_t copied = 0;
  for (const replay::NameFact& name : reader.facts().names) {
    copied += name.name.size();
  }
  for (const replay::FrameFact& frame : reader.facts().frames) {
    copied += frame.symbol.size();
  }
  CHECK(copied > 0);
  CHECK(copied <= replay::most_block_size);
  CHECK(reader.next() == replay::EventReader::Found::damage);
}

TEST_CASE("Commands of recordings are no longer than those of threads can be") {
  Block block;
  block.add_exit(7);
  block.add_fact(replay::Tag::command, std::string(1000, 'c'));
  block.add_fact(replay::Tag::process, numbers({14, 14, 0, 0}, std::string(1000, 'c')));
  replay::EventReader reader;
  block.begin(reader);
  REQUIRE(reader.next() == replay::EventReader::Found::event);
  CHECK(reader.facts().command == std::string(64, 'c'));
  REQUIRE(reader.facts().processes.size() == 1);
  CHECK(reader.facts().processes[0].second.command == std::string(64, 'c'));
}

TEST_CASE("A block has no more events than one of its size can have") {
  Block block;
  for (std::size_t i = 0; i <= replay::block_size; ++i) {
    block.add_exit(static_cast<pid_t>(i + 1));
  }
  replay::EventReader reader;
  block.begin(reader);
  std::size_t events = 0;
  while (reader.next() == replay::EventReader::Found::event) {
    ++events;
  }
  CHECK(events == replay::block_size);
  CHECK(reader.next() == replay::EventReader::Found::damage);
}

TEST_CASE("A recording of one machine shows on another as it would there") {
  const spec::Tables tables = spec::builtin_tables();
  const MemoryFile arm;
  record_open(arm, tables, Abi::aarch64, 56, 040000);
  CHECK(replayed(arm, tables) == "openat(AT_FDCWD, \"/dir\", O_RDONLY|O_DIRECTORY) = 3\n");
  const MemoryFile intel;
  record_open(intel, tables, Abi::x86_64, 257, 0200000);
  CHECK(replayed(intel, tables) == "openat(AT_FDCWD, \"/dir\", O_RDONLY|O_DIRECTORY) = 3\n");
}

TEST_CASE("A reader refuses other major versions and passes over what it does not know") {
  std::string head = encode(replay::Head{});
  replay::Encoder(head).number(99);
  replay::Encoder(head).text("of a later version");
  CHECK(replay::decode_head(head).ok());
  constexpr std::size_t version_at = 2;  // behind the number of the field and the size of its value
  head[version_at] = '\3';
  CHECK(replay::decode_head(head).ok());
  for (const char version : {'\2', '\5'}) {
    head[version_at] = version;
    const auto refused = replay::decode_head(head);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message ==
          "it has version " + std::to_string(version) + " of the format, and this program reads versions 3 to 4");
  }
}

TEST_CASE("Events of a later version are passed over") {
  constexpr auto later = static_cast<replay::Tag>(20);
  Block block;
  block.add_exit(7);
  block.add_event(later, 8);
  block.add_fact(replay::Tag::memory, "of an event that nobody knows");
  block.add_exit(9);
  replay::EventReader reader;
  block.begin(reader);
  for (const pid_t tid : {7, 9}) {
    REQUIRE(reader.next() == replay::EventReader::Found::event);
    CHECK(reader.event().tid == tid);
  }
  CHECK(reader.next() == replay::EventReader::Found::end);
}

TEST_CASE("Columns of a later version are passed over, and those that are not there are empty") {
  const auto read = [](std::size_t columns) {
    std::string events;
    replay::Encoder out(events);
    out.number(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      out.number(1);
    }
    for (std::size_t i = 0; i < columns; ++i) {
      out.number(i + 1);
    }
    replay::ColumnReader reader;
    reader.begin(events);
    const std::uint64_t flags = reader.at(replay::Column::flags).number();
    const std::uint64_t last = reader.at(static_cast<replay::Column>(replay::column_count - 1)).number();
    return std::tuple(flags, last, reader.failed());
  };
  CHECK(read(replay::column_count + 2) == std::tuple(2U, replay::column_count, false));
  CHECK(read(replay::column_count) == std::tuple(2U, replay::column_count, false));
  CHECK(read(3) == std::tuple(2U, 0U, true));
}

TEST_CASE("A flight recorder that is asked before its head is packed begins the file with it all the same") {
  const MemoryFile file;
  replay::RingTarget ring(file.path(), {}, ignore);
  ring.trigger();
  replay::Mark mark;
  for (const char content : {'h', 'b'}) {
    ring.take(mark, {std::string(replay::mark_size + 1, content), 1});
    ++mark.sequence;
  }
  ring.end();
  std::string first(2, ' ');
  CHECK(::pread(file.copy().get(), first.data(), 1, 0) == 1);
  CHECK(::pread(file.copy().get(), first.data() + 1, 1, replay::mark_size + 1) == 1);
  CHECK(first == "hb");
}

TEST_CASE("A seek table that claims more than can be is not read") {
  const std::string honest = replay::seek_table(std::string(16, 'e'));
  std::string footer = honest.substr(honest.size() - replay::seek_table_footer);
  CHECK(replay::seek_table_size(footer) == honest.size());
  footer.replace(0, 4, "\xff\xff\xff\xff");
  CHECK_FALSE(replay::seek_table_size(footer));
}

TEST_CASE("Blocks of a file are found by its seek table, and without one by their marks") {
  const spec::Tables tables = spec::builtin_tables();
  const MemoryFile file;
  record_open(file, tables, Abi::x86_64, 257, 0200000);
  const auto blocks_of = [&file] {
    auto opened = replay::TraceFile::open(file.path());
    REQUIRE(opened.ok());
    replay::TraceFile& trace = *opened.value();
    std::vector<std::string> blocks;
    for (const replay::BlockPlace& place : trace.places()) {
      blocks.emplace_back(trace.at(place));
    }
    // Sequential reading gives the same.
    auto again = replay::TraceFile::open(file.path());
    REQUIRE(again.ok());
    CHECK(blocks.at(0) == again.value()->next([](const replay::Mark&) { return true; }));
    return std::pair(blocks, trace.is_whole());
  };
  const auto whole = blocks_of();
  REQUIRE(whole.first.size() == 1);
  CHECK_FALSE(whole.first[0].empty());
  CHECK(whole.second);
  const UniqueFd fd = file.copy();
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  SECTION("the last byte of the table is missing") {
    REQUIRE(::ftruncate(fd.get(), size - 1) == 0);
    const auto cut = blocks_of();
    CHECK(cut.first == whole.first);
    CHECK_FALSE(cut.second);
  }
  SECTION("the table is of another file") {
    const char more = 'x';
    REQUIRE(::pwrite(fd.get(), &more, 1, size - 12) == 1);  // in the size of the last block
    CHECK(blocks_of().first == whole.first);
  }
}
