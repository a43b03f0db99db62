// dlopen, dlsym and the path that the loader chose.
#include "collect/dl/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace gpuprof {

namespace {

std::string real_path(void* handle) {
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return {};
    char* resolved = ::realpath(map->l_name, nullptr);
    if (!resolved) return map->l_name;
    std::string path = resolved;
    std::free(resolved);
    return path;
}

}  // namespace

Result<Library> Library::open(std::span<const std::string> names) {
    std::string reasons;
    for (const std::string& name : names) {
        if (!reasons.empty()) reasons += "; ";
        Library library;
        library.handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (!library.handle_) {
            const char* why = dlerror();
            reasons += why ? why : name + ": cannot be loaded";
            continue;
        }
        library.path_ = real_path(library.handle_);
        if (library.path_.find("/stubs/") == std::string::npos) return library;
        reasons += library.path_ + " is a stub for linking, not the driver's library";
        dlclose(library.handle_);
    }
    return Error{ExitCode::unreadable, reasons};
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

Status resolve(const Library& library, std::span<const SymbolSlot> slots) {
    for (const SymbolSlot& slot : slots) {
        *slot.function = nullptr;
        for (const char* name : slot.names) {
            *slot.function = library.symbol(name);
            *slot.resolved = name;
            if (*slot.function) break;
        }
        if (!*slot.function) *slot.resolved = slot.names.front();
        if (!*slot.function && slot.required)
            return Error{ExitCode::unreadable, library.path() + " has no function " + slot.names.front()};
    }
    return {};
}

}  // namespace gpuprof
