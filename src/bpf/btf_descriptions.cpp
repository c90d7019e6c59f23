#include "bpf/btf_descriptions.h"

#include <bpf/btf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "base/near_miss.h"

namespace tracer::bpf {

namespace {

struct FreeBtf {
  void operator()(btf* types) const { btf__free(types); }
};
using OwnedBtf = std::unique_ptr<btf, FreeBtf>;

constexpr unsigned byte_bits = 8;
constexpr unsigned deepest = 32;             // of types within types; those of the kernel are no deeper than ten
constexpr std::uint32_t most_fields = 4096;  // of one structure

/// Writes structures as descriptions.
class Writer {
 public:
  explicit Writer(const btf& types) : types_(types) {}

  /// Adds a structure, and what it contains before it. Returns false if it cannot be described.
  bool add(std::uint32_t id, const std::string& name, unsigned depth) {
    if (!done_.insert(name).second) {
      return true;
    }
    const btf_type* type = btf__type_by_id(&types_, id);
    if (type == nullptr || depth > deepest || btf_vlen(type) > most_fields) {
      return false;
    }
    std::string fields;
    const bool is_union = btf_is_union(type);
    Cursor cursor;
    for (std::uint32_t i = 0; i < btf_vlen(type); ++i) {
      const btf_member& member = btf_members(type)[i];
      const Field field{std::string(btf__name_by_offset(&types_, member.name_off)), member.type,
                        btf_member_bit_offset(type, i), btf_member_bitfield_size(type, i)};
      if (!add_field(field, fmt::format("{}_{}", name, i), is_union, depth, cursor, fields)) {
        return false;
      }
    }
    pad(cursor, std::uint64_t{type->size} * byte_bits, is_union, fields);
    // The places are written out, so that they are the kernel's whatever rules it was built by.
    text_ += fmt::format("{} {} {}{{\n{}}}\n", is_union ? "union" : "struct", name, is_union ? "" : "packed ", fields);
    return true;
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  struct Field {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t offset = 0;     ///< in bits
    std::uint32_t bit_count = 0;  ///< of a bit-field
  };
  /// How far a structure has been written.
  struct Cursor {
    std::uint64_t bits = 0;
    std::uint64_t unit_end = 0;  ///< of the scalar that bit-fields share; 0: the last field was none of bits
  };

  static void pad(Cursor& cursor, std::uint64_t to, bool is_union, std::string& fields) {
    const std::uint64_t from = std::max(cursor.bits, cursor.unit_end);
    if (!is_union && to > from) {
      fields += fmt::format("  _: bytes[{}]\n", (to - from) / byte_bits);
    }
    cursor = {to, 0};
  }

  bool add_field(const Field& field, const std::string& inner_name, bool is_union, unsigned depth, Cursor& cursor,
                 std::string& fields) {
    const auto size = btf__resolve_size(&types_, field.type);
    if (size < 0) {
      return false;
    }
    const auto width = static_cast<std::uint64_t>(size) * byte_bits;
    if (field.bit_count != 0) {
      return add_bits(field, width, is_union, cursor, fields);
    }
    const auto type = type_of(field.type, inner_name, depth + 1);
    if (!type) {
      return false;
    }
    if (width == 0) {
      return true;  // an array at the end, whose length only the driver knows
    }
    pad(cursor, field.offset, is_union, fields);
    const bool is_inline = field.name.empty();
    fields += fmt::format("  {}: {}{}\n", is_inline ? inner_name : field.name, *type, is_inline ? " inline" : "");
    cursor = {is_union ? 0 : field.offset + width, 0};
    return true;
  }

  /// A bit-field, in a scalar of its type's width, at the multiple of it that holds the bits.
  bool add_bits(const Field& field, std::uint64_t width, bool is_union, Cursor& cursor, std::string& fields) {
    if (width == 0 || width > 64) {
      return false;
    }
    const std::uint64_t unit = field.offset / width * width;
    if (cursor.unit_end != unit + width) {
      pad(cursor, unit, is_union, fields);
    }
    if (field.offset > cursor.bits) {
      fields += fmt::format("  _: u{} bits {}\n", width, field.offset - cursor.bits);
    }
    fields += fmt::format("  {}: u{} bits {}\n", field.name.empty() ? "_" : field.name, width, field.bit_count);
    cursor = {is_union ? 0 : std::uint64_t{field.offset} + field.bit_count, is_union ? 0 : unit + width};
    return true;
  }

  std::optional<std::string> type_of(std::uint32_t id, const std::string& inner_name, unsigned depth) {
    const btf_type* type = btf__type_by_id(&types_, id);
    for (unsigned i = 0; type != nullptr && i < deepest && is_other_name(type); ++i) {
      id = type->type;
      type = btf__type_by_id(&types_, id);
    }
    if (type == nullptr || depth > deepest) {
      return std::nullopt;
    }
    const std::string name = btf__name_by_offset(&types_, type->name_off);
    switch (btf_kind(type)) {
      case BTF_KIND_INT:
        return scalar(*type, name);
      case BTF_KIND_FLOAT:
        return type->size == sizeof(float) ? "float" : type->size == sizeof(double) ? "double" : hex_bytes(type->size);
      case BTF_KIND_PTR:
        return "ptr";
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return enumeration(*type, name.empty() ? inner_name : "btf_" + name);
      case BTF_KIND_ARRAY:
        return array(*::btf_array(type), inner_name, depth);
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION: {
        const std::string its_name = name.empty() ? inner_name : "btf_" + name;
        return add(id, its_name, depth) ? std::optional(its_name) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  static bool is_other_name(const btf_type* type) {
    return btf_is_mod(type) || btf_is_typedef(type) || btf_kind(type) == BTF_KIND_TYPE_TAG;
  }

  static std::string hex_bytes(std::uint32_t size) { return fmt::format("hexbytes[{}]", size); }

  static std::string scalar(const btf_type& type, std::string_view name) {
    if (type.size > sizeof(std::uint64_t)) {
      return hex_bytes(type.size);
    }
    const bool is_signed = (btf_int_encoding(&type) & BTF_INT_SIGNED) != 0;
    const std::string plain = fmt::format("{}{}", is_signed ? 'i' : 'u', type.size * byte_bits);
    return name == "_Bool" || name == "bool" ? plain + " as truth" : plain;
  }

  std::optional<std::string> array(const struct btf_array& array, const std::string& inner_name, unsigned depth) {
    const btf_type* element = btf__type_by_id(&types_, array.type);
    while (element != nullptr && is_other_name(element)) {
      element = btf__type_by_id(&types_, element->type);
    }
    if (element != nullptr && btf_is_int(element) && element->size == 1) {
      const std::string_view name = btf__name_by_offset(&types_, element->name_off);
      return fmt::format("{}[{}]", name == "char" ? "cstr" : "hexbytes", array.nelems);
    }
    const auto type = type_of(array.type, inner_name, depth + 1);
    return type ? std::optional(fmt::format("{}[{}]", *type, array.nelems)) : std::nullopt;
  }

  std::string enumeration(const btf_type& type, const std::string& name) {
    const bool is_signed = btf_kflag(&type);
    if (done_.insert(name).second) {
      text_ += fmt::format("enum {} : {}{} {{", name, is_signed ? 'i' : 'u', type.size * byte_bits);
      for (std::uint32_t i = 0; i < btf_vlen(&type); ++i) {
        const bool is_wide = btf_kind(&type) == BTF_KIND_ENUM64;
        const auto name_at = is_wide ? btf_enum64(&type)[i].name_off : btf_enum(&type)[i].name_off;
        const auto value = is_wide ? static_cast<std::int64_t>(btf_enum64_value(&btf_enum64(&type)[i]))
                                   : std::int64_t{btf_enum(&type)[i].val};
        text_ +=
            fmt::format(" {}={}", btf__name_by_offset(&types_, name_at),
                        is_signed || is_wide ? value : static_cast<std::int64_t>(static_cast<std::uint32_t>(value)));
      }
      text_ += " }\n";
    }
    return name;
  }

  const btf& types_;
  std::set<std::string> done_;
  std::string text_;
};

std::string nearest(const btf& types, const std::string& name) {
  NearMiss near(name);
  for (std::uint32_t id = 1; id < btf__type_cnt(&types); ++id) {
    const btf_type* type = btf__type_by_id(&types, id);
    if (btf_is_composite(type)) {
      near.consider(btf__name_by_offset(&types, type->name_off));
    }
  }
  return near.suggestion();
}

}  // namespace

Result<std::string> describe_from_btf(const std::string& module, const std::vector<std::string>& names) {
  const OwnedBtf kernel(btf__load_vmlinux_btf());
  const OwnedBtf own(kernel != nullptr && module != "vmlinux" ? btf__load_module_btf(module.c_str(), kernel.get())
                                                              : nullptr);
  const btf* types = module == "vmlinux" ? kernel.get() : own.get();
  if (types == nullptr) {
    const int error = errno;
    return Error{error,
                 fmt::format("--define=btf:{}: /sys/kernel/btf/{} cannot be read: {}; the module has to be loaded, "
                             "and built with its types (CONFIG_DEBUG_INFO_BTF_MODULES)",
                             module, module, std::strerror(error))};
  }
  Writer writer(*types);
  for (const std::string& name : names) {
    auto id = btf__find_by_name_kind(types, name.c_str(), BTF_KIND_STRUCT);
    if (id < 0) {
      id = btf__find_by_name_kind(types, name.c_str(), BTF_KIND_UNION);
    }
    if (id < 0) {
      return Error{ENOENT,
                   fmt::format("--define=btf:{}: there is no structure {}{}", module, name, nearest(*types, name))};
    }
    if (!writer.add(static_cast<std::uint32_t>(id), "btf_" + name, 0)) {
      return Error{EINVAL,
                   fmt::format("--define=btf:{}: structure {} has fields that cannot be described", module, name)};
    }
  }
  return writer.take();
}

}  // namespace tracer::bpf
