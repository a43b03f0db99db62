#include "core/base/text/function_name.h"

#define HAVE_DECL_BASENAME 1  // libiberty.h would declare another than the C library
#include <libiberty/demangle.h>

#include <array>
#include <csetjmp>
#include <cstring>

namespace gpuprof::inline base {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;  // of a name, mangled or not: hostile ones can be megabytes long

// A readable name as far as it was demangled. In a mangled name each substitution may stand for two of the one before, so a line of text can
// stand for gigabytes: at the limit `end` leaves the demangler, whose frames own no memory.
struct Readable {
    std::array<char, kMaxBytes> text;
    std::size_t bytes;
    std::jmp_buf end;
};

void append(const char* part, std::size_t bytes, void* to) {
    auto& name = *static_cast<Readable*>(to);
    if (bytes > name.text.size() - name.bytes) std::longjmp(name.end, 1);
    std::memcpy(name.text.data() + name.bytes, part, bytes);
    name.bytes += bytes;
}

enum class Outcome { done, not_mangled, too_long };

Outcome demangle(const std::string& name, Readable& readable) {
    if (!name.starts_with("_Z")) return Outcome::not_mangled;
    if (name.size() > kMaxBytes) return Outcome::too_long;
    readable.bytes = 0;
    if (setjmp(readable.end) != 0) return Outcome::too_long;
    // As __cxa_demangle(), which has no limit.
    int done = cplus_demangle_v3_callback(name.c_str(), DMGL_PARAMS | DMGL_TYPES, append, &readable);
    return done != 0 ? Outcome::done : Outcome::not_mangled;
}

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
    std::string whole(name);
    Readable readable;  // not initialised: 64 KiB
    return demangle(whole, readable) == Outcome::done ? std::string(readable.text.data(), readable.bytes) : whole;
}

bool is_too_long_demangled(std::string_view name) {
    Readable readable;
    return demangle(std::string(name), readable) == Outcome::too_long;
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
