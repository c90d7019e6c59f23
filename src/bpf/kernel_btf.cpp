#include "bpf/kernel_btf.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_set>

#include "base/read_file.h"
#include "base/write_all.h"

namespace tracer::bpf {
namespace {

/// 0 of a kind that we do not know.
std::size_t size_of(const btf_type* type) {
  const std::size_t count = btf_vlen(type);
  switch (btf_kind(type)) {
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG:
      return sizeof *type;
    case BTF_KIND_INT:
      return sizeof *type + sizeof(std::uint32_t);
    case BTF_KIND_VAR:
      return sizeof *type + sizeof(struct btf_var);
    case BTF_KIND_DECL_TAG:
      return sizeof *type + sizeof(struct btf_decl_tag);
    case BTF_KIND_ARRAY:
      return sizeof *type + sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      return sizeof *type + count * sizeof(btf_member);
    case BTF_KIND_ENUM:
      return sizeof *type + count * sizeof(struct btf_enum);
    case BTF_KIND_ENUM64:
      return sizeof *type + count * sizeof(struct btf_enum64);
    case BTF_KIND_FUNC_PROTO:
      return sizeof *type + count * sizeof(btf_param);
    case BTF_KIND_DATASEC:
      return sizeof *type + count * sizeof(btf_var_secinfo);
    default:
      return 0;
  }
}

/// Whether programs can ask for such a type by its name.
bool is_read(const btf_type* type) {
  return btf_is_composite(type) || btf_is_typedef(type) || btf_is_any_enum(type);
}

std::unordered_set<std::string_view> names_in(const btf* types) {
  std::unordered_set<std::string_view> names;
  for (std::uint32_t id = 1; id < btf__type_cnt(types); ++id) {
    if (const btf_type* type = btf__type_by_id(types, id); is_read(type)) {
      const std::string_view name = btf__name_by_offset(types, type->name_off);
      names.insert(name.substr(0, name.find("___")));  // what follows distinguishes the forms of a type over the years
    }
  }
  names.erase(std::string_view());
  return names;
}

template <typename Part>
std::span<Part> parts(Part* first, const btf_type* type) {
  return {first, btf_vlen(type)};
}

/// Calls `function` with the id of each type that is a part of `type`. What a pointer points to is no part.
template <typename Function>
void for_each_part(btf_type* type, Function function) {
  if (btf_is_composite(type)) {
    for (btf_member& member : parts(btf_members(type), type)) {
      function(member.type);
    }
  } else if (btf_is_array(type)) {
    function(btf_array(type)->type);
    function(btf_array(type)->index_type);
  } else if (btf_is_mod(type) || btf_is_typedef(type)) {
    function(type->type);
  }
}

template <typename Function>
void for_each_name(btf_type* type, Function function) {
  function(type->name_off);
  if (btf_is_composite(type)) {
    for (btf_member& member : parts(btf_members(type), type)) {
      function(member.name_off);
    }
  } else if (btf_is_enum(type)) {
    for (struct btf_enum& value : parts(btf_enum(type), type)) {
      function(value.name_off);
    }
  } else if (btf_is_enum64(type)) {
    for (struct btf_enum64& value : parts(btf_enum64(type), type)) {
      function(value.name_off);
    }
  }
}

}  // namespace

/// Some types, and all their parts.
class KernelBtf::Excerpt {
 public:
  explicit Excerpt(const KernelBtf& whole) : whole_(whole), new_ids_(whole.types_.size()) {}

  void add(std::uint32_t id) {
    if (id == 0 || id >= new_ids_.size() || new_ids_[id] != 0) {
      return;
    }
    chosen_.push_back(id);
    new_ids_[id] = static_cast<std::uint32_t>(chosen_.size());
    for_each_part(whole_.types_[id], [this](std::uint32_t part) { add(part); });
  }

