// Prints the constants and the layouts of the tables, one a line, for check_uapi.py:
//   constant NAME VALUE            struct NAME SIZE            field STRUCT NAME OFFSET
// or, for coverage.py, what the descriptions name and what they do not look into:
//   constant NAME                  raw CALL PARAMETER           call ABI NUMBER NAME
//   request ABI NUMBER BITS named|shown: the number, with any of the bits set, has a name; or its argument is described
// usage: list_tables x86_64|i386|coverage
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "spec/spec.h"

namespace {

using tracer::spec::none;
using tracer::spec::Tables;

bool is_address(const Tables& tables, const tracer::spec::Param& param) {
  if (param.type == none) {
    return false;
  }
  const auto& type = tables.types[param.type];
  return type.kind == tracer::spec::TypeKind::scalar && type.style == tracer::spec::Style::address;
}

/// `entry` is a constant or a row.
template <typename Entry>
void print_request(const Entry& entry, const char* what) {
  for (std::size_t i = 0; i < tracer::abi_count; ++i) {
    if ((entry.abis & tracer::mask_of(static_cast<tracer::Abi>(i))) != 0) {
      std::printf("request %s %" PRIu64 " %" PRIu32 " %s\n", tracer::abi_names[i].data(), entry.value, entry.open_bits,
                  what);
    }
  }
}

void print_coverage(const Tables& tables) {
  for (const auto& constant : tables.constants) {
    std::printf("constant %s\n", tables.text(constant.name).data());
  }
  for (const auto& set : tables.sets) {
    if (tables.text(set.name) == "ioctl_cmd") {
      for (const auto& group : Tables::slice(tables.groups, set.groups)) {
        for (const auto& constant : Tables::slice(tables.constants, group.constants)) {
          print_request(constant, "named");
        }
      }
    }
  }
  for (std::size_t i = 0; i < tracer::abi_count; ++i) {
    for (const auto& row : tables.numbers[i]) {
      const char* name = tables.text(tables.calls[row.call].name).data();
      std::printf("call %s %" PRIu32 " %s\n", tracer::abi_names[i].data(), row.number, name);
    }
  }
  for (const auto& call : tables.calls) {
    const char* name = tables.text(call.name).data();
    const auto& signature = tables.signatures[call.signature];
    for (const auto& param : Tables::slice(tables.params, signature.params)) {
      if (is_address(tables, param)) {
        std::printf("raw %s %s\n", name, tables.text(param.name).data());
      }
    }
    if (tables.text(call.name) != "ioctl") {
      continue;
    }
    for (const auto& row : Tables::slice(tables.signature_rows, signature.rows)) {
      print_request(row, "shown");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tracer;
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  if (wanted == "coverage") {
    print_coverage(spec::builtin_tables());
    return 0;
  }
  Abi abi = Abi::x86_64;
  while (abi_names[index_of(abi)] != wanted) {
    abi = static_cast<Abi>(index_of(abi) + 1);
    if (index_of(abi) == abi_count) {
      return 2;
    }
  }
  const spec::Tables& tables = spec::builtin_tables();
  for (const spec::Constant& constant : tables.constants) {
    if ((constant.abis & mask_of(abi)) != 0 && constant.open_bits == 0) {
      std::printf("constant %s %" PRIu64 "\n", tables.text(constant.name).data(), constant.value);
    }
  }
  for (const spec::Struct& type : tables.structs) {
    if (type.kind == spec::StructKind::stream || type.name == spec::none) {
      continue;
    }
    const char* name = tables.text(type.name).data();
    if (!type.variable && type.sized_by == spec::none) {
      std::printf("struct %s %u\n", name, type.layout.size[index_of(abi)]);
    }
    for (const spec::Field& field : spec::Tables::slice(tables.fields, type.fields)) {
      if (field.name != spec::none && field.at == spec::none) {
        std::printf("field %s %s %u\n", name, tables.text(field.name).data(), field.offset[index_of(abi)]);
      }
    }
  }
}
