# On a fresh Debian 12 or newer:
#   make run ARGS='-e openat ls'    builds the program and runs it
#   make test                       builds everything and runs the tests
# Missing Debian packages (packages.mk) are installed first: as root, or with sudo.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

include packages.mk

ARGS ?= --help
PREFIX ?= /usr/local
# Whether warnings are errors: .ci/run turns it on.
WERROR ?= OFF
# More options for CMake, where a build directory is made.
CMAKE_OPTIONS ?=
PYTHON := /usr/bin/python3
jobs := $(shell nproc)
version = $(shell sed -n 's/.*tracer VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
sources = find src tests -name '*.cpp' -o -name '*.h' -o -name '*.c'

# For archives that are equal when they are built twice. In the archive of the sources, all files have the commit's time.
epoch = SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$( \
  [[ -e $(CURDIR)/.git ]] && git -C $(CURDIR) log -1 --format=%ct || stat -c %Y $(CURDIR)/CHANGELOG.md)}
# $(call pack,DIRECTORY): the packages of what is built there, in its directory packages.
pack = rm -rf $(1)/packages; cd $(1); umask 022; $(epoch) cpack
release := build-release

# $(call configure,DIRECTORY,OPTIONS): where that has not been done with this WERROR. CMake itself notices later changes.
configure = @grep -qsx TRACER_WERROR:BOOL=$(WERROR) $(1)/CMakeCache.txt && [[ -e $(1)/build.ninja ]] || \
  cmake -S . -B $(1) -G Ninja -DTRACER_WERROR=$(WERROR) $(2) $(CMAKE_OPTIONS)
# $(call build_tests,DIRECTORY): builds everything; the directory may have been configured before Catch2 was installed.
build_tests = @[[ -e $(1)/tests/unit/CTestTestfile.cmake ]] || cmake $(1); cmake --build $(1); $(say_time)
# The seconds of the recipe's line so far, unless there was nothing to do.
say_time = ((SECONDS < 3)) || echo "Built in $$SECONDS s" >&2
run_tests = ctest --test-dir $(1) --output-on-failure --no-tests=error -j$(jobs)

# $(call install_missing,PACKAGES): one dpkg-query and no more when nothing is missing. Others may provide a package by its
# old name.
define install_missing
@command -v dpkg-query >/dev/null || { echo 'Not a Debian system: install by hand what is missing of: $(1)' >&2; exit 0; }; \
missing=$$(comm -13 \
  <(dpkg-query -W -f='$${Status}, $${Package}, $${Provides}\n' | sed -n 's/^install ok installed, //p' | tr -s ', ' '\n\n' | sort -u) \
  <(printf '%s\n' $(1) | sort -u)); \
[[ -z $$missing ]] && exit 0; \
if [[ $$(id -u) == 0 ]]; then as_root=; \
elif command -v sudo >/dev/null; then as_root=sudo; \
else echo "These packages are missing, and installing them takes root or sudo:" $$missing >&2; exit 1; fi; \
echo "Installing" $$missing >&2; \
$$as_root apt-get update -q >&2; \
$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing >&2
endef

.PHONY: FORCE all run tests test sanitize fuzz clang lint format tidy bench bench-kernel bench-functions bench-recording compat probe install deb tarball tarball-arm64 binaries dist release \
        clean test-arm64 test-kernels test-release test-releases test-static build-packages test-packages bench-packages deb-packages static-packages clang-packages \
        lint-packages cross-packages release-packages arm64-packages kernels-packages releases-packages

all: build-packages build/build.ninja
	cmake --build build

run: build-packages build/build.ninja
	@cmake --build build --target tracer >&2; $(say_time)
	@build/tracer $(ARGS)

tests: test-packages build/build.ninja
	$(call build_tests,build)

test: tests
	$(call run_tests,build)

sanitize: test-packages build-asan/build.ninja
	$(call build_tests,build-asan)
	$(call run_tests,build-asan)

FUZZ_SECONDS ?= 600
fuzz: test-packages build-asan/build.ninja
	cmake --build build-asan --target fuzz_decoder fuzz_functions fuzz_records fuzz_replay fuzz_ring fuzz_stack inlined
	tests/fuzz/run build-asan $(FUZZ_SECONDS)

clang: clang-packages build-clang/build.ninja
	$(call build_tests,build-clang)

lint: format tidy

format: lint-packages
	$(sources) | xargs clang-format-14 --dry-run -Werror

# What the sources include from generated files has to exist: hence after the build. Those of another architecture cannot
# be read without its headers.
tidy: lint-packages clang
	.ci/tidy build-clang

bench: tests
	$(PYTHON) tests/bench/bench.py --ours build/tracer $(ARGS_BENCH)

bench-kernel: bench-packages tests
	$(PYTHON) tests/bench/kernel.py --ours build/tracer $(ARGS_BENCH)

