// The syntax tree becomes tables: names are resolved, layouts computed, signatures flattened.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sysc/ast.h"
#include "sysc/compile.h"
#include "sysc/diagnostics.h"
#include "sysc/symbols.h"
#include "sysc/table_builder.h"
#include "sysc/timing.h"

namespace tracer::sysc {

/// Where the names of an expression are looked up.
struct Scope {
  enum class Kind : std::uint8_t { none, call, structure, table };
  struct Entry {
    std::string_view name;
    spec::Index id = spec::none;      ///< of a Param or a Field
    const ast::Type* type = nullptr;  ///< as written
  };
  Kind kind = Kind::none;
  std::vector<Entry> entries;                      ///< parameters of the call, or fields of the struct
  const std::vector<ast::Name>* params = nullptr;  ///< formal parameters of the struct or table
};

/// Sizes by ABI. A variable type has only its fixed part here.
struct TypeLayout {
  std::array<std::uint32_t, abi_count> size{};
  std::array<std::uint8_t, abi_count> align{1, 1, 1, 1, 1};
  bool variable = false;
  bool recursive = false;  ///< it contains itself, which has been reported
};

/// A description of a call for some ABIs.
struct CallVariant {
  const ast::Call* ast = nullptr;
  spec::Index signature = spec::none;
};

/// Of the number of an ioctl: the bits that its name leaves open.
std::uint32_t open_bits_of(const ast::IoctlRow& row);

class Lowering {
 public:
  Lowering(const ast::Program& program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics), symbols_(program, diagnostics) {}

  spec::TableSet run(const CompileOptions& options);
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }

 private:
  // Sets and ioctl numbers.
  void lower_sets();
  void lower_set(const ast::Set& set, spec::ConstantSet& row);
  void gather_groups(const ast::Set& set, std::vector<ast::Group>& groups, unsigned depth);
  void add_constants(const ast::Member& member, std::vector<spec::Constant>& constants);
  void lower_ioctl_set();
  void warn_of_numbers();
  void warn_of_number(const ast::Ioctls& block, const ast::IoctlRow& row);
  AbiValues ioctl_numbers(const ast::Ioctls& block, const ast::IoctlRow& row);

  // Expressions.
  spec::ExprId lower_expr(const ast::Expr& expr, const Scope& scope, const ast::Set* preferred = nullptr);
  spec::ExprId lower_optional(const ast::Box<ast::Expr>& expr, const Scope& scope);
  spec::ExprId lower_reference(const ast::Expr& at, const ast::Reference& reference, const Scope& scope,
                               const ast::Set* preferred);
  spec::ExprId lower_member(const ast::Expr& at, const ast::Reference& reference, const Scope& scope);
  spec::ExprId lower_binary(const ast::Expr& at, const ast::Binary& binary, const Scope& scope,
                            const ast::Set* preferred);
  spec::ExprId lower_pointer_name(Position at, const std::string& name, const Scope& scope, bool was);
  spec::ExprId unknown_name(Position at, const std::string& name, const Scope& scope);
  const ast::Set* set_of(const ast::Expr& expr, const Scope& scope);
  const ast::Set* set_of(const ast::Type& type);
  bool is_chosen(const ast::Type& type, unsigned depth = 4);
  bool is_table(const ast::Type& type);
  /// The values of a key (a constant or a number), reported if there are none.
  AbiValues key_values(const ast::Expr& key, const ast::Set* preferred);
  const ConstantSymbol* find_constant(Position at, const std::string& name, const ast::Set* preferred);

  // Types.
  spec::TypeId lower_type(const ast::Type& type, const Scope& scope);
  spec::TypeId lower_node(const ast::Named& named, const ast::Type& at, const Scope& scope);
  spec::TypeId lower_node(const ast::Pointer& pointer, const ast::Type& at, const Scope& scope);
  spec::TypeId lower_node(const ast::Array& array, const ast::Type& at, const Scope& scope);
  spec::TypeId lower_node(const ast::Bytes& bytes, const ast::Type& at, const Scope& scope);
  spec::TypeId lower_node(const ast::Text& text, const ast::Type& at, const Scope& scope);
  spec::TypeId lower_node(const ast::Custom& custom, const ast::Type& at, const Scope& scope);
  spec::Range lower_args(const ast::Named& named, std::size_t expected, Position at, const Scope& scope);
  void lower_length(const ast::Length& length, spec::Type& type, const Scope& scope);
  std::optional<spec::Style> style_named(const ast::Name& name);
  spec::TypeId with_style(spec::TypeId id, const ast::Name& style);
  spec::TypeId with_width(spec::TypeId id, const ast::Name& width);
  spec::TypeId type_of_set(const Symbol& symbol, const std::string& name);
  spec::TypeId builtin(std::string_view name);
  spec::TypeId fallback_type();
  std::string text_of(spec::TypeId id) const;
  /// The type behind aliases; nullptr if it is not declared.
  const ast::Type* resolve(const ast::Type& type);

