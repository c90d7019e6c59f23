// --format=pcapng: what calls send and receive through sockets.
#pragma once

#include <string>
#include <unordered_map>

#include "decode/decoder.h"
#include "names/open_files.h"
#include "pipeline/channels.h"
#include "pipeline/data_calls.h"
#include "pipeline/exports/pcapng.h"
#include "pipeline/fd_finder.h"
#include "pipeline/view.h"

namespace tracer::pipeline::views {

class PacketsView final : public View {
 public:
  PacketsView(const decode::Decoder& decoder, names::ProcessNames& names, Channels channels);

  void thread_appears(Thread& thread, const Moment&) override { channels_.assign(thread); }
  void thread_goes(Thread& thread) override { channels_.release(thread); }
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void exec(Thread& thread, const Moment&) override { thread.command.clear(); }
  void flush() override;

 private:
  struct Ignore {
    void operator()(std::int32_t /*fd*/) const {}
  };
  /// The ends of a socket, as its process sees them.
  struct Ends {
    bool is_stream = true;
    trace::SocketEndpoint here;
    trace::SocketEndpoint there;
  };

  static constexpr std::size_t most_peers = 100'000;

  [[nodiscard]] std::optional<Ends> ends_of(const names::Task& task, std::int32_t fd);

  [[nodiscard]] static Ends ends_of_tls(pid_t process, std::uint64_t connection);

  const decode::Decoder& decoder_;
  names::ProcessNames& names_;
  names::OpenFiles files_;
  Channels channels_;
  exports::Pcapng packets_;
  FdFinder<Ignore> nothing_{Ignore{}};
  std::string payload_;
  std::unordered_map<std::uint64_t, std::uint64_t> peers_;  ///< inodes of unix sockets and of their other ends
};

}  // namespace tracer::pipeline::views