bench-functions: bench-packages all
	$(PYTHON) tests/bench/functions.py --ours build/tracer $(ARGS_BENCH)

bench-recording: bench-packages all
	$(PYTHON) tests/bench/recording.py --ours build/tracer $(ARGS_BENCH)

probe: tests
	$(PYTHON) tests/compat/probe/probe.py --ours build/tracer --make-plan build/make_plan $(ARGS_PROBE)

# Each of these may lack what it needs here, an emulator for example: then it says so, with status 77.
test-releases:
	@$(MAKE) --no-print-directory releases-packages || true
	tests/releases/run $(ARGS_RELEASES) || (( $$? == 77 ))

test-release:
	tests/releases/check_release $(ARGS_RELEASE)

test-arm64:
	@$(MAKE) --no-print-directory arm64-packages || true
	tests/arm64/run $(ARGS_ARM64) || (( $$? == 77 ))

test-kernels: build-packages build/build.ninja
	@$(MAKE) --no-print-directory kernels-packages || true
	$(call build_tests,build)
	tests/kernels/run $(ARGS_KERNELS) || (( $$? == 77 ))

test-static: static-packages tarball
	tests/static/run build-static/tracer

compat: tests
	$(PYTHON) tests/compat/compare.py --ours build/tracer --full $(ARGS_COMPAT)

install: build-packages build/build.ninja
	cmake --build build --target program
	cmake --install build --prefix $(PREFIX)

# Debian packages of the program and of its descriptions, in build/packages. Built twice, they are equal.
deb: deb-packages build/build.ninja
	cmake --build build --target program
	$(call pack,build)

# The program with its papers, for any system and any container: build-static/packages/tracer-….tar.gz.
tarball: build-packages
	cmake --preset static -DTRACER_WERROR=$(WERROR) -DZYDIS_SOURCE="$$(tests/static/fetch_zydis)" $(CMAKE_OPTIONS)
	cmake --build --preset static
	$(call pack,build-static)

# The same for aarch64, in build-arm64-static/packages.
tarball-arm64: cross-packages
	root=$$(tests/arm64/run --sysroot); \
	TRACER_SYSROOT=$$root cmake --preset arm64-static -DTRACER_WERROR=$(WERROR) $(CMAKE_OPTIONS)
	cmake --build --preset arm64-static
	$(call pack,build-arm64-static)

# The sources of a commit, for who has no git.
REVISION ?= HEAD
dist:
	mkdir -p $(release)
	git archive --prefix=tracer-$(version)/ -o $(release)/tracer-$(version).tar.gz $(REVISION)

# A function may stand in another place of an object where headers were compiled before: that must not depend on ccache.
binaries:
	$(MAKE) CMAKE_OPTIONS=-DTRACER_PRECOMPILE=OFF deb tarball tarball-arm64

# All that is published of a release, in build-release. It is made of the archive of the sources: of the last commit.
release: release-packages
	tests/static/fetch_zydis >/dev/null
	rm -rf $(release)
	$(MAKE) --no-print-directory dist
	tar -x -f $(release)/tracer-$(version).tar.gz -C $(release)
	$(MAKE) -C $(release)/tracer-$(version) binaries
	cd $(release); \
	  mv tracer-$(version)/build/packages/*.deb tracer-$(version)/build-*/packages/*.tar.gz .; \
	  rm -rf tracer-$(version); \
	  sha256sum -- *.deb *.tar.gz >SHA256SUMS; \
	  cat SHA256SUMS
	@grep -q '^## \[$(version)\]' CHANGELOG.md || echo 'CHANGELOG.md has no section [$(version)]' >&2

clean:
	rm -rf build build-*

# Always looked at: configure decides.
build/build.ninja: FORCE | build-packages
	$(call configure,build,-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)

build-asan/build.ninja: FORCE | test-packages
	$(call configure,build-asan,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O1 -DTRACER_SANITIZE=ON \
	  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)

build-clang/build.ninja: FORCE | clang-packages
	$(call configure,build-clang,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)

build-packages:
	$(call install_missing,$(build_packages))

test-packages: build-packages
	$(call install_missing,$(test_packages))

bench-packages: build-packages
	$(call install_missing,$(bench_packages))

deb-packages: build-packages
	$(call install_missing,$(deb_packages))

static-packages: build-packages
	$(call install_missing,$(static_packages))

cross-packages:
	$(call install_missing,$(cross_packages))

release-packages:
	$(call install_missing,$(release_packages))

clang-packages:
	$(call install_missing,$(clang_packages))

lint-packages:
	$(call install_missing,$(lint_packages))

arm64-packages:
	$(call install_missing,$(arm64_packages))

releases-packages:
	$(call install_missing,$(releases_packages))

kernels-packages: build-packages
	$(call install_missing,$(kernels_packages))
