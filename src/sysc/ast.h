// The syntax tree of descriptions. Each construct is a value type, with its position in the source.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/spec.h"
#include "sysc/source.h"

namespace tracer::sysc::ast {

template <typename T>
using Box = std::unique_ptr<T>;

struct Name {
  std::string text;
  Position at;
};

// ---------------------------------------------------------------------------------------------- expressions

struct Expr;

struct Literal {
  std::int64_t value = 0;
};
/// Refers to a parameter, a field or a constant; with `member`, it is `name.member`.
struct Reference {
  std::string name;
  std::string member;
};
struct Dereference {
  std::string name;
};
struct Outer {
  std::string name;
};
/// `ret`, `ok`, `rest`, `word`, `all`, or `option(NAME)`.
struct Reserved {
  spec::ExprOp op;
  spec::Index which = spec::none;  ///< the Option
};
enum class BinaryOp : std::uint8_t {
  equal,
  not_equal,
  less,
  greater,
  bit_or,
  bit_and,
  shift_left,
  add,
  subtract,
  multiply,
  divide,
  shift_right
};
struct Binary {
  BinaryOp op;
  Box<Expr> left;
  Box<Expr> right;
};
/// `align(a, b)`, `min(a, b)`, `sibling(TYPE)`, `lookup(FACT, x)`
struct Applied {
  spec::ExprOp op;
  Box<Expr> first;
  Box<Expr> second;                ///< null: the operator takes one operand
  spec::Index which = spec::none;  ///< the Lookup
};

struct Expr {
  Position at;
  std::variant<Literal, Reference, Dereference, Outer, Reserved, Binary, Applied> node;
};

inline Box<Expr> boxed(Expr expr) {
  return std::make_unique<Expr>(std::move(expr));
}

// ---------------------------------------------------------------------------------------------- types

struct Type;

/// The length in `[…]`.
struct Length {
  Position at;
  spec::LengthKind kind = spec::LengthKind::none;
  Box<Expr> count;   ///< absent with until_zero
  Box<Expr> budget;  ///< `of total`
  std::uint32_t max = 0;
};

/// Names a scalar, an alias, a set, a struct or a table.
struct Named {
  std::string name;
  std::string member;  ///< `family.name`
  std::vector<Expr> args;
};
struct Pointer {
  spec::Direction direction = spec::Direction::in;
  bool wide = false;  ///< `*64`
  Box<Type> target;
  Box<Expr> sized_by;
};
struct Array {
  Box<Type> element;
  Length length;
  std::string brief;            ///< `brief "vars"`
  std::optional<Name> indexes;  ///< `indexed SET`
};
struct Bytes {
  Length length;
  bool hex = false;
  std::string brief;
};
struct Text {
  std::optional<Length> length;
};
struct Custom {
  Name function;
  Box<Type> memory;
};

/// `"TEXT"`, or `EXPR`, `EXPR : SET` or `EXPR as STYLE`.
struct ShowPart {
  std::string text;  ///< of a part without a value
  Box<Expr> value;
  Box<Type> type;
  bool styled = false;
};
/// The parts of `if EXPR { … }`, or one that stands alone.
struct ShowGroup {
  Box<Expr> condition;
  std::vector<ShowPart> parts;
};
/// `show { … }`
struct Show {
  Position at;
  spec::ShowKind kind = spec::ShowKind::name;
  std::vector<ShowGroup> groups;
};

struct Type {
  Position at;
  std::variant<Named, Pointer, Array, Bytes, Text, Custom> node;
  std::optional<Name> style;  ///< `as fd`
  std::optional<Name> width;  ///< `: u16`
  enum class Registers : std::uint8_t { one, wide, halves };
  Registers registers = Registers::one;  ///< for an argument of 64 bits
  std::optional<Name> owner{};           ///< `fd of PARAM`
  Box<Show> show{};
  std::uint8_t bit_count = 0;  ///< `bits N`: a bit-field
};

// ---------------------------------------------------------------------------------------------- declarations

struct Alias {
  Name name;
  Type type;
};

/// `V=1`, `V=1@x86,2@arm`.
struct Member {
  Name name;
  std::array<std::optional<std::int64_t>, abi_count> values;
  std::int64_t last = 0;            ///< `V=1 to 9`: the range's end; else 0
  bool shows_hex_distance = false;  ///< `V=1 to 9 as hex`
};
/// `mask M "X_???" apart {…}` or `mask M shift N "LABEL" apart`; the plain members of a set have mask 0.
struct Group {
  Position at;
  std::uint64_t mask = 0;
  std::uint8_t shift = 0;
  std::string label;
  std::string unknown;
  bool apart = false;
  std::vector<Member> members;
};
struct Include {
  Name set;
};
struct Set {
  Name name;
  bool is_flags = false;
  std::optional<Name> width;
  std::string unknown;
  std::optional<Name> style;
  std::vector<std::variant<Group, Include>> parts;
};

struct Field {
  Name name;
  Type type;
  Box<Expr> condition;
  Box<Expr> when;
  spec::Direction direction = spec::Direction::in;
  bool late = false;
  bool inlined = false;
  std::uint32_t together = 0;
  Box<Expr> offset;  ///< `at EXPR`
};
struct Struct {
  Name name;
  spec::StructKind kind = spec::StructKind::plain;
  std::vector<Name> params;
  AbiMask packed = 0;
  Box<Expr> sized_by;
  std::uint32_t min_size = 0;
  std::uint32_t filled_size = 0;
  Box<Expr> step;
  std::vector<Field> fields;                  ///< in memory order
  std::vector<Name> print;                    ///< `show {…}`
  std::optional<std::vector<Name>> brief;     ///< `show brief {…}` or `show part {…}`
  bool is_part = false;                       ///< … the latter
  std::optional<std::vector<Name>> if_short;  ///< `show short {…}`
  std::string short_end;                      ///< the string behind them
  Box<Show> show{};
  bool is_list = false;
  bool is_spliced = false;  ///< `list inline`
  bool is_complex = false;
  bool is_followed = false;
};

/// `keys` has a list of alternatives for each parameter; an empty list stands for `else`.
struct TableRow {
  Position at;
  std::vector<std::vector<Expr>> keys;
  Type type;
  std::optional<Type> otherwise{};        ///< `or TYPE`: used if there are too few bytes
  std::vector<std::string> attributes{};  ///< the names of the first keys, where these are attributes
};
struct Table {
  Name name;
  std::vector<Name> params;
  std::vector<TableRow> rows;
};

struct Param {
  Name name;
  std::optional<Type> type;  ///< absent: `_`
  Box<Expr> condition;
  Box<Expr> when;
  std::optional<std::uint8_t> slot;  ///< `at N`: the register, if it is not the next one
  bool named = false;                ///< `named`: printed with its name
  bool unpassed = false;             ///< `unpassed`: no register holds it
  bool late = false;                 ///< `late`: printed at exit
};
struct Row;
struct Signature {
  Position at;
  std::string shown;  ///< `"semget"` before the parameters of a row: the name that is printed
  std::vector<Param> params;
  std::optional<Type> result;
  std::optional<Name> never;
  std::optional<Name> nothing;  ///< `-> void`
  std::optional<Type> note;
  std::string note_prefix;
  bool note_styled = false;
  Box<Expr> selector;
  std::optional<Name> like;  ///< the call from which further rows are copied
  std::vector<Row> rows;
};
struct Row {
  std::vector<Expr> keys;  ///< empty: `else`
  Signature signature;
};
struct RedirectRow {
  std::vector<Expr> keys;
  Name call;
};
struct Call {
  Name name;
  AbiMask abis = all_abis;
  bool for_some_abis = false;  ///< `name@…`
  Signature signature;
  spec::ClassMask classes = 0;
  Box<Expr> redirect;
  std::optional<Name> redirect_args;
  std::vector<RedirectRow> redirects;
  spec::Varargs varargs = spec::Varargs::none;
  bool sets_errno = false;
};

struct IoctlRow {
  Name name;
  std::array<std::optional<std::int64_t>, abi_count> number;  ///< the number, or the `n` of `_IO…(n`
  enum class Encoding : std::uint8_t { plain, io, read, write, read_write } encoding = Encoding::plain;
  std::optional<Type> size;  ///< absent: `?`, no size, or the size of the argument's target
  bool any_size = false;
  std::uint32_t open_number = 0;   ///< `64 to 127`: the bits that may be set in addition to the first number
  std::optional<Name> number_set;  ///< `as SET`: names the numbers, from the first one on
  std::optional<Signature> signature;
  AbiMask likely = 0;    ///< the ABIs on which its block is
  AbiMask unlikely = 0;  ///< the same
  std::string driver{};  ///< that of its block

