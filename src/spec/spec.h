// The tables that `sysc` compiles from the descriptions and that the decoder interprets.
//
// They are plain data: indexes into arrays and one blob of strings, without pointers. They are compiled in at build
// time or made at run time (`--define`). Every cross-reference is an index into the array that its type names;
// `none` (all ones) means that there is no entry.
//
// `sysc` guarantees (and Tables::verify checks for tables made at run time): every index is in range; `fields` of a
// struct, `rows` of a choice and so on are contiguous; expressions are acyclic; a type contains itself only
// through a pointer or in a stream.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/abi.h"
#include "spec/style.h"

namespace tracer::spec {

using Index = std::uint32_t;
inline constexpr Index none = ~Index{0};

using StringRef = Index;  ///< offset into Tables::strings; the text ends at a NUL. Equal texts have equal refs.
using TypeId = Index;
using ExprId = Index;
using SetId = Index;
using CustomId = Index;
using ParamId = Index;
using FieldId = Index;
using CallId = Index;

/// A run of consecutive entries in the array of the same name as the member.
struct Range {
  Index first = 0;
  Index count = 0;
};

// ---------------------------------------------------------------------------------------------- expressions

enum class ExprOp : std::uint8_t {
  literal,           // value
  variable_literal,  // a constant whose value differs by ABI: `a` is the first of abi_count entries in
                     // Tables::abi_values
  arg,               // the argument of param `a`, cut to its type's width
  deref,             // the target of the pointer argument of param `a`, read by its target type (a scalar)
  field,             // field `a` of the struct being decoded
  deref_field,       // the target of the pointer in field `a`
  outer,   // `^x`: `a` is the StringRef of a parameter (or field) name, looked up in the enclosing structs, then the
           // call
  param,   // parameter number `a` of the struct, union, stream or table being decoded
  ret,     // the call's result
  ok,      // 1 if the call succeeded
  rest,    // bytes left in the enclosing sized region
  word,    // size in bytes of the tracee's long
  nth,     // index in its array of the element being decoded
  option,  // `option(NAME)`: 1 if the user asked for what the Option `a` is, else 0
  it,      // the number that a `show` formats
  everything,  // `all`: no limit
  member,      // field `b` of the struct that is field `a`: `header.nlmsg_type`
  lookup,      // `lookup(FACT, x)`: the Lookup `b` of the value of `a`
  sibling,     // `sibling(TYPE)`: the text_number() of the netlink attribute of type `a` beside the one that is being
               // decoded; nothing if there is none
  align,       // `a` rounded up to a multiple of `b`
  minimum,     // `min(a, b)`, without signs
  bit_and,
  bit_or,
  equal,
  not_equal,
  less,
  greater,
  add,
  subtract,
  multiply,
  divide,
  shift_right,  // of `a` and `b`, without signs
};

/// What a user may ask for, as descriptions call it.
enum class Option : std::uint8_t {
  verbose,   // -v
  io_uring,  // --io-uring
  raw,       // -X raw
};
inline constexpr std::array<std::string_view, 3> option_names = {"verbose", "io_uring", "raw"};

/// What is known of a number beside the memory of the tracee.
enum class Lookup : std::uint8_t {
  netlink_protocol,  // that of a descriptor's netlink socket; -1 if it is none, 255 if it is unknown
  generic_family,    // the text_number() of the name of a generic netlink family; 0 if it has none
};
inline constexpr std::array<std::string_view, 2> lookup_names = {"netlink_protocol", "generic_family"};

struct Expr {
  ExprOp op = ExprOp::literal;
  Index a = none;
  Index b = none;
  std::int64_t value = 0;
};

// ---------------------------------------------------------------------------------------------- constants

struct Constant {
  StringRef name = none;
  AbiMask abis = all_abis;
  std::uint64_t value = 0;  ///< sign-extended to 64 bits: compare in the width of the type in use
  /// For an ioctl: the bits, 0 in `value`, that a request of this name may have. The bits of the size (16 to 29) and of
  /// the number are printed after the name, in parentheses.
  std::uint32_t open_bits = 0;
  Index number_set = none;    ///< into Tables::sets: names for the open bits of the number
  bool beyond = false;        ///< `beyond`: strace does not know the name
  bool unlikely = false;      ///< for an ioctl: printed only if no other name has the number
  bool hex_distance = false;  ///< in a range the distance is hexadecimal
  std::uint32_t reach = 0;    ///< of a range: values up to that many above `value` are printed as NAME+1
};

/// A part of a set. Plain members have mask 0. `mask 3 {…}`: members are the values of (word & mask).
/// `mask M shift N "LABEL"`: a number in a field, printed `number<<LABEL`; it has no members.
struct ConstantGroup {
  std::uint64_t mask = 0;
  std::uint8_t shift = 0;
  StringRef label = none;
  StringRef unknown = none;  ///< `mask M "X_???"`: a value without a name is printed too, first
  bool apart = false;        ///< `apart`: its raw value or comment is printed separately: `0x1|0x80000`
  Range constants;  ///< into Tables::constants, in the order of the description, which is the order of printing
};

struct ConstantSet {
  StringRef name = none;
  StringRef unknown = none;  ///< "O_???"; none: an unknown value is printed as a bare number
  /// For ioctls: on descriptors of this driver only these names hold for their numbers, which others share. `special`:
  /// the next such set.
  StringRef driver = none;
  SetId special = none;
  bool beyond = false;  ///< `beyond drivers`: strace does not distinguish this driver from others
  bool is_flags = false;
  Style fallback = Style::hex;  ///< style of a value without a name
  Range groups;
};

// ---------------------------------------------------------------------------------------------- types

enum class TypeKind : std::uint8_t {
  scalar,     // width, is_signed, style, set
  pointer,    // target, direction; null_ok
  array,      // target = element; length
  bytes,      // raw bytes; length, hex
  cstr,       // text up to NUL; length (a fixed field) or none (find the NUL)
  structure,  // index into structs; args
  choice,     // index into choices (a `table`): a type chosen by values; args
  custom,     // `custom NAME [: T]`: name = function in src/decoders, target = T for size (or none: scalar argument)
};

enum class Direction : std::uint8_t { in, out, inout };

// Widths of scalars that differ by ABI.
inline constexpr std::uint8_t word_wide = 0;           ///< the tracee's long
inline constexpr std::uint8_t register_wide = 9;       ///< the kernel's long: 8 bytes on x32 too
inline constexpr std::uint8_t long_double_wide = 127;  ///< long double, by System V's and ARM's ABI documents

/// System V ABI, i386 supplement: 80 bits in 12 bytes; AMD64 supplement: in 16; AAPCS64: 128 bits; AAPCS32: a double.
constexpr unsigned long_double_size(Abi abi) {
  return abi == Abi::i386 ? 12 : abi == Abi::arm ? 8 : 16;
}
constexpr unsigned bytes_of(std::uint8_t width, Abi abi) {
  switch (width) {
    case word_wide:
      return word_size(abi);
    case register_wide:
      return register_size(abi);
    case long_double_wide:
      return long_double_size(abi);
    default:
      return width;
  }
}

/// The word of `brief ""`, for which no count is printed.
inline constexpr std::string_view brief_none = "...";

/// Determines the end of `T[…]`.
enum class LengthKind : std::uint8_t {
  none,
  count,       // elements (bytes: bytes)
  byte_count,  // `[n bytes]`
  until_zero,  // ends with an element that is 0 / NULL, and at the length if there is one
};

/// A type at one place of use. Members that its kind does not use have their defaults.
struct Type {
  TypeKind kind = TypeKind::scalar;
  StringRef name = none;  ///< as written in the description: "fd", "open_flags", "timespec" (JSON's `type`)

