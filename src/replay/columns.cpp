#include "replay/columns.h"

namespace tracer::replay {

void ColumnWriter::take(std::string& block) {
  Encoder out(block);
  out.number(texts_.size());
  for (const std::string& text : texts_) {
    out.number(text.size());
  }
  for (std::string& text : texts_) {
    out.raw(text);
    text.clear();
  }
}

void ColumnReader::begin(std::string_view events) {
  texts_.fill(Cursor({}, &failed_));
  failed_ = false;
  Cursor sizes(events);
  const std::uint64_t count = sizes.number();
  Cursor after = sizes;
  for (std::uint64_t i = 0; i < count && !after.at_end(); ++i) {
    after.number();
  }
  for (std::size_t i = 0; i < texts_.size() && i < count; ++i) {
    texts_[i] = Cursor(after.take(sizes.number()), &failed_);
  }
}

}  // namespace tracer::replay
