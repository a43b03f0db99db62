#include "analyze/knowledge/call_kind.h"

#include "core/base/text/ascii.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline knowledge {
CallKind kind_of_call(std::string_view name) {
    std::string_view what = bare_call_name(name);
    if (contains(what, "Synchronize")) return CallKind::sync;
    switch (submission_of(name)) {
        case Submission::kernel:
        case Submission::graph: return CallKind::launch;
        case Submission::copy: return CallKind::copy;
        case Submission::fill: return CallKind::set;
        case Submission::none: break;
    }
    if (what.starts_with("MemPrefetch")) return CallKind::copy;
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
    std::string_view what = bare_call_name(name);
    CallKind kind = kind_of_call(name);
    if (kind == CallKind::sync) return true;
    if (kind == CallKind::copy || kind == CallKind::set) return kind == CallKind::copy && !contains(what, "Async");
    if (kind != CallKind::allocation || contains(what, "Async")) return false;
    return what.starts_with("Free") || contains_any(what, {"MemFree", "FreeHost", "HostUnregister", "MemUnmap"});
}

bool call_frees(std::string_view name) { return contains_any(bare_call_name(name), {"Free", "Unregister"}); }

}  // namespace gpuprof::knowledge
