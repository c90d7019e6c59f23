# Debian 12 packages. The Makefile installs what is missing.

# To build the program. (Catch2 is here because configuring looks for it; ccache only makes rebuilding quicker.)
build_packages := g++ cmake ninja-build pkg-config ccache catch2

# To run the tests: the tracer that we compare with, programs that we trace, 32-bit programs, the other compiler.
test_packages := $(build_packages) strace python3 perl git sqlite3 curl openssh-client tmux mandoc \
                 gcc-12-multilib g++-12-multilib

# For the checks of the source and the build with the other compiler.
lint_packages := $(build_packages) clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
