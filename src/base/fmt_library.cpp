// Compiles the part of fmt that fmt/core.h does not define. Debian packages it as a shared library; loading one more
// library would slow every start for messages that few runs print.
#include <fmt/format-inl.h>

// fmt/core.h declares these as extern templates.
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void fmt::detail::vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif
