// The place of a process in a distributed job, from the variables of its launcher (launchers.def). Allocates nothing and
// does not throw: the library inside recorded programs uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/schema/launchers.def"

namespace gpuprof::inline schema {

struct Launcher {
    const char *name, *rank, *local_rank, *world_size, *node_rank, *job, *restart;
};

#define GPUPROF_LAUNCHER(...) {__VA_ARGS__},
inline constexpr Launcher kLaunchers[] = {GPUPROF_LAUNCHERS(GPUPROF_LAUNCHER)};
#undef GPUPROF_LAUNCHER

struct JobPlace {
    std::string_view launcher;  // "" if none was found; then only `job` may be known
    std::optional<std::int64_t> rank, local_rank, world_size, node_rank, restart;
    std::string_view job;  // "" if unknown
};

// A number as launchers write it: digits only, below 2^31.
constexpr std::optional<std::int64_t> place_number(std::string_view text) noexcept {
    constexpr std::int64_t kMost = INT32_MAX;
    std::int64_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
        if (value > kMost) return std::nullopt;
    }
    return text.empty() ? std::nullopt : std::optional(value);
}

// `variable(name)` returns the value of an environment variable, or null. The texts of the result are its.
template <class Variable>
JobPlace find_job_place(Variable variable) noexcept {
    auto text = [&](const char* name) {
        const char* value = *name == '\0' ? nullptr : variable(name);
        return value == nullptr ? std::string_view() : std::string_view(value);
    };
    JobPlace place;
    for (const Launcher& launcher : kLaunchers) {
        std::optional<std::int64_t> rank = place_number(text(launcher.rank)),
                                    size = place_number(text(launcher.world_size));
        bool sized = *launcher.world_size != '\0';
        if (place.launcher.empty() && rank && (!sized || (size && *rank < *size))) {
            place.launcher = launcher.name;
            place.rank = rank;
            place.world_size = size;
            place.local_rank = place_number(text(launcher.local_rank));
            place.node_rank = place_number(text(launcher.node_rank));
            place.restart = place_number(text(launcher.restart));
        }
        constexpr std::string_view kNoJob = "none";  // torchrun's default, the same in every job
        if (std::string_view job = text(launcher.job); place.job.empty() && job != kNoJob) place.job = job;
    }
    return place;
}

}  // namespace gpuprof::schema