  // scalar
  std::uint8_t width = 4;  ///< 1, 2, 4, 8 bytes or one of those above
  bool is_signed = false;
  Style style = Style::number;  ///< also of cstr (path)
  SetId set = none;             ///< names for values; of an array (`indexed SET`) for the indexes

  // pointer, array, custom
  CustomId custom = none;  ///< kind custom: the function in src/decoders
  TypeId target = none;
  Direction direction = Direction::in;
  bool wide_pointer = false;  ///< `*64`: 8 bytes on every ABI

  // array, bytes, cstr
  LengthKind length_kind = LengthKind::none;
  ExprId length = none;
  ExprId budget = none;    ///< `[n of total]`: the ExprOp::param that counts down the remaining elements
  std::uint32_t max = 0;   ///< `max N`: never more elements or bytes; 0: no limit
  bool hex = false;        ///< hexbytes
  StringRef brief = none;  ///< `brief "vars"`: without -v only /* 23 vars */; brief_none: only [...]

  // pointer: `*T sized by EXPR`, the number of bytes that may be read there
  ExprId sized_by = none;

  // structure, choice; scalar: `show` and `as fd of PARAM`
  Index index = none;  ///< into the table of its kind; of a scalar into Tables::shows
  Range args;  ///< into Tables::expr_lists: values for its parameters, evaluated where the type is used; of a scalar
               ///< the name, as ExprOp::outer, of the parameter that says whose descriptor it is

