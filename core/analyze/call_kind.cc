#include "core/analyze/call_kind.h"

namespace gpuprof {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (std::string_view part : parts)
        if (contains(text, part)) return true;
    return false;
}

// The function's name without its API's prefix.
std::string_view bare(std::string_view name) {
    for (std::string_view prefix : {"cuda", "hip", "cu"})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

}  // namespace

CallKind kind_of_call(std::string_view name) {
    std::string_view what = bare(name);
    if (contains(what, "Synchronize")) return CallKind::sync;
    if (contains_any(what, {"Launch"}) && !contains_any(what, {"LaunchHostFunc", "Attribute", "ExtentSet"}))
        return CallKind::launch;
    if (what.starts_with("Memcpy") || what.starts_with("MemPrefetch")) return CallKind::copy;
    if (what.starts_with("Memset")) return CallKind::set;
    if (contains_any(what, {"Malloc", "HostAlloc", "HostRegister", "HostUnregister", "FreeHost", "FreeAsync",
                            "MemAlloc", "MemFree", "MemCreate", "MemMap", "MemUnmap", "MemRelease", "MemSetAccess",
                            "MemAddressReserve", "MemAddressFree"}) ||
        what.starts_with("Free"))
        return CallKind::allocation;
    if (contains_any(what, {"ModuleLoad", "ModuleUnload", "LibraryLoad", "LibraryUnload", "LinkComplete", "LinkAdd",
                            "GraphInstantiate", "ModuleGetLoadingMode"}))
        return CallKind::compilation;
    return CallKind::other;
}

bool call_blocks(std::string_view name) {
    std::string_view what = bare(name);
    CallKind kind = kind_of_call(name);
    if (kind == CallKind::sync) return true;
    if (kind == CallKind::copy || kind == CallKind::set) return kind == CallKind::copy && !contains(what, "Async");
    if (kind != CallKind::allocation || contains(what, "Async")) return false;
    return what.starts_with("Free") || contains_any(what, {"MemFree", "FreeHost", "HostUnregister", "MemUnmap"});
}

}  // namespace gpuprof
