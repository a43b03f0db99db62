#include "core/base/function_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace gpuprof::inline base {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;  // hostile names can be megabytes long

// Without the text inside < > and ( ), which may be nested. `(anonymous namespace)` goes too: it is a namespace.
std::string without_brackets(std::string_view name) {
    std::string out;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        char c = name[i];
        bool arrow = c == '>' && i > 0 && name[i - 1] == '-';
        if (c == '(' && depth == 0 && !out.empty() && out.back() != ':' && out.back() != ' ') break;  // the parameters
        if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
        if (depth == 0) out += c;
        if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') depth = depth > 0 ? depth - 1 : 0;
    }
    return out;
}

// A C++ name without template arguments and parameters; "" for a name that stays whole.
std::string bare_name(std::string_view whole) {
    if (whole.size() > kMaxBytes) return {};
    std::size_t parameters = whole.find('(');
    bool called = parameters != std::string::npos && parameters > 0 && whole[parameters - 1] != ' ';
    bool is_cpp = called || whole.find("::") != std::string::npos || whole.find('<') != std::string::npos;
    if (!is_cpp) return {};  // "Memcpy HtoD (Pinned -> Device)", a Triton kernel
    std::string bare = without_brackets(whole);
    if (bare.find("operator") != std::string::npos) return {};
    while (!bare.empty() && bare.back() == ' ') bare.pop_back();
    return bare;
}

}  // namespace

std::string demangled(std::string_view name) {
    if (name.substr(0, 2) != "_Z" || name.size() > kMaxBytes) return std::string(name);
    int status = 0;
    auto release = [](char* demangled) { std::free(demangled); };
    std::unique_ptr<char, decltype(release)> text(
        abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), release);
    return status == 0 && text ? text.get() : std::string(name);
}

std::string qualified_name(std::string_view name) {
    std::string whole = demangled(name), bare = bare_name(whole);
    if (bare.empty()) return whole;
    bare.erase(0, bare.rfind(' ') + 1);
    for (std::size_t at = bare.find("::::"); at != std::string::npos; at = bare.find("::::"))
        bare.erase(at, 2);  // (anonymous namespace)
    return bare.empty() ? whole : bare;
}

std::string short_name(std::string_view name) {
    std::string whole = demangled(name), bare = bare_name(whole);
    bare.erase(0, bare.find_last_of(": ") + 1);
    return bare.empty() ? whole : bare;
}

}  // namespace gpuprof::base
