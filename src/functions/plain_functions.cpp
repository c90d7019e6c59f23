#include "functions/plain_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tracer::functions {

bool returns_plainly(const trace::LibraryFunction& function) {
  using namespace std::string_view_literals;
  constexpr auto names = std::to_array<std::string_view>({
      "abs",         "atoi",           "atol",       "atoll",      "basename",  "bcmp",           "bzero",
      "calloc",      "clearerr",       "close",      "ctime",      "difftime",  "dirname",        "dup",
      "dup2",        "explicit_bzero", "fclose",     "feof",       "ferror",    "fflush",         "fgetc",
      "fgets",       "fileno",         "fopen",      "fputc",      "fputs",     "fread",          "free",
      "fseek",       "fseeko",         "fstat",      "ftell",      "ftello",    "fwrite",         "getc",
      "getchar",     "getcwd",         "getdelim",   "getegid",    "getenv",    "geteuid",        "getgid",
      "getline",     "getpid",         "getppid",    "getuid",     "gmtime",    "gmtime_r",       "htonl",
      "htons",       "inet_addr",      "inet_ntoa",  "inet_ntop",  "inet_pton", "isalnum",        "isalpha",
      "isatty",      "iscntrl",        "isdigit",    "isgraph",    "islower",   "isprint",        "ispunct",
      "isspace",     "isupper",        "isxdigit",   "kill",       "labs",      "llabs",          "localtime",
      "localtime_r", "lseek",          "lstat",      "malloc",     "memccpy",   "memchr",         "memcmp",
      "memcpy",      "memmem",         "memmove",    "mempcpy",    "memrchr",   "memset",         "mkdir",
      "mktime",      "ntohl",          "ntohs",      "perror",     "pipe",      "posix_memalign", "putc",
      "putchar",     "putenv",         "puts",       "rand",       "rand_r",    "read",           "realloc",
      "remove",      "rename",         "rewind",     "rmdir",      "setenv",    "srand",          "stat",
      "stpcpy",      "stpncpy",        "strcasecmp", "strcasestr", "strcat",    "strchr",         "strchrnul",
      "strcmp",      "strcoll",        "strcpy",     "strcspn",    "strdup",    "strerror",       "strftime",
      "strlen",      "strncasecmp",    "strncat",    "strncmp",    "strncpy",   "strndup",        "strnlen",
      "strpbrk",     "strrchr",        "strsep",     "strspn",     "strstr",    "strtok",         "strtok_r",
      "strtol",      "strtoll",        "strtoul",    "strtoull",   "strxfrm",   "symlink",        "time",
      "toascii",     "tolower",        "toupper",    "umask",      "ungetc",    "unlink",         "unsetenv",
      "wcscat",      "wcschr",         "wcscmp",     "wcscpy",     "wcslen",    "wcsncmp",        "wcsncpy",
      "wcsrchr",     "write",
  });
  static_assert(std::is_sorted(names.begin(), names.end()));
  return function.library.starts_with("libc.so."sv) && std::binary_search(names.begin(), names.end(), function.name);
}

}  // namespace tracer::functions
