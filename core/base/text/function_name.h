// Names of functions, as C++ compilers write them.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline base {

// Demangles `name`. Names that are not mangled, and those of more than 64 KiB before or after it, stay unchanged.
std::string demangled(std::string_view name);

// Whether demangled() leaves a mangled name as it is because of its size.
bool is_too_long_demangled(std::string_view name);

// The name without return type, template arguments and parameters; those of other languages and of operators stay whole.
std::string qualified_name(std::string_view name);

// The function name alone: demangled, without return type, namespaces, template arguments and parameters. Names from
// other languages, and those of operators, stay whole.
std::string short_name(std::string_view name);

}  // namespace gpuprof::base
