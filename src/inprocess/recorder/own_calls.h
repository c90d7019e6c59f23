// The calls that the recorder makes on its own account, in the process that it runs in.
#pragma once

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer::inprocess::recorder {

extern "C" std::int64_t own_call(std::uint64_t number, std::uint64_t first, std::uint64_t second, const void* third,
                                 void* fourth, std::uint64_t fifth);

// Values of the calls that the recorder makes on its own account.
inline constexpr std::uint64_t invalid_how = 99;
inline constexpr std::int64_t fault = -14;            // -EFAULT
inline constexpr std::uint64_t get_name = 16;         // PR_GET_NAME
inline constexpr std::uint64_t statx_flags = 0x5000;  // AT_EMPTY_PATH | AT_STATX_DONT_SYNC
inline constexpr std::uint64_t statx_type = 0x1;
inline constexpr std::uint64_t statx_links = 0x4;
inline constexpr std::uint64_t statx_inode = 0x100;
inline constexpr std::uint64_t statx_path_flags = 0x4900;  // AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC
inline constexpr std::int32_t current_directory = -100;    // AT_FDCWD
inline constexpr std::uint64_t terminal_request = 0x80045430;  // TIOCGPTN
inline constexpr std::uint64_t level_socket = 1;               // SOL_SOCKET
inline constexpr std::uint64_t protocol_option = 38;
inline constexpr std::uint64_t domain_option = 39;
inline constexpr std::uint32_t netlink_domain = 16;

/// The status of a descriptor's file as the kernel has it cached; false if there is none.
inline bool known_status(std::uint32_t descriptor, std::uint64_t wanted, struct statx& status) {
  return own_call(SYS_statx, descriptor, reinterpret_cast<std::uint64_t>(""),
                  reinterpret_cast<const void*>(statx_flags), reinterpret_cast<void*>(wanted),
                  reinterpret_cast<std::uint64_t>(&status)) == 0;
}

/// Whether the file is on a file system on which a lookup cannot block, as for the tracer (names/open_files.cpp).
inline bool has_harmless_names(std::uint32_t descriptor) {
  constexpr std::uint64_t harmless[] = {0xef53, 0x01021994, 0x9123683e, 0x58465342, 0x794c7630};
  std::uint64_t status[15];  // struct statfs; the first member is the type
  bool found = false;
  if (own_call(SYS_fstatfs, descriptor, reinterpret_cast<std::uint64_t>(status), nullptr, nullptr, 0) == 0) {
    for (const std::uint64_t type : harmless) {
      found = found || type == status[0];
    }
  }
  return found;
}

/// Whether the descriptor's file has this name now.
inline bool is_name_of(std::uint32_t descriptor, const char* path) {
  struct statx file;
  struct statx named;
  return has_harmless_names(descriptor) && known_status(descriptor, statx_inode, file) &&
         own_call(SYS_statx, static_cast<std::uint64_t>(current_directory), reinterpret_cast<std::uint64_t>(path),
                  reinterpret_cast<const void*>(statx_path_flags), reinterpret_cast<void*>(statx_inode),
                  reinterpret_cast<std::uint64_t>(&named)) == 0 &&
         file.stx_ino == named.stx_ino && file.stx_dev_major == named.stx_dev_major &&
         file.stx_dev_minor == named.stx_dev_minor;
}

/// Reads what a link says; 0 if nobody can say.
inline std::size_t read_link(const char* path, std::byte* into, std::size_t room) {
  const std::int64_t size = own_call(SYS_readlinkat, static_cast<std::uint64_t>(current_directory),
                                     reinterpret_cast<std::uint64_t>(path), into, reinterpret_cast<void*>(room), 0);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

/// The same of the link to the current directory, where the kernel has a quicker way for those that have a path.
inline std::size_t read_current_directory(std::byte* into, std::size_t room) {
  const std::int64_t size = own_call(SYS_getcwd, reinterpret_cast<std::uint64_t>(into), room, nullptr, nullptr, 0);
  return size > 1 && into[0] == std::byte{'/'} ? static_cast<std::size_t>(size - 1)
                                               : read_link("/proc/thread-self/cwd", into, room);
}

/// The path of a descriptor's link.
class LinkPath {
 public:
  explicit LinkPath(std::uint32_t descriptor) {
    using namespace std::string_view_literals;
    append("/proc/thread-self/fd/"sv);
    append_number(descriptor);
  }
  [[nodiscard]] const char* text() const { return text_; }

 private:
  void append(std::string_view part) {
    for (const char c : part) {
      text_[size_++] = c;
    }
    text_[size_] = 0;
  }
  void append_number(std::uint32_t number) {
    std::uint32_t unit = 1;
    while (number / unit >= 10) {
      unit *= 10;
    }
    for (; unit != 0; unit /= 10) {
      text_[size_++] = static_cast<char>('0' + number / unit % 10);
    }
    text_[size_] = 0;
  }

  char text_[40];
  std::size_t size_ = 0;
};

/// The alternate signal stack of the thread; false if nobody can say.
inline bool known_signal_stack(stack_t& stack) {
  return own_call(SYS_sigaltstack, 0, reinterpret_cast<std::uint64_t>(&stack), nullptr, nullptr, 0) == 0;
}

}  // namespace tracer::inprocess::recorder
