// Builds one well-formed call of a description: arguments, the memory behind them, lengths that fit.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan.h"
#include "spec/spec.h"

namespace tracer::probe {

/// Where a value stands: in argument registers, or in memory.
struct Place {
  bool in_memory = false;
  std::uint32_t at = 0;              ///< register, or address
  std::uint8_t width = 8;            ///< bytes
  std::optional<std::uint8_t> high;  ///< the register of the high half
};

/// A value that can be varied.
struct Leaf {
  Place place;
  spec::TypeId type = spec::none;
  std::string name;               ///< path: "msg.msg_name.sa_family"
  std::uint32_t target_size = 0;  ///< of a pointer
  std::uint32_t target = 0;       ///< of a pointer, the address
  bool changes = false;           ///< inout: another value stands there at the exit
};

class SceneBuilder {
 public:
  /// `decisions`: which row to take at the first, second … point of choice; 0 beyond.
  SceneBuilder(const spec::Tables& tables, Abi abi, std::vector<unsigned> decisions)
      : tables_(tables), abi_(abi), decisions_(std::move(decisions)) {}

  void build(const spec::Call& call, std::uint32_t number);

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const std::vector<Leaf>& leaves() const { return leaves_; }
  /// The number of rows at each point of choice met.
  [[nodiscard]] const std::vector<unsigned>& choices() const { return choices_; }
  /// The scene with only what chooses the forms: for memory full of a pattern.
  [[nodiscard]] Scene bare(Background background) const;

 private:
  /// What names in expressions stand for.
  struct Context {
    const Context* user = nullptr;  ///< where the struct or table is used; none: the call
    const spec::Struct* structure = nullptr;
    std::uint32_t address = 0;
    spec::Range args;
  };
  /// A value that some place must have for the rest to make sense.
  struct Wish {
    spec::ExprId expr = spec::none;
    const Context* context = nullptr;
    std::int64_t value = 0;
    bool set_bits = false;
  };

  void build_signature(spec::Index index, std::optional<std::uint32_t> args_address);
  spec::Index choose_row(spec::Index index, std::optional<std::uint32_t> args_address);
  void place_params(spec::Index signature, std::optional<std::uint32_t> args_address);
  void build_value(spec::TypeId type, const Place& place, const Context* context, const std::string& name,
                   bool changes);
  void build_scalar(const spec::Type& type, spec::TypeId id, const Place& place, const std::string& name, bool changes);
  std::uint32_t build_pointer(spec::TypeId id, const Place& place, const Context* context, const std::string& name,
                              bool changes);
  std::uint32_t build_memory(spec::TypeId type, std::uint32_t address, const Context* context, const std::string& name,
                             bool changes);
  std::uint32_t build_struct(const spec::Type& type, std::uint32_t address, const Context* context,
                             const std::string& name, bool changes);
  std::uint32_t build_array(const spec::Type& type, std::uint32_t address, const Context* context,
                            const std::string& name, bool changes);
  void wish_condition(spec::ExprId expr, const Context* context);
  std::optional<spec::TypeId> choose_type(const spec::Type& type, const Context* use, const Context** inner);
  [[nodiscard]] std::optional<Place> resolve(spec::ExprId expr, const Context* context, std::int64_t& value);
  [[nodiscard]] std::optional<Place> find_outer(spec::StringRef name, const Context* context) const;
  [[nodiscard]] std::optional<std::int64_t> literal(spec::ExprId expr) const;
  [[nodiscard]] std::uint8_t width_of(spec::TypeId type) const;
  void fulfil(const Wish& wish);
  unsigned decide(unsigned rows);
  const Context* keep(Context context) { return &contexts_.emplace_back(context); }

  const spec::Tables& tables_;
  Abi abi_;
  std::vector<unsigned> decisions_;
  std::vector<unsigned> choices_;
  Scene scene_;
  std::vector<Leaf> leaves_;
  std::deque<Context> contexts_;
  std::vector<Wish> conditions_;
  std::vector<Wish> lengths_;
  std::vector<Wish> keys_;
  std::map<spec::ParamId, Place> params_;
  std::map<std::uint32_t, std::uint32_t> pointed_;  ///< register or address of a pointer → what it points to
  std::uint32_t next_slot_ = 0;
  unsigned depth_ = 0;
};

/// Stores a value; in registers, the place's bytes or both halves.
void store(Scene& scene, const Place& place, std::uint64_t value, bool at_exit = false);

/// The first value of a set that its type can have: what a place holds while others vary.
std::uint64_t usual_value(const spec::Tables& tables, Abi abi, const spec::Type& type);

}  // namespace tracer::probe
