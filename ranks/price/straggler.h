// A unit that needs more time than its peers, and its price (stragglers.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline ranks {

enum class UnitKind : std::uint8_t { rank, host, group, job };
std::string_view name_of(UnitKind kind);

enum class DelayCause : std::uint8_t { slow_gpu, more_work, late_data, pause, slow_host, slow_link, copies, unknown };
// "slow GPU", "more work", ...
std::string_view name_of(DelayCause cause);
// What to do about a unit with this cause: one instruction.
std::string_view advice_on(DelayCause cause);

struct Straggler {
    UnitKind kind = UnitKind::rank;
    std::uint32_t index = 0;  // in Job::ranks, JobHosts::hosts or Job::groups
    std::string unit;         // "rank 7", "host n17", "group DATA_PARALLEL_GROUP 0-24/8"
    DelayCause cause = DelayCause::unknown;
    std::string evidence;
    double cost_ns = 0, alone_ns = 0;            // per step
    std::optional<double> error_ns;              // of the larger one; absent if there is only one step
    std::size_t steps = 0;                       // in which it costs at least 1 % of the step
    std::int64_t first_step = 0, last_step = 0;  // of these
    bool named = false;                          // certain and large enough; else only slow
};

}  // namespace gpuprof::ranks