  /// Returns the type whose size the number encodes; nullptr if it encodes none.
  [[nodiscard]] const Type* size_type() const;
};
struct Ioctls {
  Position at;
  std::uint8_t type = 0;
  std::vector<IoctlRow> rows;
};

struct Library {
  std::vector<Name> names;  ///< sonames; a library may have several
  std::vector<Call> functions;
  std::vector<Name> calls;  ///< functions that wrap the system call of the same name
  bool leaf = false;        ///< see spec::Call::leaf
};

/// `beyond OF { KEY… }`: rows or names of which strace has none.
struct Beyond {
  Name of;  ///< a set, a table, a call with rows, or `ioctls` for the arguments of ioctls
  std::vector<Name> keys;
};

using Item = std::variant<Alias, Set, Struct, Table, Call, Ioctls, Library, Beyond>;

/// A line of a `.nr` file.
struct Number {
  Abi abi = Abi::x86_64;
  std::uint32_t number = 0;
  Name name;
  Name description;
};

struct Program {
  std::vector<Item> items;
  std::vector<Number> numbers;
  std::optional<std::size_t> first_replaceable;  ///< see CompileOptions
  std::vector<Call> replaced;                    ///< calls that the user's descriptions replace

  /// Returns whether the position is in a file of the user, which takes precedence over the built-in ones.
  [[nodiscard]] bool is_users(Position at) const { return first_replaceable && at.file < *first_replaceable; }
};

}  // namespace tracer::sysc::ast
