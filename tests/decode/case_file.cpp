#include "case_file.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "format/error_names.h"

namespace tracer::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {
    if (!in_) {
      throw std::runtime_error(path + ": cannot be read");
    }
  }

  CaseFile read() {
    while (std::getline(in_, line_)) {
      ++number_;
      const auto start = line_.find_first_not_of(" \t");
      if (start == std::string::npos || line_[start] == '#') {
        continue;
      }
      line_.erase(0, start);
      const auto space = std::min(line_.find(' '), line_.size());
      rest_ = space < line_.size() ? line_.substr(space + 1) : std::string{};
      keyword(line_.substr(0, space));
    }
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(number_) + ": " + what);
  }

  void keyword(const std::string& word) {
    if (word == "define") {
      definitions();
      return;
    }
    if (word == "case") {
      file_.cases.emplace_back();
      file_.cases.back().name = rest_;
      file_.cases.back().line = number_;
      return;
    }
    if (file_.cases.empty()) {
      fail("found " + word + " before the first case");
    }
    Case& c = file_.cases.back();
    std::istringstream words(rest_);
    if (word == "abi") {
      abis(c, words);
    } else if (word == "options") {
      options(c, words);
    } else if (word == "call") {
      c.call = call(words);
    } else if (word == "function") {
      c.call = function(words);
    } else if (word == "before") {
      c.before.push_back(call(words));
    } else if (word == "number") {
      std::string text;
      words >> text;
      c.call.number = number(text);
      arguments(c.call, words);
    } else if (word == "stack") {
      c.stack = number(rest_);
    } else if (word == "memory") {
      c.memory.push_back(memory(words));
    } else if (word == "change") {
      c.changes.push_back(memory(words));
    } else if (word == "result") {
      const auto value = rest_.find('.') == std::string::npos ? number(rest_) : fraction(rest_);
      c.outcome = {static_cast<std::int64_t>(value), false, true};
    } else if (word == "error") {
      c.outcome = {-error(rest_), true, true};
    } else if (word == "unknown") {
      c.outcome.known = false;
    } else if (word == "enter") {
      c.entered = rest_;
    } else if (word == "text") {
      c.text = rest_;
    } else if (word == "json") {
      c.json = rest_;
    } else {
      fail("found " + word + ", which is no keyword");
    }
  }

  void definitions() {
    while (std::getline(in_, line_)) {
      ++number_;
      if (line_ == "end") {
        return;
      }
      file_.definitions += line_ + "\n";
    }
    fail("found no end of the definitions");
  }

  void options(Case& c, std::istringstream& words) {
    for (std::string word; words >> word;) {
      const auto value = [&] {
        std::string text;
        words >> text;
        return text;
      };
      if (word == "-v") {
        c.depth.abbreviate = false;
      } else if (word == "-s") {
        c.options.string_limit = static_cast<std::uint32_t>(number(value()));
      } else if (word == "-x") {
        c.text_options.hex = render::HexStrings::non_ascii;
      } else if (word == "-xx") {
        c.text_options.hex = render::HexStrings::all;
      } else if (word == "-X") {
        c.text_options.constants = value() == "raw" ? format::ConstantForm::raw : format::ConstantForm::verbose;
      } else if (word == "-y") {
        c.names = true;
      } else if (word == "-N") {
        c.text_options.argument_names = true;
      } else if (word == "-a") {
        c.text_options.column = static_cast<unsigned>(number(value()));
      } else if (word == "--kvm") {
        c.vcpu = true;
        c.options.whole_vcpu = value() == "vcpu+";
      } else if (word == "--io-uring") {
        c.options.rings = true;
      } else if (word == "--namespace") {
        c.namespaces = true;
      } else if (word == "raw") {
        c.depth.raw = true;
      } else if (word == "address") {
        c.depth.dereference = false;
      } else {
        fail("found " + word + ", which is no option");
      }
    }
  }

  void abis(Case& c, std::istringstream& words) {
    c.abis.clear();
    for (std::string word; words >> word;) {
      const auto found = std::find(abi_names.begin(), abi_names.end(), word);
      found != abi_names.end() ? void() : fail("no ABI is called " + word);
      c.abis.push_back(static_cast<Abi>(found - abi_names.begin()));
    }
  }

  CallLine call(std::istringstream& words) {
    CallLine line;
    words >> line.name;
    arguments(line, words);
    return line;
  }

  CallLine function(std::istringstream& words) {
    CallLine line;
    words >> line.library >> line.name;
    for (std::string word; words >> word;) {
      line.values.push_back(word.find('.') == std::string::npos ? number(word) : fraction(word));
    }
    return line;
  }

  /// `2.5`: the bits of a double, `2.5f` of a float.
  [[nodiscard]] static std::uint64_t fraction(const std::string& text) {
    const double value = std::strtod(text.c_str(), nullptr);
    return text.back() == 'f' ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                              : std::bit_cast<std::uint64_t>(value);
  }

  void arguments(CallLine& line, std::istringstream& words) {
    std::size_t i = 0;
    for (std::string word; words >> word; ++i) {
      i < line.args.size() ? void() : fail("found more than six arguments");
      line.args[i] = number(word);
    }
  }

  [[nodiscard]] std::uint64_t number(const std::string& text) const {
    std::size_t used = 0;
    try {
      const auto value =
          text.front() == '-' ? static_cast<std::uint64_t>(std::stoll(text, &used, 0)) : std::stoull(text, &used, 0);
      if (used == text.size()) {
        return value;
      }
    } catch (const std::exception&) {
    }
    fail("found " + text + ", expected a number");
  }

  [[nodiscard]] std::int64_t error(const std::string& text) const {
    constexpr int last_error = 4095;
    for (int i = 1; i <= last_error; ++i) {
      if (format::error_name(i) == text) {
        return i;
      }
    }
    return static_cast<std::int64_t>(number(text));
  }

  MemoryItem memory(std::istringstream& words) {
    MemoryItem item;
    std::string word;
    words >> word;
    item.address = number(word);
    while (words >> word) {
      MemoryItem::Piece& piece = item.pieces.emplace_back();
      if (word.front() == '"') {
        // Take the string from the line again: it may hold spaces.
        const auto from = static_cast<std::size_t>(words.tellg() == -1 ? static_cast<std::streamoff>(rest_.size())
                                                                       : static_cast<std::streamoff>(words.tellg())) -
                          word.size() + 1;
        words.clear();
        words.seekg(static_cast<std::streamoff>(string(piece.bytes, from)));
        continue;
      }
      std::string value;
      words >> value;
      const auto n = number(value);
      if (word == "zero") {
        piece.bytes.assign(n, std::byte{0});
      } else if (word == "fill") {
        words >> value;
        piece.bytes.assign(number(value), static_cast<std::byte>(n));
      } else if (word == "word") {
        piece.is_word = true;
        piece.word = n;
      } else {
        piece.bytes = integer(word, n);
      }
    }
    return item;
  }

  [[nodiscard]] std::vector<std::byte> integer(const std::string& type, std::uint64_t n) const {
    static const std::array<std::string, 4> types{"u8", "u16", "u32", "u64"};
    const bool big = type.size() > 3 && type.substr(type.size() - 2) == "be";
    const auto found = std::find(types.begin(), types.end(), big ? type.substr(0, type.size() - 2) : type);
    found != types.end() ? void() : fail("found " + type + ", which is no kind of memory");
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < std::size_t{1} << (found - types.begin()); ++i) {
      bytes.push_back(static_cast<std::byte>(n >> (8 * i) & 0xff));
    }
    if (big) {
      std::reverse(bytes.begin(), bytes.end());
    }
    return bytes;
  }

  /// Reads a C string of the line from `at` on, after its opening quote; returns where it ends.
  std::size_t string(std::vector<std::byte>& bytes, std::size_t at) const {
    for (; at < rest_.size() && rest_[at] != '"'; ++at) {
      char c = rest_[at];
      if (c == '\\' && ++at < rest_.size()) {
        static const std::string letters = "abtnvfr";
        if (const auto letter = letters.find(rest_[at]); letter != std::string::npos) {
          c = static_cast<char>(7 + letter);
        } else if (rest_[at] >= '0' && rest_[at] <= '7') {
          unsigned value = 0;
          const auto end = at + 3;
          for (; at < end && at < rest_.size() && rest_[at] >= '0' && rest_[at] <= '7'; ++at) {
            value = value * 8 + static_cast<unsigned>(rest_[at] - '0');
          }
          --at;
          c = static_cast<char>(value);
        } else {
          c = rest_[at];
        }
      }
      bytes.push_back(static_cast<std::byte>(c));
    }
    at < rest_.size() ? void() : fail("found a string without an end");
    return at + 1;
  }

  std::string path_;
  std::ifstream in_;
  std::string line_;
  std::string rest_;
  std::size_t number_ = 0;
  CaseFile file_;
};

}  // namespace

std::vector<std::byte> MemoryItem::bytes(Abi abi) const {
  std::vector<std::byte> all;
  for (const Piece& piece : pieces) {
    all.insert(all.end(), piece.bytes.begin(), piece.bytes.end());
    for (unsigned i = 0; piece.is_word && i < word_size(abi); ++i) {
      all.push_back(static_cast<std::byte>(piece.word >> (8 * i) & 0xff));
    }
  }
  return all;
}

CaseFile read_case_file(const std::string& path) {
  return Reader(path).read();
}

}  // namespace tracer::test
