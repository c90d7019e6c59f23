// The main function of all tests. A program in which tests were skipped and none failed ends with a status that says so
// to ctest (SKIP_RETURN_CODE, tests/CMakeLists.txt) and to the lanes in other machines; its last lines say why.
#define CATCH_CONFIG_RUNNER
#include <iostream>
#include <utility>
#include <vector>

#include "skip.h"

#ifdef TRACER_OWN_SKIP
namespace {

constexpr int skipped_status = 77;

/// Why tests were skipped.
std::vector<std::string>& reasons() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

void tracer::test::skip(std::string reason) {
  reasons().push_back(std::move(reason));
  throw Catch::TestFailureException();  // Catch2 2 takes it for the end of the test, and counts only what failed
                                        // before.
}
#endif

int main(int count, char** arguments) {
  const int status = Catch::Session().run(count, arguments);
#ifdef TRACER_OWN_SKIP
  for (const std::string& reason : reasons()) {
    std::cout << "skipped: " << reason << '\n';
  }
  return status == 0 && !reasons().empty() ? skipped_status : status;
#else
  return status;  // Catch2 3 has its own, and its reporter has given the reasons
#endif
}
