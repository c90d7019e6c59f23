# The libraries that the program uses.
find_package(PkgConfig REQUIRED)

# static-libs: linked statically where their packages have a static form, else loaded when they are needed. The dynamic
# linker would do its work on every one at each start, though a library serves one option or two. shared: for
# distributions that want that. static: the program needs no file but itself, runs on any distribution and in an empty
# container, and can load nothing.
set(TRACER_LINK static-libs CACHE STRING "How libraries are linked: static-libs, shared or static")
set_property(CACHE TRACER_LINK PROPERTY STRINGS static-libs shared static)
if(TRACER_LINK STREQUAL static)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
elseif(TRACER_LINK STREQUAL static-libs)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
elseif(NOT TRACER_LINK STREQUAL shared)
  message(FATAL_ERROR "TRACER_LINK is ${TRACER_LINK}; it takes static-libs, shared or static")
endif()

# package(NAME MODULE [OPTIONAL] NEEDS others…): the target NAME is MODULE of pkg-config and what its static form needs.
function(package name module)
  cmake_parse_arguments(PARSE_ARGV 2 arg "OPTIONAL" "" "NEEDS")
  pkg_check_modules(${name} IMPORTED_TARGET ${module})
  if(NOT ${name}_FOUND)
    if(NOT arg_OPTIONAL)
      message(FATAL_ERROR "There is no ${module}; packages.mk names the Debian packages")
    endif()
    return()
  endif()
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE PkgConfig::${name})
  foreach(needed ${arg_NEEDS})
    if(TRACER_LINK STREQUAL shared)
      continue()
    elseif(TARGET ${needed})
      target_link_libraries(${name} INTERFACE ${needed})
    else()
      find_library(LIBRARY_${needed} ${needed} REQUIRED)
      target_link_libraries(${name} INTERFACE ${LIBRARY_${needed}})
    endif()
  endforeach()
endfunction()

package(liblzma liblzma)
package(libzstd libzstd)
package(libelf libelf NEEDS libzstd z)
package(libdw libdw NEEDS libelf bz2 liblzma z)
package(jansson jansson)
# Its headers only; src/base/fmt_library.cpp is the rest.
find_path(FMT_H fmt/format-inl.h REQUIRED)
# Without terminfo, as in a cross build that lacks it, no terminal is known to have colours.
find_library(TINFO tinfo)
find_path(TERM_H term.h)
# Only its header: the library is loaded when it is asked for, which a static program cannot do.
option(TRACER_SELINUX "Show SELinux contexts (--secontext), if there is libselinux" ON)
if(TRACER_SELINUX AND NOT TRACER_LINK STREQUAL static)
  find_path(SELINUX_H selinux/label.h)
endif()
package(libbpf libbpf>=1.0 OPTIONAL NEEDS libelf z)

# loaded(NAME LIBRARY): defines NAME_LIBRARY as the name under which the dynamic linker knows LIBRARY (a file), which is
# not linked: the program loads it for the few options that need it. NAME_PACKAGE is the Debian package of that name.
function(loaded name library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${library} has no name of its own")
  endif()
  set(${name}_LIBRARY "${CMAKE_MATCH_1}" CACHE INTERNAL "the name of a library that is loaded when it is needed")
  string(REPLACE ".so." "" debian_name "${CMAKE_MATCH_1}")
  string(TOLOWER "${debian_name}" debian_name)
  set(${name}_PACKAGE "${debian_name}" CACHE INTERNAL "the Debian package of ${name}_LIBRARY")
endfunction()

option(TRACER_LIBUNWIND "Build the stack unwinder that uses libunwind" ON)
if(TRACER_LIBUNWIND AND NOT TRACER_LINK STREQUAL static)
  find_path(LIBUNWIND_H libunwind.h)
  find_library(LIBUNWIND libunwind-generic.so)
  if(LIBUNWIND_H AND LIBUNWIND)
    loaded(LIBUNWIND ${LIBUNWIND})
  else()
    message(STATUS "--stack-unwinder=libunwind is left out: there is no libunwind (Debian: libunwind-dev)")
  endif()
endif()
