#include "scene_builder.h"

#include <algorithm>

namespace tracer::probe {
namespace {

using spec::none;
using spec::Tables;
using spec::TypeKind;

constexpr unsigned deepest = 6;
constexpr std::uint32_t text_length = 5;

}  // namespace

void store(Scene& scene, const Place& place, std::uint64_t value, bool at_exit) {
  if (!place.in_memory) {
    scene.args[place.at] = place.high ? value & 0xffffffff : value;
    if (place.high) {
      scene.args[*place.high] = value >> 32;
    }
    return;
  }
  Patch patch{place.at, {}, at_exit};
  for (unsigned i = 0; i < place.width; i++) {
    patch.bytes.push_back(static_cast<std::uint8_t>(i < 8 ? value >> (8 * i) : 0));
  }
  scene.patches.push_back(std::move(patch));
}

std::uint64_t usual_value(const Tables& tables, Abi abi, const spec::Type& type) {
  if (type.set != none) {
    for (const spec::ConstantGroup& group : Tables::slice(tables.groups, tables.sets[type.set].groups)) {
      for (const spec::Constant& constant : Tables::slice(tables.constants, group.constants)) {
        if ((constant.abis & mask_of(abi)) != 0) {
          return constant.value;
        }
      }
    }
  }
  return tables.text(type.name) == "size" ? 64 : 3;  // room for most structures
}

unsigned SceneBuilder::decide(unsigned rows) {
  choices_.push_back(rows);
  const std::size_t at = choices_.size() - 1;
  return at < decisions_.size() ? std::min(decisions_[at], rows - 1) : 0;
}

void SceneBuilder::build(const spec::Call& call, std::uint32_t number) {
  scene_.number = number;
  if (call.redirects.count == 0) {
    build_signature(call.signature, std::nullopt);
  } else {
    const auto redirects = Tables::slice(tables_.redirects, call.redirects);
    const spec::Redirect& chosen = redirects[decide(static_cast<unsigned>(redirects.size()))];
    for (const spec::Param& param : Tables::slice(tables_.params, tables_.signatures[call.signature].params)) {
      const auto id = static_cast<spec::ParamId>(&param - tables_.params.data());
      params_[id] = Place{false, param.slot[index_of(abi_)], 8, {}};
    }
    keys_.push_back({call.redirect, nullptr, static_cast<std::int64_t>(chosen.value), false});
    std::optional<std::uint32_t> args_address = slot_address(next_slot_);
    if (call.redirect_args != none) {
      next_slot_++;
      store(scene_, params_[call.redirect_args], *args_address);
    } else {
      args_address = std::nullopt;
    }
    build_signature(tables_.calls[chosen.call].signature, args_address);
  }
  for (const auto* wishes : {&conditions_, &lengths_, &keys_}) {
    for (const Wish& wish : *wishes) {
      fulfil(wish);
    }
  }
}

spec::Index SceneBuilder::choose_row(spec::Index index, std::optional<std::uint32_t> args_address) {
  place_params(index, args_address);
  while (tables_.signatures[index].selector != none) {
    const spec::Signature& signature = tables_.signatures[index];
    std::vector<const spec::SignatureRow*> rows;
    for (const spec::SignatureRow& row : Tables::slice(tables_.signature_rows, signature.rows)) {
      if ((row.abis & mask_of(abi_)) != 0) {
        rows.push_back(&row);
      }
    }
    const unsigned decision = decide(static_cast<unsigned>(rows.size()) + 1);
    if (decision < rows.size()) {
      const std::uint64_t size = (rows[decision]->open_bits & 0x3fff0000) != 0 ? 32U << 16 : 0;
      keys_.push_back({signature.selector, nullptr, static_cast<std::int64_t>(rows[decision]->value | size), false});
      index = rows[decision]->signature;
    } else {
      keys_.push_back({signature.selector, nullptr, 0x7e7d, false});
      if (signature.otherwise == none) {
        break;
      }
      index = signature.otherwise;
    }
    place_params(index, args_address);
  }
  return index;
}

void SceneBuilder::build_signature(spec::Index index, std::optional<std::uint32_t> args_address) {
  const spec::Signature& signature = tables_.signatures[choose_row(index, args_address)];
  for (const spec::Param& param : Tables::slice(tables_.params, signature.params)) {
    const auto id = static_cast<spec::ParamId>(&param - tables_.params.data());
    if (param.type == none || !params_.contains(id)) {
      continue;
    }
    wish_condition(param.condition, nullptr);
    wish_condition(param.when, nullptr);
    const spec::Type& type = tables_.types[param.type];
    const std::string name(tables_.text(param.name));
    if (type.kind == TypeKind::pointer) {
      build_pointer(param.type, params_[id], nullptr, name, param.saved);
    } else {
      build_value(param.type, params_[id], nullptr, name, false);
    }
  }
}

void SceneBuilder::place_params(spec::Index index, std::optional<std::uint32_t> args_address) {
  const unsigned register_bytes = register_size(abi_);
  for (const spec::Param& param : Tables::slice(tables_.params, tables_.signatures[index].params)) {
    const auto id = static_cast<spec::ParamId>(&param - tables_.params.data());
    const unsigned slot = param.slot[index_of(abi_)];
    if (slot >= scene_.args.size()) {
      continue;
    }
    Place place{false, slot, static_cast<std::uint8_t>(register_bytes), {}};
    if (args_address) {
      place = Place{true, *args_address + slot * 4, static_cast<std::uint8_t>(param.wide ? 8 : 4), {}};
    } else if (param.wide && register_bytes == 4 && slot + 1 < scene_.args.size()) {
      place.high = static_cast<std::uint8_t>(slot + 1);
    }
    params_[id] = place;
  }
}

void SceneBuilder::build_scalar(const spec::Type& type, spec::TypeId id, const Place& place, const std::string& name,
                                bool changes) {
  store(scene_, place, usual_value(tables_, abi_, type));
  leaves_.push_back({place, id, name, 0, 0, changes && place.in_memory});
}

std::optional<spec::TypeId> SceneBuilder::choose_type(const spec::Type& type, const Context* use,
                                                      const Context** inner) {
  const spec::Choice& choice = tables_.choices[type.index];
  std::vector<const spec::ChoiceRow*> rows;
  for (const spec::ChoiceRow& row : Tables::slice(tables_.choice_rows, choice.rows)) {
    const bool absent = std::any_of(row.keys.begin(), row.keys.end(),
                                    [this](spec::ExprId key) { return key != none && !literal(key); });
    if (!absent) {
      rows.push_back(&row);
    }
  }
  if (rows.empty()) {
    return std::nullopt;
  }
  const spec::ChoiceRow& row = *rows[decide(static_cast<unsigned>(rows.size()))];
  for (std::size_t i = 0; i < row.keys.size() && i < type.args.count; i++) {
    const std::int64_t value = row.keys[i] == none ? (i == 0 ? 77 : 123) : *literal(row.keys[i]);
    keys_.push_back({tables_.expr_lists[type.args.first + i], use, value, false});
  }
  *inner = keep({use, nullptr, 0, type.args});
  return row.type == none ? std::nullopt : std::optional(row.type);
}

void SceneBuilder::build_value(spec::TypeId id, const Place& place, const Context* context, const std::string& name,
                               bool changes) {
  const spec::Type& type = tables_.types[id];
  switch (type.kind) {
    case TypeKind::scalar:
      build_scalar(type, id, place, name, changes);
      return;
    case TypeKind::pointer:
      build_pointer(id, place, context, name, changes);
      return;
    case TypeKind::choice: {
      const Context* inner = nullptr;
      if (const auto chosen = choose_type(type, context, &inner); chosen && depth_ < deepest) {
        depth_++;
        build_value(*chosen, place, inner, name, changes);
        depth_--;
      } else {
        store(scene_, place, 3);
      }
      return;
    }
    default:
      store(scene_, place, 3);
      leaves_.push_back({place, id, name, 0, 0, false});
  }
}

std::uint32_t SceneBuilder::build_pointer(spec::TypeId id, const Place& place, const Context* context,
                                          const std::string& name, bool changes) {
  const spec::Type& type = tables_.types[id];
  if (next_slot_ >= slot_count || type.target == none || depth_ >= deepest) {
    store(scene_, place, slot_address(0));
    return 0;
  }
  const std::uint32_t address = slot_address(next_slot_++);
  store(scene_, place, address);
  pointed_[place.at] = address;
  const std::size_t leaf = leaves_.size();
  leaves_.push_back({place, id, name, 0, 0, false});
  depth_++;
  const std::uint32_t size =
      build_memory(type.target, address, context, name, changes || type.direction == spec::Direction::inout);
  depth_--;
  leaves_[leaf].target_size = size;
  leaves_[leaf].target = address;
  if (type.sized_by != none) {
    lengths_.push_back({type.sized_by, context, size, false});
  }
  return address;
}

std::uint32_t SceneBuilder::build_array(const spec::Type& type, std::uint32_t address, const Context* context,
                                        const std::string& name, bool changes) {
  std::uint32_t count = 2;
  if (const auto fixed = literal(type.length)) {
    count = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*fixed, 0, 64));
  }
  if (type.target != none && tables_.types[type.target].kind == TypeKind::structure &&
      type.length_kind == spec::LengthKind::byte_count) {
    const spec::Struct& target = tables_.structs[tables_.types[type.target].index];
    count = target.kind == spec::StructKind::stream ? 2 : 1;
  }
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < count && size < page_size / 2; i++) {
    const std::size_t before = leaves_.size();
    size += build_memory(type.target, address + size, context, name + (i == 0 ? "" : "[" + std::to_string(i) + "]"),
                         changes);
    if (i > 0) {  // the first element is enough to vary
      leaves_.resize(before);
    }
  }
  if (type.length != none && !literal(type.length)) {
    lengths_.push_back({type.length, context, type.length_kind == spec::LengthKind::byte_count ? size : count, false});
  }
  return size;
}

