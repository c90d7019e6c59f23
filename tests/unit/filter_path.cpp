// -P: paths as given, as resolved, and as descriptors link to them.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "filter/path.h"

using tracer::filter::PathSet;

TEST_CASE("a path counts as given and as resolved") {
  std::string folder = std::filesystem::temp_directory_path() / "filter_pathXXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  folder = std::filesystem::canonical(folder);
  std::ofstream(folder + "/file") << "x";
  std::filesystem::create_symlink(folder + "/file", folder + "/link");

  PathSet set;
  CHECK(set.empty());
  CHECK(set.add(folder + "/file").empty());
  CHECK(set.add(folder + "/link") == "Requested path \"" + folder + "/link\" resolved into \"" + folder + "/file\"");
  CHECK(set.add("/no/such/file").empty());
  CHECK(set.has(folder + "/link"));
  CHECK(set.has(folder + "/file"));
  CHECK(set.has("/no/such/file"));
  CHECK_FALSE(set.has(folder + "/fil"));
  CHECK_FALSE(set.has(folder + "/./file"));
  CHECK(set.has_link(folder + "/file (deleted)"));
  CHECK_FALSE(set.has(folder + "/file (deleted)"));
  CHECK(set.longest() == (folder + "/file").size());
  std::filesystem::create_symlink(folder + "/a\nb", folder + "/c\nd");
  std::ofstream(folder + "/a\nb") << "x";
  CHECK(set.add(folder + "/c\nd") ==
        "Requested path \"" + folder + "/c\\012d\" resolved into \"" + folder + "/a\\012b\"");
  CHECK(set.has(folder + "/a\nb"));
  std::filesystem::remove_all(folder);
}
