// The main function of all tests. A program in which tests were skipped and none failed ends with status 77, which says
// so to ctest (SKIP_RETURN_CODE) and to the lanes in other machines; its last lines say why.
#define CATCH_CONFIG_RUNNER
#include <iostream>
#include <utility>
#include <vector>

#include "skip.h"

namespace {

constexpr int skipped_status = 77;

#ifdef TRACER_OWN_SKIP

/// Why tests were skipped.
std::vector<std::string>& reasons() {
  static std::vector<std::string> all;
  return all;
}

bool all_skipped(int status) {
  for (const std::string& reason : reasons()) {
    std::cout << "skipped: " << reason << '\n';
  }
  return status == 0 && !reasons().empty();
}

#else

/// Catch2's reporter has given the reasons.
bool all_skipped(int status) {
  return status == 4;
}

#endif

}  // namespace

#ifdef TRACER_OWN_SKIP
void tracer::test::skip(std::string reason) {
  reasons().push_back(std::move(reason));
  throw Catch::TestFailureException();  // Catch2 2 takes it for the end of the test, and counts only what failed
                                        // before.
}
#endif

int main(int count, char** arguments) {
  const int status = Catch::Session().run(count, arguments);
  return all_skipped(status) ? skipped_status : status;
}