std::uint32_t SceneBuilder::build_struct(const spec::Type& type, std::uint32_t address, const Context* context,
                                         const std::string& name, bool changes) {
  const spec::Struct& structure = tables_.structs[type.index];
  const Context* own = keep({context, &structure, address, type.args});
  std::uint32_t end = structure.layout.size[index_of(abi_)];
  for (const spec::Field& field : Tables::slice(tables_.fields, structure.fields)) {
    if (field.hidden || field.type == none) {
      continue;
    }
    wish_condition(field.condition, own);
    wish_condition(field.when, own);
    const std::uint32_t at =
        address + static_cast<std::uint32_t>(literal(field.at).value_or(field.offset[index_of(abi_)]));
    const std::uint32_t size = build_memory(field.type, at, own, name + "." + std::string(tables_.text(field.name)),
                                            changes || field.direction == spec::Direction::inout);
    end = std::max(end, at + size - address);
  }
  if (structure.sized_by != none) {
    lengths_.push_back({structure.sized_by, own, end, false});
  }
  if (const auto step = literal(structure.step)) {
    end = static_cast<std::uint32_t>(*step);
  } else if (structure.step != none) {
    end = (end + 7) / 8 * 8;
    lengths_.push_back({structure.step, own, end, false});
  }
  return end;
}

