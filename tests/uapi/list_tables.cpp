// Prints the constants and the layouts of the tables, one a line, for check_uapi.py:
//   constant NAME VALUE            struct NAME SIZE            field STRUCT NAME OFFSET
// usage: list_tables x86_64|i386
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "spec/spec.h"

int main(int argc, char** argv) {
  using namespace tracer;
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  Abi abi = Abi::x86_64;
  while (abi_names[index_of(abi)] != wanted) {
    abi = static_cast<Abi>(index_of(abi) + 1);
    if (index_of(abi) == abi_count) {
      return 2;
    }
  }
  const spec::Tables& tables = spec::builtin_tables();
  for (const spec::Constant& constant : tables.constants) {
    if ((constant.abis & mask_of(abi)) != 0 && !constant.any_size) {
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
      if (field.name != spec::none) {
        std::printf("field %s %s %u\n", name, tables.text(field.name).data(), field.offset[index_of(abi)]);
      }
    }
  }
}