  // bit-field: its lowest bit and the number of its bits; 0: all bits of the width
  std::uint8_t bit_offset = 0;
  std::uint8_t bit_count = 0;
};

enum class StructKind : std::uint8_t { plain, overlay /* union */, stream };

/// Size and alignment in bytes by ABI. Size 0 with `sized_by` or a trailing variable part: known only at run time.
struct Layout {
  std::array<std::uint32_t, abi_count> size{};
  std::array<std::uint8_t, abi_count> align{};
};

/// An index into Tables::shows that is narrow, so that it costs the many structures without one nothing.
using ShowIndex = std::uint16_t;
inline constexpr ShowIndex no_show = 0xffff;

struct Struct {
  StringRef name = none;
  StructKind kind = StructKind::plain;
  bool variable = false;       ///< the last field has a length known only at run time; layout.size is the fixed part
  bool has_brief = false;      ///< without -v only the fields in_brief are printed, then `...`
  bool is_part = false;        ///< ... even with -v
  bool is_list = false;        ///< its fields are printed as elements, a single one without brackets
  bool is_spliced = false;     ///< for a list: its elements are printed among those of the enclosing list
  bool is_complex = false;     ///< a complex number of C, which functions return in a special way
  bool is_followed = false;    ///< pointers to it are followed even with -e verbose=none
  bool has_short = false;      ///< if bytes are missing, only the fields in_short are printed, then `...`
  StringRef short_end = none;  ///< … or this text, where they cannot be read; none: their address
  bool has_beginning = false;  ///< its first field is known at entry, another only at exit
  std::uint8_t param_count = 0;
  ShowIndex show = no_show;  ///< a text in place of its fields, or behind them
  Layout layout;
  ExprId sized_by = none;         ///< `sized by EXPR`: its size in the tracee, in bytes
  std::uint32_t min_size = 0;     ///< if it has fewer bytes, its address is printed
  std::uint32_t filled_size = 0;  ///< if it has fewer bytes, zeros follow up to that many
  ExprId step = none;             ///< stream: bytes to the next record
  Range fields;                   ///< in the order of printing
};

struct Field {
  StringRef name = none;
  TypeId type = none;
  std::array<std::uint32_t, abi_count> offset{};
  ExprId condition = none;              ///< `if`: printed only if it is true
  ExprId when = none;                   ///< `when`: if it is false, a pointer is printed as an address
  Direction direction = Direction::in;  ///< `out`: printed only at exit; `inout`: old => new
  bool late = false;     ///< `late`: the pointer at entry, then its target after the call, as ` => {name=…}`
  bool hidden = false;   ///< the field is read but never printed (reserved, padding)
  Index together = 0;    ///< fields with the same non-zero number are printed only if one of them is not 0
  bool in_brief = true;  ///< printed without -v too
  bool in_short = true;  ///< printed for a part of the struct too
  bool inlined = false;  ///< `inline`: the fields of its type are printed as fields of this struct
  ExprId at = none;      ///< `at`: its offset in bytes from the struct's start; none: see `offset`
  bool at_exit = false;  ///< a part of it is known only at exit
};

/// A part of the text that shows a number: a text, or a value in the form of its type.
struct ShowPart {
  StringRef text = none;  ///< none: `value`
  ExprId value = none;
  TypeId type = none;
  ExprId condition = none;  ///< the part is left out if it is false
  bool styled = false;      ///< in a name too, -X applies to the value
};

/// How a text relates to the number that it shows.
enum class ShowKind : std::uint8_t {
  name,     ///< it is a name for the number: -X applies
  always,   ///< it stands for the number whatever -X says
  comment,  ///< it follows the number as a comment
};

/// `show { … }`: how a number is printed. A number of which no part shows is printed by its style.
struct Show {
  ShowKind kind = ShowKind::name;
  Range parts;
};

/// Returns the first eight bytes of a text as a little-endian number. `"vlan"` as a key of a table stands for its
/// number, and memory that starts with the text has the same one.
constexpr std::int64_t text_number(std::string_view text) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < text.size() && i < sizeof(number); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  return static_cast<std::int64_t>(number);
}