std::uint32_t SceneBuilder::build_memory(spec::TypeId id, std::uint32_t address, const Context* context,
                                         const std::string& name, bool changes) {
  const spec::Type& type = tables_.types[id];
  const Place place{true, address, width_of(id), {}};
  if (depth_ >= deepest + 4) {
    return place.width;
  }
  switch (type.kind) {
    case TypeKind::scalar:
      build_scalar(type, id, place, name, changes);
      return place.width;
    case TypeKind::pointer:
      build_pointer(id, place, context, name, changes);
      return place.width;
    case TypeKind::array:
      return build_array(type, address, context, name, changes);
    case TypeKind::bytes:
    case TypeKind::cstr: {
      const auto fixed = literal(type.length);
      const std::uint32_t length =
          fixed && *fixed < 200 && *fixed > 0 ? static_cast<std::uint32_t>(*fixed) : text_length;
      Patch patch{address, {}, false};
      for (std::uint32_t i = 0; i < std::min(length, text_length); i++) {
        patch.bytes.push_back(static_cast<std::uint8_t>("na\1e\0"[i % text_length]));
      }
      scene_.patches.push_back(std::move(patch));
      if (type.length != none && !fixed) {
        lengths_.push_back({type.length, context, length, false});
      }
      return length;
    }
    case TypeKind::structure: {
      depth_++;
      const std::uint32_t size = build_struct(type, address, context, name, changes);
      depth_--;
      return size;
    }
    case TypeKind::choice: {
      const Context* inner = nullptr;
      const auto chosen = choose_type(type, context, &inner);
      if (!chosen) {
        return 0;
      }
      depth_++;
      const std::uint32_t size = build_memory(*chosen, address, inner, name, changes);
      depth_--;
      return size;
    }
    case TypeKind::custom:
      if (type.length != none && !literal(type.length)) {
        lengths_.push_back({type.length, context, 8, false});
      }
      if (type.target != none) {
        return build_memory(type.target, address, context, name, changes);
      }
      store(scene_, Place{true, address, 8, {}}, 3);
      leaves_.push_back({Place{true, address, 8, {}}, id, name, 0, 0, false});
      return 8;
  }
  return 0;
}

Scene SceneBuilder::bare(Background background) const {
  Scene result = scene_;
  result.background = background;
  result.patches.clear();
  return result;
}

}  // namespace tracer::probe
