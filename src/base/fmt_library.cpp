// The part of fmt that is not in its light header, compiled once. Debian has it as a shared library only: one more of
// them to load would be paid for at every start, by messages that hardly any run prints.
#include <fmt/format-inl.h>

// The header promises that these are somewhere.
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
