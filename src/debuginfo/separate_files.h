// Finds the separate files with an object's debugging information, as gdb does, but opens nothing that is not a regular
// file of a plain name in the usual directories of the tracee's root, and accepts it only by build ID or checksum.
#pragma once

#include <string>

#include "debuginfo/elf_handle.h"
#include "debuginfo/reader.h"
#include "proc/tracee_file.h"

namespace tracer::debuginfo {

/// Searches by build ID, by .gnu_debuglink, and on the servers of $DEBUGINFOD_URLS if that is set. `name`: the path of
/// `object` below `root`.
ObjectFiles with_separate_files(UniqueFd object, std::string name, const proc::Root& root);

/// Returns the separate file of `elf` on this machine, which has the symbols that were stripped from it; invalid if
/// there is none. `name`: the path of the object below `root`.
UniqueFd separate_symbols(Elf* elf, const std::string& name, const proc::Root& root);

}  // namespace tracer::debuginfo
