// A file of calls of the operating system, shared by the preloaded library that fills it in a program and by the launcher
// that reads it: a header, then a fixed number of calls. The library maps it, so a killed program leaves what it had
// entered. Both come from the same build, and the header says which.
//
//   | magic, build, process, capacity | counts of short calls by function | call 0 | call 1 | ...
//
// A call is complete when its function is not 0, which is stored last.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "collect/os_calls/functions.def"
#include "core/base/fnv.h"

namespace gpuprof::os_calls {

enum class Function : std::uint32_t {
#define GPUPROF_ENUMERATE(name) name##_,
    GPUPROF_OS_FUNCTIONS(GPUPROF_ENUMERATE)
#undef GPUPROF_ENUMERATE
        count_
};
inline constexpr std::size_t kFunctions = static_cast<std::size_t>(Function::count_);
inline constexpr std::string_view kFunctionNames[kFunctions] = {
#define GPUPROF_NAME(name) #name,
    GPUPROF_OS_FUNCTIONS(GPUPROF_NAME)
#undef GPUPROF_NAME
};

// Changes with the layout below and with the list of functions.
constexpr std::uint64_t build_of_log() {
    std::uint64_t hash = kFnvBasis;
    for (std::string_view name : kFunctionNames) hash = fnv1a(name, hash);
    return hash ^ 1;  // version of the layout
}

inline constexpr std::uint64_t kLogMagic = 0x736C6C61636F7067u;  // "gpocalls"

// The file that the launcher makes for all processes of a recording, so that nothing is lost in silence where a process cannot have a
// log: it maps this one when it is loaded, by its path or by a descriptor that it inherited, and all its forks have it.
struct SharedCounts {
    std::uint64_t magic, build, least_ns;
    std::atomic<std::uint64_t> programs;  // that mapped it: one for each exec
    std::atomic<std::uint64_t> refused;   // logs that a process could not begin
    std::atomic<std::uint64_t> error;     // errno of the last one; 0: it was not allowed to ask (seccomp)
    std::atomic<std::uint64_t> dropped;   // calls without a log, of those that would have been entered
};
inline constexpr std::size_t kSharedBytes = 4096;  // of the file
static_assert(sizeof(SharedCounts) <= kSharedBytes);

struct ShortCalls {
    std::atomic<std::uint64_t> count, ns;
};

struct LogHeader {
    std::uint64_t magic, build;
    std::int64_t process;
    std::uint64_t capacity, least_ns;
    std::atomic<std::uint64_t> begun;    // calls that were given a place, or found none; more than capacity: it is full
    std::atomic<std::uint64_t> dropped;  // calls without a place while the next file was made, or without a next file
    ShortCalls short_calls[kFunctions];
};

struct Call {
    std::int64_t start;  // CLOCK_REALTIME, ns
    std::int64_t ns;
    std::int32_t thread;
    std::atomic<std::uint32_t> function;  // plus 1
};
static_assert(sizeof(Call) == 24 && sizeof(LogHeader) % 8 == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

constexpr std::size_t log_bytes(std::size_t capacity) { return sizeof(LogHeader) + capacity * sizeof(Call); }

}  // namespace gpuprof::os_calls
