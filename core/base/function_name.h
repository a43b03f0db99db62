// Names of functions, as C++ compilers write them.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

// What is no mangled name, or a hostile one, stays as it is.
std::string demangled(std::string_view name);

// The function alone: demangled, without return type, namespaces, template arguments and parameters. Names that are not of
// C++, and those of operators, stay whole.
std::string short_name(std::string_view name);

}  // namespace gpuprof
