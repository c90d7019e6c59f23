// A handful of calls as tables: enough to try names, numbers, classes and ABIs.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "spec/spec.h"

namespace tracer::test {

class CallTables {
 public:
  CallTables() {
    using enum spec::CallClass;
    const auto desc_bit = spec::mask_of(desc);
    const auto file_bit = spec::mask_of(file);
    add("read", desc_bit, {{Abi::x86_64, 0}, {Abi::i386, 3}, {Abi::x32, 0}, {Abi::arm, 3}});
    add("write", desc_bit, {{Abi::x86_64, 1}, {Abi::i386, 4}, {Abi::x32, 1}});
    add("open", desc_bit | file_bit, {{Abi::x86_64, 2}, {Abi::i386, 5}, {Abi::x32, 2}});
    add("close", desc_bit, {{Abi::x86_64, 3}, {Abi::i386, 6}, {Abi::x32, 3}});
    add("stat", file_bit | spec::mask_of(stat), {{Abi::x86_64, 4}, {Abi::i386, 106}, {Abi::x32, 4}});
    add("getpid", spec::mask_of(pure), {{Abi::x86_64, 39}, {Abi::i386, 20}, {Abi::x32, 39}});
    add("getuid32", spec::mask_of(pure) | spec::mask_of(creds), {{Abi::i386, 199}});
    add("socketcall", desc_bit, {{Abi::i386, 102}});
    calls_.back().redirect = 0;
    calls_.back().redirects = {0, 1};
    redirects_.push_back({5, static_cast<spec::CallId>(calls_.size())});
    add("accept", spec::mask_of(network), {});
    add("execve", file_bit | spec::mask_of(process), {{Abi::x86_64, 59}, {Abi::i386, 11}, {Abi::x32, 520}});
    add("set_tls", spec::mask_of(pure), {{Abi::arm, 0xf0005}});
  }

  [[nodiscard]] spec::Tables tables() const {
    spec::Tables all;
    all.strings = strings_;
    all.calls = calls_;
    all.exprs = exprs_;
    all.redirects = redirects_;
    for (std::size_t i = 0; i < abi_count; ++i) {
      all.numbers[i] = numbers_[i];
    }
    return all;
  }

 private:
  struct Place {
    Abi abi;
    std::uint32_t number;
  };

  void add(std::string_view name, spec::ClassMask classes, std::initializer_list<Place> places) {
    spec::Call call;
    call.name = static_cast<spec::StringRef>(strings_.size());
    call.classes = classes;
    strings_.append(name).push_back('\0');
    for (const auto& place : places) {
      auto& rows = numbers_[index_of(place.abi)];
      const spec::NumberedCall row{place.number, static_cast<spec::CallId>(calls_.size()), false};
      rows.insert(std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.number > row.number; }), row);
    }
    calls_.push_back(call);
  }

  std::string strings_;
  std::vector<spec::Call> calls_;
  std::vector<spec::Expr> exprs_ = {{.op = spec::ExprOp::param}};  ///< what selects a sub-call
  std::vector<spec::Redirect> redirects_;
  std::array<std::vector<spec::NumberedCall>, abi_count> numbers_;
};

}  // namespace tracer::test