/// The value of a key on an ABI that lacks the constant. No value of a tracee equals it.
inline constexpr std::int64_t absent_key = std::numeric_limits<std::int64_t>::min();

/// A row of a `table`. It has up to two keys; a key that is `none` matches any value.
struct ChoiceRow {
  std::array<ExprId, 2> keys{none, none};  ///< literals (or variable_literals)
  TypeId type = none;                      ///< none: an address
  bool whole = false;                      ///< matches only if enough bytes are left for the type
  bool beyond = false;                     ///< `beyond`: strace has no such row
};

struct Choice {
  StringRef name = none;
  std::uint8_t param_count = 0;
  Range rows;  ///< tried in order; `else` is last
};

// ---------------------------------------------------------------------------------------------- calls

/// The limit for a function of a library, in slots: a structure takes one for each word. A system call has at most six.
inline constexpr std::size_t most_parameters = 255;

struct Param {
  StringRef name = none;
  TypeId type = none;  ///< none: a skipped slot (`_`)
  std::array<std::uint8_t, abi_count>
      slot{};               ///< argument register; on little endian it holds the low half of a wide value
  bool wide = false;        ///< takes two registers if registers have 32 bits
  ExprId condition = none;  ///< `if`
  ExprId when = none;       ///< `when`
  bool at_exit = false;     ///< it and all later parameters are printed at exit
  bool saved = false;       ///< its target at entry must be saved (inout)
  bool named = false;       ///< `named`: printed as name=value
  bool unpassed = false;    ///< `unpassed`: printed although no register holds it; `slot` is unused
  bool late = false;        ///< `late`: nothing of it is printed at entry
  bool begins = false;      ///< at_exit, but the fields of a struct before its first output field are printed at entry
};

/// Parameters, result and, after `by`, the values that select longer forms of the same call.
struct Signature {
  StringRef shown = none;  ///< name of the call that this form represents, if it differs
  Range params;            ///< with those of the enclosing signature, in the order of printing
  TypeId result = none;    ///< none: void
  TypeId note = none;      ///< explanation after the result: `(flags O_RDWR)`
  StringRef note_prefix = none;
  bool note_styled = false;  ///< -X applies to it as to an argument; else only names are printed
  ExprId selector = none;    ///< none: there are no rows
  Range rows;                ///< into Tables::signature_rows, sorted by value
  Index otherwise = none;    ///< signature if no row matches; none: this one
};

struct SignatureRow {
  std::uint64_t value = 0;  ///< cut to the width of the selector's type, then extended by its sign
  AbiMask abis = all_abis;
  bool beyond = false;  ///< `beyond`: strace has no such row
  Index signature = none;
  std::uint32_t open_bits = 0;  ///< see Constant
  StringRef driver = none;      ///< for an ioctl: on descriptors of this driver it goes before others of its value
};

/// Classes of calls, each with one bit, named as in `%class`.
enum class CallClass : std::uint8_t {
  file,
  process,
  network,
  signal,
  ipc,
  desc,
  memory,
  creds,
  stat,
  lstat,
  fstat,
  stat_like,
  statfs,
  fstatfs,
  statfs_like,
  clock,
  pure,
};
inline constexpr std::size_t call_class_count = 17;
inline constexpr std::array<std::string_view, call_class_count> call_class_names = {
    "file",  "process", "network", "signal", "ipc",     "desc",    "memory", "creds", "stat",
    "lstat", "fstat",   "%stat",   "statfs", "fstatfs", "%statfs", "clock",  "pure"};