  // Layouts and structs.
  TypeLayout layout_of(spec::TypeId id, Position at);
  TypeLayout layout_in_number(spec::TypeId id, Position at);
  TypeLayout layout_of_array(const spec::Type& type, Position at);
  TypeLayout layout_of_choice(spec::Index index, Position at);
  void declare_structs();
  /// False: it is being lowered, so it contains itself; that is reported.
  void report_no_field(const ast::Name& name, const ast::Struct& structure);
  void check_names(const ast::Struct& structure, const std::optional<std::vector<ast::Name>>& names,
                   const Scope& scope);
  Scope scope_of_fields(const ast::Struct& structure, const std::vector<spec::FieldId>& ids);
  spec::Field lower_field(const ast::Field& field, const ast::Struct& structure, const Scope& scope);
  bool lower_struct(spec::Index index, Position use);
  void place_fields(const ast::Struct& structure, spec::Struct& row, const std::vector<spec::FieldId>& ids);
  std::vector<spec::FieldId> print_order(const ast::Struct& structure, spec::Index first);
  void lower_table(spec::Index index);

  // Calls.
  void lower_calls();
  spec::Index lower_signature(const ast::Signature& signature, std::vector<const ast::Param*> params,
                              const ast::Signature* enclosing, AbiMask abis);
  Scope lower_params(const std::vector<const ast::Param*>& params, spec::Signature& row);
  void assign_slots(const std::vector<const ast::Param*>& params, spec::Range range);
  void delay_what_is_filled_in(spec::Range params);
  void lower_rows(const ast::Signature& signature, const std::vector<const ast::Param*>& params, const Scope& scope,
                  spec::Signature& row, AbiMask abis);
  std::vector<std::pair<const ast::Row*, std::vector<const ast::Expr*>>> rows_of(const ast::Signature& signature);
  const ast::Call* call_like(const ast::Name& name) const;
  [[nodiscard]] std::vector<const ast::IoctlRow*> described_ioctls() const;
  std::vector<spec::SignatureRow> ioctl_rows(const std::vector<const ast::Param*>& params,
                                             const ast::Signature& signature, AbiMask abis);
  [[nodiscard]] spec::Index number_set(const ast::IoctlRow& row);
  void add_rows(const AbiValues& values, std::uint32_t open_bits, spec::Index signature, AbiMask abis,
                std::vector<spec::SignatureRow>& rows);
  /// How an argument lies in registers, as it or its alias says.
  ast::Type::Registers registers_of(const ast::Type& type);
  const CallVariant* find_variant(std::string_view name, Abi abi) const;
  spec::CallId call_row(const std::string& printed, const CallVariant& variant);
  void lower_redirect(spec::CallId id, const ast::Call& ast);
  void lower_numbers(bool lenient);
  void check_registers(const ast::Number& row, spec::Index signature);
  spec::Index fallback_signature();

  // Libraries.
  void lower_libraries();
  void lower_library(const ast::Library& library);
  void lower_function(const ast::Library& library, const ast::Name& name, const ast::Call& ast, bool sets_errno);
  void number_in_order(spec::Index signature);
  void reject_library_words(const ast::Call& call);
  [[nodiscard]] std::string type_suggestion(const std::string& name) const;

  const ast::Program& program_;
  Diagnostics& diagnostics_;
  Symbols symbols_;
  TableBuilder builder_;
  spec::TableSet& set_ = builder_.set;

  enum class Progress : std::uint8_t { none, started, done };
  struct Lowered {
    Progress progress = Progress::none;
    unsigned open_streams = 0;  ///< around it when it was started
  };
  /// Whether one that is met again inside itself is there in a stream, of which only run time knows how deep it goes.
  [[nodiscard]] bool within_stream(const Lowered& lowered) const { return open_streams_ > lowered.open_streams; }
  std::vector<Lowered> structs_;
  std::vector<Lowered> tables_;  ///< started: being laid out
  unsigned open_streams_ = 0;    ///< that are being lowered
  std::vector<bool> variable_structs_;
  unsigned alias_depth_ = 0;
  spec::SetId ioctl_set_ = spec::none;
  spec::Index fallback_signature_ = spec::none;
  std::unordered_map<std::string, std::vector<CallVariant>> variants_;
  std::unordered_map<std::string, std::vector<std::pair<spec::Index, spec::CallId>>> call_rows_;
  std::unordered_map<const ast::IoctlRow*, AbiValues> ioctl_numbers_;
  std::unordered_map<const ast::IoctlRow*, spec::Index> ioctl_signatures_;
  std::unordered_map<std::string, Position> library_functions_;  ///< by library, NUL, name
};

}  // namespace tracer::sysc
