// What a case says of its tracee: its memory, what its descriptors stand for, and the tables that describe its calls.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>

#include "case_file.h"
#include "decode/function_values.h"
#include "sysc/lowering.h"
#include "sysc/parser.h"

namespace tracer::test {

class FakeMemory final : public trace::Memory {
 public:
  void put(const std::vector<MemoryItem>& items, Abi abi) {
    for (const MemoryItem& item : items) {
      auto address = item.address;
      for (const std::byte byte : item.bytes(abi)) {
        bytes_[address++] = byte;
      }
    }
  }

  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    std::size_t n = 0;
    for (; n < into.size(); ++n) {
      const auto found = bytes_.find(address.value() + n);
      if (found == bytes_.end()) {
        break;
      }
      into[n] = found->second;
    }
    return n;
  }

 private:
  std::map<std::uint64_t, std::byte> bytes_;
};

class FakeDescriptors final : public names::DescriptorNames {
 public:
  explicit FakeDescriptors(bool on) : on_(on) {}
  names::DescriptorName descriptor(const names::Task&, std::int32_t fd) override {
    if (!on_) {
      return {};
    }
    return fd == 3   ? names::DescriptorName{"/etc/passwd"}
           : fd == 4 ? names::DescriptorName{"/tmp/gone", true}
                     : names::DescriptorName{};
  }
  names::DescriptorName descriptor_of(const names::Task&, std::int32_t pid, std::int32_t fd) override {
    return on_ && pid == 5 && fd == 7 ? names::DescriptorName{"/of/another"} : names::DescriptorName{};
  }
  std::string_view path(const names::Task&, std::int32_t fd) override { return fd == 6 ? "net:[4026531840]" : ""; }
  std::string_view current_directory(const names::Task&) override { return on_ ? "/home" : ""; }
  std::int32_t netlink_protocol(const names::Task&, std::int32_t fd) override {
    return fd == 5 ? 0 : fd >= 100 && fd < 132 ? fd - 100 : -1;
  }
  std::string_view drivers(const names::Task&, std::int32_t fd) override {
    return fd == 8    ? "serial8250 ttyS terminal"
           : fd == 10 ? "snd_hda_intel sound"
           : fd == 11 ? "btrfs file"
           : fd == 12 ? "ext4 file"
           : fd == 13 ? "amdgpu drm"
           : fd == 14 ? "etnaviv drm"
           : fd == 15 ? "x25"
                      : "";
  }

 private:
  bool on_;
};

class FakeProcesses final : public names::ProcessNames {
 public:
  explicit FakeProcesses(bool namespaces) : namespaces_(namespaces) {}
  std::string_view name_space(const names::Task&, std::int32_t pid, std::string_view link) override {
    space_ = namespaces_ ? std::string(link) + ":[" + std::to_string(pid) + "]" : "";
    return space_;
  }

 private:
  bool namespaces_;
  std::string space_;
};

class FakeKernel final : public names::KernelFacts {
 public:
  explicit FakeKernel(bool vcpu) : vcpu_(vcpu) {}
  std::string_view interface(std::uint32_t index) override { return index == 1 ? "lo" : ""; }
  std::string_view function(const names::Task&, RemoteAddr address) override {
    return address.value() == 0x401000 ? "on_signal" : "";
  }
  /// From 31 on the families that have descriptions; as README.md says.
  std::string_view generic_family(std::uint16_t number) override {
    constexpr std::array<std::string_view, 18> known = {
        "made \"up\"", "nl80211", "ethtool",     "devlink", "wireguard", "macsec", "TASKSTATS", "mptcp_pm", "netdev",
        "team",        "thermal", "tcp_metrics", "l2tp",    "fou",       "gtp",    "psample",   "NET_DM",   "IPVS"};
    return number >= 30 && number < 30 + known.size() ? known[number - 30] : "";
  }
  RemoteAddr vcpu_area(const names::Task&, std::int32_t fd) override {
    constexpr std::uint64_t area = 0x9000;
    return RemoteAddr(vcpu_ && fd == 9 ? area : 0);
  }
  std::optional<std::span<const RemoteAddr>> ring_entries(const names::Task&, std::int32_t fd,
                                                          std::uint64_t most) override {
    static const std::array<RemoteAddr, 3> entries = {RemoteAddr(0x90c0), RemoteAddr(0x9000), RemoteAddr(0x7000)};
    return fd == 7 ? std::optional(std::span(entries).first(std::min<std::uint64_t>(most, entries.size())))
                   : std::nullopt;
  }

