# Cross build for aarch64 with Debian's g++-aarch64-linux-gnu against a directory of arm64 packages (tests/arm64/run
# fetches one): cmake --preset arm64, with TRACER_SYSROOT in the environment. What the build has to run on the way
# (sysc, the manual page, the list of tests) runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(TRACER_SYSROOT "$ENV{TRACER_SYSROOT}" CACHE PATH "Root of the arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRACER_SYSROOT)
if(NOT IS_DIRECTORY "${TRACER_SYSROOT}/usr/include")
  message(FATAL_ERROR "TRACER_SYSROOT has to name a root of arm64 packages: `tests/arm64/run --sysroot` prints one")
endif()
set(CMAKE_SYSROOT "${TRACER_SYSROOT}")

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;${TRACER_SYSROOT}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${TRACER_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${TRACER_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${TRACER_SYSROOT}/usr/share/pkgconfig")
set(PKG_CONFIG_EXECUTABLE /usr/bin/pkg-config)
