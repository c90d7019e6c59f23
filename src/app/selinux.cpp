#include "app/selinux.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#ifdef TRACER_SELINUX
#include <selinux/label.h>
#include <selinux/selinux.h>

#include "base/shared_library.h"
#endif

namespace tracer::app {
namespace {

/// SELinux is enabled if selinuxfs is mounted.
bool selinux_is_on() {
  return ::access("/sys/fs/selinux/enforce", F_OK) == 0;
}

#ifdef TRACER_SELINUX

/// The functions of the library that the tracer uses.
struct Library {
  decltype(&::getfilecon) getfilecon = nullptr;
  decltype(&::getpidcon) getpidcon = nullptr;
  decltype(&::freecon) freecon = nullptr;
  decltype(&::selabel_open) selabel_open = nullptr;
  decltype(&::selabel_lookup) selabel_lookup = nullptr;
  decltype(&::selabel_close) selabel_close = nullptr;

  void find_in(SharedLibrary& library) {
    library.find(getfilecon, "getfilecon");
    library.find(getpidcon, "getpidcon");
    library.find(freecon, "freecon");
    library.find(selabel_open, "selabel_open");
    library.find(selabel_lookup, "selabel_lookup");
    library.find(selabel_close, "selabel_close");
  }
};

class SelinuxContexts final : public names::ContextSource {
 public:
  explicit SelinuxContexts(Library library) : library_(library) {}
  ~SelinuxContexts() override {
    if (database_ != nullptr) {
      library_.selabel_close(database_);
    }
  }
  SelinuxContexts(const SelinuxContexts&) = delete;
  SelinuxContexts& operator=(const SelinuxContexts&) = delete;

  std::optional<std::string> of_file(const std::string& path) override {
    char* context = nullptr;
    const int done = library_.getfilecon(path.c_str(), &context);
    return taken(done, context);
  }

  std::optional<std::string> of_process(pid_t pid) override {
    char* context = nullptr;
    const int done = library_.getpidcon(pid, &context);
    return taken(done, context);
  }

  std::optional<std::string> recorded(const std::string& path, mode_t mode) override {
    if (!database_asked_) {
      database_asked_ = true;
      database_ = library_.selabel_open(SELABEL_CTX_FILE, nullptr, 0);
    }
    char* context = nullptr;
    const int done =
        database_ == nullptr ? -1 : library_.selabel_lookup(database_, &context, path.c_str(), static_cast<int>(mode));
    return taken(done, context);
  }

 private:
  std::optional<std::string> taken(int result, char* context) {
    if (result < 0 || context == nullptr) {
      return std::nullopt;
    }
    std::string text(context);
    library_.freecon(context);
    return text;
  }

  Library library_;
  selabel_handle* database_ = nullptr;
  bool database_asked_ = false;
};

Result<std::unique_ptr<names::ContextSource>> open_library() {
  SharedLibrary loaded("libselinux.so.1", "libselinux1");
  Library library;
  library.find_in(loaded);
  if (const Status& status = loaded.status(); !status) {
    return Error{status.error().number,
                 fmt::format("--secontext: {}, or leave the option out", status.error().message)};
  }
  return std::unique_ptr<names::ContextSource>(std::make_unique<SelinuxContexts>(library));
}

#else

Result<std::unique_ptr<names::ContextSource>> open_library() {
  return Error{ENOTSUP, "--secontext: this build cannot show SELinux contexts; leave the option out"};
}

#endif

}  // namespace

Result<std::unique_ptr<names::ContextSource>> open_selinux() {
  return selinux_is_on() ? open_library() : std::unique_ptr<names::ContextSource>();
}

}  // namespace tracer::app
