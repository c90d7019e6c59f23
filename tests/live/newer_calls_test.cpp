// Calls that strace 6.1 does not know, answered by the kernel that is there.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

TEST_CASE("calls newer than strace's show what they were asked and what the kernel has answered") {
  const Ran ran =
      run("unshare -m true || exit 77; exec unshare -m sh -c 'mount -t tmpfs none /mnt || exit 77; exec '$T' -a1 -e "
          "\"trace=/"
          "^(statmount|listmount|.*xattrat|file_[gs]etattr|open_tree_attr|mseal|cachestat|fchmodat2|futex_wake|lsm_.*)$"
          "\" " NEWER_CALLS "'");
  if (WEXITSTATUS(ran.status) == 77) {
    SKIP("no mount namespace can be made");
  }
  struct Expected {
    std::string call;
    std::string middle;
    std::string end;
  };
  const std::vector<Expected> all = {
      {"listmount", "({size=24, mnt_ns_fd=0, mnt_id=LSMT_ROOT, param=0}, [0x", "], 512, 0) = "},
      {"statmount", "param=STATMOUNT_MNT_BASIC|STATMOUNT_MNT_POINT|STATMOUNT_FS_TYPE}, {size=", "mnt_point=\"/"},
      {"setxattrat", "\"trusted.group\", {value=\"staff\", size=5, flags=XATTR_CREATE}, 16) = 0", ""},
      {"getxattrat", "\"trusted.group\", {value=\"staff\", size=16, flags=0}, 16) = 5", ""},
      {"listxattrat", "(AT_FDCWD, \"/mnt/file\", 0, \"", "trusted.group\\0"},
      {"removexattrat", "(AT_FDCWD, \"/mnt/file\", 0, \"trusted.group\") = 0", ""},
      {"file_getattr", "(AT_FDCWD, \"/mnt/file\", {fa_xflags=0, fa_extsize=0, fa_nextents=0, ", "}, 24, 0) = 0"},
      {"file_setattr", "(AT_FDCWD, \"/mnt/file\", {fa_xflags=FS_XFLAG_NOATIME, ", "}, 24, 0) = 0"},
      {"open_tree_attr", "(AT_FDCWD, \"/mnt\", OPEN_TREE_CLONE, {attr_set=MOUNT_ATTR_RDONLY, attr_clr=0, ",
       "}, 32) = "},
      {"mseal", "(0x20000000, 4096, 0) = 0", ""},
      {"cachestat", ", {off=0, len=4096}, {nr_cache=1, ", "}, 0) = 0"},
      {"fchmodat2", "(AT_FDCWD, \"/mnt/file\", 0640, AT_SYMLINK_NOFOLLOW) = 0", ""},
      {"futex_wake", ", 0x1, 1, FUTEX2_SIZE_U32|FUTEX2_PRIVATE) = 0", ""},
      {"lsm_list_modules", "(", "], [4096"},
  };
  for (const Expected& expected : all) {
    INFO(expected.call);
    const auto line = std::find_if(ran.lines.begin(), ran.lines.end(),
                                   [&](const std::string& text) { return text.starts_with(expected.call + '('); });
    REQUIRE(line != ran.lines.end());
    INFO(*line);
    // An older kernel has no such call, or its file system none.
    if (line->find(" ENOSYS ") == std::string::npos && line->find(" EOPNOTSUPP ") == std::string::npos) {
      const auto middle = line->find(expected.middle);
      REQUIRE(middle != std::string::npos);
      CHECK(line->find(expected.end, middle) != std::string::npos);
    }
  }
}

}  // namespace tracer::live
