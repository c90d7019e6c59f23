// Hostile trace files: blocks of any events, with bytes changed, packed again so that their checksums are right, and
// replayed into a text view. Nothing may crash.
//
//   fuzz_replay SECONDS [SEED]
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "base/write_all.h"
#include "decoders/decoders.h"
#include "names/proc_names.h"
#include "pipeline/pipeline.h"
#include "pipeline/views/text.h"
#include "replay/block_writer.h"
#include "replay/event_writer.h"
#include "replay/replay_engine.h"

namespace {

using namespace tracer;
using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t count) {
  return random() % count;
}

class NoSink final : public pipeline::sink::Sink {
 public:
  void write(std::string_view) override {}
  void flush() override {}
};

trace::Event any_event(Random& random, const trace::LibraryFunction& function) {
  trace::Event event;
  event.tid = static_cast<pid_t>(1 + below(random, 3));
  event.tgid = static_cast<pid_t>(1 + below(random, 2));
  event.abi = static_cast<Abi>(below(random, abi_count));
  event.time.monotonic = std::chrono::nanoseconds(random() >> 20U);
  event.time.realtime = std::chrono::nanoseconds(random() >> 20U);
  switch (below(random, 12)) {
    case 0:
      event.what = trace::SyscallLost{};
      break;
    case 1:
      event.what = trace::Exec{static_cast<pid_t>(1 + below(random, 3)), std::nullopt};
      break;
    case 2:
      event.what = trace::Fork{static_cast<pid_t>(1 + below(random, 3)), below(random, 2) != 0};
      break;
    case 3:
      event.what = trace::Attached{"sample", false, 1};
      break;
    case 4:
      event.what = trace::Exited{static_cast<int>(below(random, 1U << 16U))};
      break;
    case 5: {
      trace::LibraryEnter enter;
      enter.function = &function;
      enter.call = below(random, 4);
      event.what = enter;
      break;
    }
    case 6: {
      trace::LibraryExit exit;
      exit.function = &function;
      exit.call = below(random, 4);
      event.what = exit;
      break;
    }
    case 7:
    case 8:
      event.what = trace::SyscallExit{};
      break;
    default: {
      trace::SyscallEnter enter;
      enter.number = below(random, 480);
      for (std::uint64_t& arg : enter.args) {
        arg = below(random, 2) != 0 ? 0x1000 : below(random, 8);
      }
      event.what = enter;
      break;
    }
  }
  return event;
}

replay::Facts any_facts(Random& random) {
  replay::Facts facts;
  std::string bytes(below(random, 64), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  facts.memory.add(0x1000, replay::bytes_of(bytes));
  if (below(random, 3) == 0) {
    replay::FileFact file;
    file.fd = static_cast<std::int32_t>(below(random, 8));
    trace::OpenFile open;
    open.link = "/tmp/x";
    open.socket.emplace().protocol = "TCP";
    file.file = std::make_shared<trace::OpenFile>(std::move(open));
    facts.files.push_back(file);
    facts.command = "name";
    facts.frames.resize(2);
    facts.processes.emplace_back(1, trace::TaskSnapshot::Process{});
    facts.names.push_back({});
    facts.registers.push_back({});
  }
  return facts;
}

void replay_file(const std::string& path, const spec::Tables& tables, bool facts) {
  auto file = replay::TraceFile::open(path);
  if (!file) {
    return;
  }
  const auto ignore = [](std::string_view) {};
  replay::ReplayOptions settings;
  settings.facts = facts;
  replay::ReplayEngine engine(std::move(file).value(), std::move(settings), tables, ignore);
  names::NameOptions wanted;
  wanted.paths = wanted.sockets = wanted.commands = true;
  names::ProcNames proc(wanted);
  const names::Names names{proc.names().descriptors, proc.names().processes, engine.kernel_facts()};
  const decode::Decoder decoder(tables, {}, names, decoders::all());
  pipeline::views::TextView view({}, tables, decoder, names, pipeline::Channels(std::make_unique<NoSink>()));
  pipeline::PipelineOptions options;
  options.stacks = &engine.stacks();
  pipeline::Pipeline pipeline(std::move(options), tables, decoder, names.descriptors, view, nullptr, ignore);
  static_cast<void>(engine.run(pipeline));
}

void change(std::string& bytes, Random& random) {
  for (std::uint64_t left = below(random, 8); left != 0 && !bytes.empty(); --left) {
    bytes[below(random, bytes.size())] = static_cast<char>(random());
  }
  if (below(random, 8) == 0) {
    bytes.resize(below(random, bytes.size() + 1));
  }
}

void round(const spec::Tables& tables, std::uint64_t seed) {
  Random random(seed);
  trace::LibraryFunction function;
  function.name = function.label = "f";
  replay::EventWriter writer(tables);
  for (std::uint64_t left = below(random, 40); left != 0; --left) {
    writer.write(any_event(random, function), any_facts(random));
  }
  std::string block;
  replay::Mark mark = writer.take(block);
  std::string head = encode(replay::Head{});
  change(block, random);
  if (below(random, 8) == 0) {
    change(head, random);
  }
  replay::Packer packer;
  std::string file = packer.pack({}, head).value().bytes;
  mark.sequence = 1;
  if (below(random, 8) == 0) {
    mark.events_size = static_cast<std::uint32_t>(below(random, block.size() + 1));
  }
  file += packer.pack(mark, block).value().bytes;
  if (below(random, 8) == 0) {
    change(file, random);
  }
  const UniqueFd memory(::memfd_create("trace", MFD_CLOEXEC));
  static_cast<void>(write_all(memory.get(), file));
  for (const bool facts : {true, false}) {
    replay_file("/proc/self/fd/" + std::to_string(memory.get()), tables, facts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto seconds = std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 5);
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const spec::Tables tables = spec::builtin_tables();
  std::uint64_t rounds = 0;
  for (const auto end = std::chrono::steady_clock::now() + seconds; std::chrono::steady_clock::now() < end; ++rounds) {
    round(tables, seed + rounds);
  }
  std::printf("%llu files\n", static_cast<unsigned long long>(rounds));
  return rounds == 0 ? 1 : 0;
}
