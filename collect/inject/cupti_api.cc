#include "collect/inject/cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace gpuprof::inject {
namespace {

// The path of a libcupti that is mapped already; empty when there is none.
int find_mapped(dl_phdr_info* library, std::size_t, void* path) noexcept {
    const char* name = library->dlpi_name;
    if (name == nullptr || std::strstr(name, "/libcupti.so") == nullptr) return 0;
    std::strncpy(static_cast<char*>(path), name, sizeof(Cupti::path) - 1);
    return 1;
}

void* open_library(const char* name, int flags) noexcept {
    if (name == nullptr || name[0] == '\0' || std::strstr(name, "/stubs/") != nullptr) return nullptr;
    return dlopen(name, flags);
}

void* find_library(const char* named, const char* mapped) noexcept {
    if (void* library = open_library(mapped, RTLD_LAZY | RTLD_NOLOAD)) return library;
    if (void* library = open_library(named, RTLD_LAZY | RTLD_LOCAL)) return library;
    for (const char* name :
         {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
          "/usr/local/cuda/lib64/libcupti.so", "libcupti.so"})
        if (void* library = open_library(name, RTLD_LAZY | RTLD_LOCAL)) return library;
    return nullptr;
}

}  // namespace

bool Cupti::load(const char* named) noexcept {
    char mapped[sizeof path] = {};
    dl_iterate_phdr(find_mapped, mapped);
    void* library = find_library(named, mapped);
    if (library == nullptr) return false;
    bool complete = true;
#define FUNCTION(required, result, name, arguments)                      \
    name = reinterpret_cast<result(*) arguments>(dlsym(library, #name)); \
    complete = complete && (!(required) || name != nullptr);
#include "collect/inject/cupti_symbols.def"
#undef FUNCTION
    if (!complete) {
        *this = Cupti{};
        return false;
    }
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(cuptiActivityEnable), &where) != 0 && where.dli_fname != nullptr)
        std::strncpy(path, where.dli_fname, sizeof path - 1);
    return true;
}

}  // namespace gpuprof::inject
