# Packages of Debian 12 and newer. The Makefile installs what is missing.

# The major version of Debian's gcc, which stands in the names of some packages. It is known once gcc is installed, so
# what uses it is expanded in recipes only, behind build-packages.
gcc_version = $(shell gcc -dumpversion | cut -d. -f1)

# To build the program. (clang and libbpf are for the BPF engine, ncurses' terminfo tells which terminals have colours,
# Zydis reads the instructions under breakpoints, Jansson recorded JSON, zstd packs trace files.)
build_packages := g++ cmake ninja-build pkg-config clang libbpf-dev libncurses-dev \
                  libelf-dev libdw-dev libbz2-dev libiberty-dev liblzma-dev libunwind-dev libfmt-dev libzydis-dev libjansson-dev zlib1g-dev libzstd-dev libselinux1-dev libsqlite3-dev

# To build and run the tests: what keeps objects for the next build, their framework, the tracers that we compare with,
# programs that we trace, 32-bit programs, other compilers and linkers, a server whose port is taken, a program that runs
# strace and reads its text, and what makes the strace of Debian testing (tests/peers) find its libraries. (Tests of postgres and sshd run where these are installed.
# They are not installed for that: openssh-server opens the machine to logins, postgresql-15 makes a data base cluster and
# serves it.)
test_packages = $(build_packages) ccache catch2 strace gdb xz-utils bpftool python3 perl git sqlite3 curl openssh-client tmux mandoc \
                 bubblewrap crun patchelf gcc-$(gcc_version)-multilib g++-$(gcc_version)-multilib musl-tools zsh fish lld ltrace systemtap-sdt-dev nginx-light python3-doit protobuf-compiler graphviz tshark python3-pyte iproute2

# For the build with the other compiler, and for the checks of the source. Those are pinned to Debian 12's version, so
# that a source that one release accepts is accepted by all.
clang_packages := $(build_packages) ccache catch2
lint_packages := $(clang_packages) clang-format-14 clang-tidy-14 libclang-rt-14-dev

# To measure beside them (make bench-kernel).
bench_packages = $(test_packages) bpftrace linux-perf trace-cmd make

# To make Debian packages: what finds out which libraries a program needs.
deb_packages = $(build_packages) dpkg-dev file

# To make a static program for aarch64 on another machine; the emulator runs what writes its manual.
cross_packages := $(build_packages) g++-aarch64-linux-gnu qemu-user

# To make a release and to check it (make test-release).
release_packages = $(deb_packages) $(cross_packages) git lintian

# To try the static program (make test-static).
static_packages = $(build_packages) busybox-static

# To build and test for aarch64 on another machine (tests/arm64/run). The packages of the guest's root are in
# tests/machines/system.py.
guest_packages := $(build_packages) catch2 python3 cpio e2fsprogs
arm64_packages := $(guest_packages) $(cross_packages) gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-system-arm patchelf

# To run the tests on other kernels (tests/kernels/run).
kernels_packages = $(guest_packages) gcc-$(gcc_version)-multilib qemu-system-x86

# To try the README's commands on other releases of Debian (tests/releases/run).
releases_packages := debootstrap git
