#include "replay/block_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/write_all.h"

namespace tracer::replay {

// ---------------------------------------------------------------------------------------------- packing

struct Packer::Context {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> zstd{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

Packer::Packer() : context_(std::make_unique<Context>()) {
  if (ZSTD_CCtx* zstd = context_->zstd.get(); zstd != nullptr) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
  }
}

Packer::~Packer() = default;

PackedBlock Packer::pack(Mark mark, std::string_view block) {
  PackedBlock packed;
  packed.size = static_cast<std::uint32_t>(block.size());
  const std::size_t most = ZSTD_compressBound(block.size());
  packed.bytes.resize(mark_size + most);
  const std::size_t size =
      context_->zstd == nullptr
          ? 0
          : ZSTD_compress2(context_->zstd.get(), packed.bytes.data() + mark_size, most, block.data(), block.size());
  packed.bytes.resize(mark_size + (ZSTD_isError(size) != 0 ? 0 : size));
  mark.packed_size = static_cast<std::uint32_t>(packed.bytes.size() - mark_size);
  const auto bytes = encode(mark, std::string_view(packed.bytes).substr(mark_size));
  packed.bytes.replace(0, bytes.size(), bytes.data(), bytes.size());
  return packed;
}

// ---------------------------------------------------------------------------------------------- writing

Result<UniqueFd> open_for_recording(const std::string& path) {
  constexpr mode_t owner_only = 0600;  // there may be secrets in what a program reads and writes
  UniqueFd file(path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                            : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner_only));
  struct stat status;
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    return Error{errno, path + ": " + std::strerror(errno)};
  }
  if (path != "-" && S_ISREG(status.st_mode)) {
    static_cast<void>(::fchmod(file.get(), owner_only));  // another's file keeps its mode
  }
  return file;
}

BlockWriter::BlockWriter(UniqueFd file, std::string name, Complain complain)
    : file_(std::move(file)), name_(std::move(name)), complain_(std::move(complain)) {}

BlockWriter::~BlockWriter() {
  if (running_) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    ::pthread_join(thread_, nullptr);
  }
}

void BlockWriter::write(const Mark& mark, std::string& block) {
  std::unique_lock lock(mutex_);
  if (!running_) {
    // Signals are for the thread that traces. EPIPE and EFBIG come without a signal where it is blocked.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = ::pthread_create(&thread_, nullptr, &BlockWriter::run, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    running_ = error == 0;
    if (!running_) {
      if (!std::exchange(broken_, true)) {
        complain_(name_ + ": " + std::strerror(error));
      }
      block.clear();
      return;
    }
  }
  changed_.wait(lock, [this] { return waiting_.size() < most_waiting; });
  waiting_.push_back({mark, std::move(block)});
  block.clear();
  if (!spare_.empty()) {
    block = std::move(spare_.back());
    spare_.pop_back();
    block.clear();
  }
  lock.unlock();
  changed_.notify_all();
}

void* BlockWriter::run(void* writer) {
  static_cast<BlockWriter*>(writer)->work();
  return nullptr;
}

void BlockWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      break;
    }
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    write_block(job);
    lock.lock();
    spare_.push_back(std::move(job.block));
  }
  write_out(seek_table(frames_));
}

void BlockWriter::write_block(const Job& job) {
  const PackedBlock packed = packer_.pack(job.mark, job.block);
  append(frames_, {static_cast<std::uint32_t>(mark_size), 0});
  append(frames_, {static_cast<std::uint32_t>(packed.bytes.size() - mark_size), packed.size});
  write_out(packed.bytes);
}

void BlockWriter::write_out(std::string_view bytes) {
  if (broken_) {
    return;
  }
  if (const int why = write_all(file_.get(), bytes); why != 0) {
    broken_ = true;
    complain_(name_ + ": " + std::strerror(why) + "; the rest is not recorded");
  }
}

}  // namespace tracer::replay