using ClassMask = std::uint32_t;
constexpr ClassMask mask_of(CallClass c) {
  return ClassMask{1} << static_cast<unsigned>(c);
}

/// The last parameter of a library's function is a format that determines further ones (printf(3), scanf(3)).
enum class Varargs : std::uint8_t { none, printf, scanf };

struct Call {
  StringRef name = none;  ///< as printed
  Index signature = none;
  ClassMask classes = 0;
  bool never_returns = false;  ///< exit, exit_group: `= ?`
  Varargs varargs = Varargs::none;
  bool sets_errno = false;  ///< for a library: the result -1 or NULL is an error, and errno has its number
  /// For a library: it runs no code of the program but signal handlers, does not wait, does not look at its return
  /// address or those of its callers, and returns once, to its caller, on the stack that it was called on.
  bool leaf = false;
  ExprId redirect = none;  ///< `redirect args by call`: selects a row …
  ParamId redirect_args =
      none;  ///< … and the parameter that points to the real call's arguments (none: they follow in the registers)
  Range redirects;  ///< into Tables::redirects
};

struct Redirect {
  std::uint64_t value = 0;
  CallId call = none;
};

/// A function of a library. Its parameters have `slot` 0, 1, … in the order of C, each a value of up to 64 bits. The
/// calling convention, which the tables do not contain, assigns registers. A result of type `none` is void.
struct Function {
  StringRef library = none;  ///< DT_SONAME: "libc.so.6"
  StringRef name = none;
  CallId call = none;
};

struct NumberedCall {
  std::uint32_t number = 0;
  CallId call = none;
  bool beyond = false;  ///< `beyond calls`: strace has no name for the number
};

// ---------------------------------------------------------------------------------------------- all of it

/// Views that do not own the entries. Generated tables are static; a TableSet owns loaded ones.
struct Tables {
  std::string_view strings;
  std::span<const Expr> exprs;
  std::span<const ExprId> expr_lists;
  std::span<const std::int64_t> abi_values;
  std::span<const Constant> constants;
  std::span<const ConstantGroup> groups;
  std::span<const ConstantSet> sets;
  std::span<const StringRef> customs;  ///< names of functions in src/decoders
  std::span<const Type> types;
  std::span<const Struct> structs;
  std::span<const Field> fields;
  std::span<const Show> shows;
  std::span<const ShowPart> show_parts;
  std::span<const Choice> choices;
  std::span<const ChoiceRow> choice_rows;
  std::span<const Param> params;
  std::span<const Signature> signatures;
  std::span<const SignatureRow> signature_rows;
  std::span<const Call> calls;
  std::span<const Redirect> redirects;
  std::array<std::span<const NumberedCall>, abi_count> numbers;  ///< sorted by number
  std::span<const Function> functions;                           ///< sorted by the texts of library and name

  [[nodiscard]] std::string_view text(StringRef ref) const {
    return ref == none ? std::string_view{} : std::string_view(strings.data() + ref);
  }
  template <typename T>
  [[nodiscard]] static std::span<const T> slice(std::span<const T> all, Range range) {
    return all.subspan(range.first, range.count);
  }
  /// Returns the description of a call number; nullptr if it is unknown or reserved.
  [[nodiscard]] const Call* find(Abi abi, std::uint64_t number) const;
  /// Returns the description of a library's function; nullptr if there is none.
  [[nodiscard]] const Call* find(std::string_view library, std::string_view function) const;
  /// Returns whether a structure of this type has a field that is printed after the call (`after`).
  [[nodiscard]] bool shows_after(TypeId type) const;
  /// Returns the number of registers of the widest form of a call: 0 to 6.
  [[nodiscard]] std::size_t register_count(const Signature& signature, Abi abi) const;
  /// Checks what `sysc` guarantees. Returns the first violation; empty if there is none.
  [[nodiscard]] std::string verify() const;
};

/// Returns the tables compiled from `syscalls/` when the program was built.
const Tables& builtin_tables();

}  // namespace tracer::spec
