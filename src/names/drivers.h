// Which driver the ioctls of a descriptor belong to.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "names/names.h"

namespace tracer::names {

/// Appends what DescriptorNames::drivers() returns.
void append_drivers(TextBuffer& text, const Task& task, std::int32_t fd);

}  // namespace tracer::names
