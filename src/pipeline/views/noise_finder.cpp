#include "pipeline/views/noise_finder.h"

#include "pipeline/named_arguments.h"

namespace tracer::pipeline::views {

namespace {

constexpr std::size_t longest_path = 4096;  // PATH_MAX

}  // namespace

NoisyResult noisy_result(const decode::Outcome& outcome) {
  return {outcome.value, outcome.is_error ? static_cast<int>(-outcome.value) : 0};
}

bool is_plain(const CallEnd& end) {
  return end.stack.empty() && !end.tampered.arguments && !end.tampered.result && !end.tampered.delayed &&
         end.duration < longest_noise;
}

std::string NoiseFinder::read_path(RemoteAddr address, const trace::Memory& memory) {
  std::array<std::byte, longest_path> raw;
  const std::size_t got = memory.read(address, raw);
  const std::string_view bytes(reinterpret_cast<const char*>(raw.data()), got);
  const auto end = bytes.find('\0');
  return std::string(bytes.substr(0, end == std::string_view::npos ? 0 : end));
}

void NoiseFinder::call_begins(const Thread& thread, const trace::Memory& memory) {
  NoisyCall& call = threads_[thread.tid].call;
  call.name = decoder_.name_of(*thread.state);
  call.path.clear();
  call.fd.reset();
  call.first_argument = decode::Decoder::arguments_of(*thread.state)[0];
  const spec::Signature* signature = decode::Decoder::signature_of(*thread.state);
  if (signature == nullptr) {
    return;
  }
  visit_named_arguments(
      tables_, *signature, thread.call.entry.abi, decode::Decoder::arguments_of(*thread.state),
      [&](std::int32_t fd, spec::Style) { call.fd = call.fd.value_or(fd); },
      [&](RemoteAddr path) {
        if (call.path.empty()) {
          call.path = read_path(path, memory);
        }
      });
}

const FoldRule* NoiseFinder::find(const Thread& thread, const std::optional<NoisyResult>& result, bool within) {
  const Calls& calls = threads_[thread.tid];
  return find_noise(calls.call, result, within, files_[thread.tgid], calls.shown);
}

void NoiseFinder::call_ends(const Thread& thread, const NoisyResult& result, const FoldRule* rule, bool folded) {
  Calls& calls = threads_[thread.tid];
  NoisyFiles& files = files_[thread.tgid];
  if (!folded) {
    calls.shown.add(calls.call, result);
  }
  if (calls.call.name == "close" && calls.call.fd) {
    files.remove(*calls.call.fd);
    calls.shown.remove(*calls.call.fd);
  } else if (calls.call.name.starts_with("open") && result.error == 0) {
    const auto fd = static_cast<std::int32_t>(result.value);
    if (rule != nullptr && rule->by == FoldRule::By::path) {
      files.add(fd, *rule);
    } else {
      files.remove(fd);
    }
    calls.shown.remove(fd);
  }
}

void NoiseFinder::thread_goes(const Thread& thread) {
  threads_.erase(thread.tid);
  if (thread.gone && thread.tid == thread.tgid) {
    files_.erase(thread.tgid);
  }
}

void NoiseFinder::fork(const Thread& thread, const trace::Fork& fork) {
  if (!fork.is_thread) {
    files_[fork.child] = files_[thread.tgid];
  }
}

void NoiseFinder::exec(const Thread& thread) {
  files_.erase(thread.tgid);  // what the loader and libraries open is closed by execve
}

void NoiseFinder::superseded(const Thread& leader, const Thread& former) {
  threads_[leader.tid].call = threads_[former.tid].call;
}

}  // namespace tracer::pipeline::views