  [[nodiscard]] std::string bytes() const {
    std::string types;
    std::string names(1, '\0');
    for (const std::uint32_t id : chosen_) {
      btf_type* original = whole_.types_[id];
      const std::size_t at = types.size();
      types.append(reinterpret_cast<char*>(original), size_of(original));
      auto* copy = reinterpret_cast<btf_type*>(types.data() + at);
      for_each_part(copy, [this](std::uint32_t& part) { part = part < new_ids_.size() ? new_ids_[part] : 0; });
      for_each_name(copy, [&](std::uint32_t& offset) {
        const std::string_view name = whole_.name(offset);
        offset = name.empty() ? 0 : static_cast<std::uint32_t>(names.size());
        names += name;
        names.append(name.empty() ? 0 : 1, '\0');
      });
      if (btf_is_ptr(copy)) {
        copy->type = 0;  // void
      }
    }
    btf_header header{};
    header.magic = BTF_MAGIC;
    header.version = BTF_VERSION;
    header.hdr_len = sizeof header;
    header.type_len = static_cast<std::uint32_t>(types.size());
    header.str_off = header.type_len;
    header.str_len = static_cast<std::uint32_t>(names.size());
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + types + names;
  }

 private:
  const KernelBtf& whole_;
  std::vector<std::uint32_t> new_ids_;  ///< by the kernel's; 0: not chosen
  std::vector<std::uint32_t> chosen_;
};

KernelBtf::KernelBtf() {
  // A limit on the size of files holds for this one, too, and would end the tracer by a signal.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
    excerpt_.reset(::memfd_create("btf", MFD_CLOEXEC));
  }
}

std::string KernelBtf::excerpt_path() const {
  const std::string path = fmt::format("/proc/self/fd/{}", excerpt_.get());
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

Status KernelBtf::write_excerpt(const btf* wanted) {
  read();
  const std::unordered_set<std::string_view> names = names_in(wanted);
  Excerpt excerpt(*this);
  for (std::uint32_t id = 1; id < types_.size(); ++id) {
    if (is_read(types_[id]) && names.count(name(types_[id]->name_off)) != 0) {
      excerpt.add(id);
    }
  }
  // What we do not understand is left to libbpf.
  const int problem = write_all(excerpt_.get(), types_.empty() ? bytes_ : std::string_view(excerpt.bytes()));
  if (problem != 0) {
    return Error{problem, fmt::format("the kernel's types cannot be written down: {}", std::strerror(problem))};
  }
  return Done{};
}

std::uint32_t KernelBtf::function(std::string_view wanted) {
  read();
  for (std::uint32_t id = 1; id < types_.size(); ++id) {
    if (btf_is_func(types_[id]) && name(types_[id]->name_off) == wanted) {
      return id;
    }
  }
  return 0;
}

void KernelBtf::read() {
  if (!bytes_.empty()) {
    return;
  }
  const char* path = "/sys/kernel/btf/vmlinux";
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  struct ::stat status {};
  ::fstat(file.get(), &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  mapping_ = map_file(file.get(), size, PROT_READ, MAP_PRIVATE);
  if (mapping_) {
    bytes_ = {static_cast<const char*>(mapping_.get()), size};
  } else {
    bytes_ = copy_ = read_file(path, size);
  }
  btf_header header{};
  std::memcpy(&header, bytes_.data(), std::min(sizeof header, bytes_.size()));
  const std::size_t first = std::size_t{header.hdr_len} + header.type_off;
  const std::size_t end = first + header.type_len;
  const std::size_t names = std::size_t{header.hdr_len} + header.str_off;
  if (header.magic != BTF_MAGIC || end > bytes_.size() || names > bytes_.size()) {
    return;
  }
  names_ = bytes_.substr(names, header.str_len);
  types_.push_back(nullptr);
  for (std::size_t at = first; at < end;) {
    auto* type = reinterpret_cast<btf_type*>(const_cast<char*>(bytes_.data()) + at);
    const std::size_t length = end - at < sizeof *type ? 0 : size_of(type);
    if (length == 0 || length > end - at) {
      types_.clear();
      return;
    }
    types_.push_back(type);
    at += length;
  }
}

std::string_view KernelBtf::name(std::uint32_t offset) const {
  const std::string_view rest = names_.substr(std::min<std::size_t>(offset, names_.size()));
  return rest.substr(0, rest.find('\0'));
}

}  // namespace tracer::bpf
