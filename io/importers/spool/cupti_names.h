// CUPTI's numbers for things that this program names, for every format that uses those numbers.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace gpuprof::inline importers::cuda {

// Source: CUpti_ActivityMemcpyKind. Empty if unknown.
inline std::string_view copy_kind(std::int64_t kind) {
    constexpr std::string_view kNames[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                           "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind >= 0 && kind < std::ssize(kNames) ? kNames[kind] : std::string_view();
}

// Source: CUpti_ActivityMemoryKind.
inline std::string_view memory_kind(std::int64_t kind) {
    constexpr std::string_view kNames[] = {"unknown", "pageable", "pinned",        "device",
                                           "array",   "managed",  "device static", "managed static"};
    return kind >= 0 && kind < std::ssize(kNames) ? kNames[kind] : "unknown";
}

// Source: CUpti_ActivitySynchronizationType. Empty if unknown.
inline std::string_view sync_kind(std::int64_t type) {
    constexpr std::string_view kNames[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
    return type >= 0 && type < std::ssize(kNames) ? kNames[type] : std::string_view();
}

// The same of a kind as Perfetto traces and JSON lines spell it: "stream_wait_event".
inline std::string_view sync_kind_of(std::string_view spelt) {
    constexpr std::string_view kSpelt[] = {"", "event_sync", "stream_wait_event", "stream_sync", "context_sync"};
    for (std::int64_t type = 1; type < std::ssize(kSpelt); ++type)
        if (spelt == kSpelt[type]) return sync_kind(type);
    return {};
}

// "cudaLaunchKernel_v7000" is cudaLaunchKernel as of CUDA 7.0.
inline std::string_view without_version(std::string_view name) {
    std::size_t at = name.rfind("_v");
    if (at == std::string_view::npos || at + 2 == name.size()) return name;
    bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
    return digits && name.size() - at > 5 ? name.substr(0, at) : name;
}

}  // namespace gpuprof::importers::cuda
