// dlopen, dlsym, and the path that the loader chose.
#include "collect/dl/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace gpuprof::inline dl {

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

// "A, B: cannot open shared object file; C: a stub": names with the same error are grouped.
class LoadErrors {
public:
    // `why` as dlerror() returns it, with or without a leading "NAME: ".
    void add(const std::string& name, const char* why) {
        std::string reason = why != nullptr ? why : "cannot load it";
        if (reason.starts_with(name + ": ")) reason.erase(0, name.size() + 2);
        if (!reason_.empty() && reason != reason_) {
            said_ += names_ + ": " + reason_ + "; ";
            names_.clear();
        }
        names_ += (names_.empty() ? "" : ", ") + name;
        reason_ = reason;
    }
    std::string text() const { return said_ + names_ + ": " + reason_; }

private:
    std::string said_, names_, reason_;  // names and reason of the current group
};

}  // namespace

Result<Library> Library::open(std::span<const std::string> names) {
    LoadErrors reasons;
    for (const std::string& name : names) {
        Library library;
        library.handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (!library.handle_) {
            reasons.add(name, dlerror());
            continue;
        }
        library.path_ = real_path(library.handle_);
        if (library.path_.find("/stubs/") == std::string::npos) return library;
        reasons.add(library.path_, "a stub for linking, not the driver's library");
        dlclose(library.handle_);
    }
    return Error{ExitCode::unreadable, reasons.text()};
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
            return Error{ExitCode::unreadable, library.path() + " lacks the function " + slot.names.front()};
    }
    return {};
}

}  // namespace gpuprof::dl