 private:
  bool vcpu_;
};

struct FakeNames {
  explicit FakeNames(bool on, bool vcpu = false, bool namespaces = false)
      : descriptors(on), processes(namespaces), kernel(vcpu) {}
  [[nodiscard]] names::Names all() { return {descriptors, processes, kernel}; }

  FakeDescriptors descriptors;
  FakeProcesses processes;
  FakeKernel kernel;
};

/// The tables for one file: its own definitions, the calls numbered in the order of their first case; or the built-in
/// ones.
class CaseTables {
 public:
  explicit CaseTables(const CaseFile& file, const std::string& path) {
    if (file.definitions.empty()) {
      tables_ = spec::builtin_tables();
      return;
    }
    std::vector<std::string> names;
    for (const Case& c : file.cases) {
      if (std::find(names.begin(), names.end(), c.call.name) == names.end() && !c.call.name.empty()) {
        names.push_back(c.call.name);
      }
    }
    std::string numbers;
    for (std::size_t i = 0; i < names.size(); ++i) {
      numbers += std::to_string(i) + " " + names[i] + "\n";
    }
    std::vector<sysc::Source> sources{{path, file.definitions}};
    for (const auto abi : abi_names) {
      sources.push_back({std::string(abi) + ".nr", numbers});
    }
    sysc::Diagnostics diagnostics;
    const auto program = sysc::parse(sources, diagnostics);
    set_ = sysc::Lowering(program, diagnostics).run({false});
    if (diagnostics.has_errors()) {
      throw std::runtime_error(diagnostics.text(sources));
    }
    tables_ = set_.view();
  }

  [[nodiscard]] const spec::Tables& view() const { return tables_; }

  [[nodiscard]] decode::Entry entry(const Case& c, const CallLine& call, Abi abi, const trace::Memory& memory) const {
    decode::Entry entry;
    entry.abi = abi;
    if (!call.library.empty()) {
      set_function(entry, call, memory);
      return entry;
    }
    entry.number = number_of(call, abi);
    entry.args = call.args;
    for (auto& arg : entry.args) {
      arg &= register_size(abi) == 4 ? 0xffffffff : ~std::uint64_t{0};
    }
    entry.stack_pointer = c.stack;
    return entry;
  }

 private:
  /// As many values as the function and its format ask for have to be there.
  void set_function(decode::Entry& entry, const CallLine& call, const trace::Memory& memory) const {
    entry.function = tables_.find(call.library, call.name);
    if (entry.function == nullptr) {
      throw std::runtime_error("no function " + call.name + " in " + call.library);
    }
    const std::span values(call.values);
    std::size_t fixed = 0;
    for (const auto& value : decode::fixed_arguments(tables_, *entry.function, entry.abi)) {
      fixed += value.words();
    }
    const auto more = decode::variable_arguments(tables_, *entry.function, entry.abi,
                                                 values.first(std::min(fixed, values.size())), memory)
                          .size();
    if (values.size() != fixed + more) {
      throw std::runtime_error(call.name + " has " + std::to_string(values.size()) + " values, but asks for " +
                               std::to_string(fixed) + " and " + std::to_string(more));
    }
    entry.values = values;
  }

  [[nodiscard]] std::uint64_t number_of(const CallLine& call, Abi abi) const {
    if (call.name.empty()) {
      return call.number;
    }
    for (const spec::NumberedCall& row : tables_.numbers[index_of(abi)]) {
      if (tables_.text(tables_.calls[row.call].name) == call.name) {
        return row.number;
      }
    }
    throw std::runtime_error("no call " + call.name + " on " + std::string(abi_names[index_of(abi)]));
  }

  spec::TableSet set_;
  spec::Tables tables_;
};

}  // namespace tracer::test
