// Counters of PyTorch's CUPTI profiler (Cuspy), by the names that other recorders use, for both of its formats.
#pragma once

#include <string_view>

namespace gpuprof::inline importers {

struct CuspyCounter {
    std::string_view name, unit;  // no name: not to be imported
};

// Its cycles are a duration times a clock: not measured.
inline CuspyCounter cuspy_counter(std::string_view name) {
    struct Known {
        std::string_view theirs;
        CuspyCounter ours;
    };
    constexpr Known kKnown[] = {{"Power (W)", {"power", "W"}},
                                {"Temperature (C)", {"temp", "C"}},
                                {"SM Clock (MHz)", {"clock.sm", "MHz"}},
                                {"Memory Clock (MHz)", {"clock.mem", "MHz"}}};
    if (name.starts_with("Cycles (Current Kernel)")) return {};
    for (const Known& known : kKnown)
        if (name == known.theirs) return known.ours;
    std::size_t open = name.rfind(" (");
    if (open == name.npos || !name.ends_with(')')) return {name, {}};
    return {name.substr(0, open), name.substr(open + 2, name.size() - open - 3)};
}

}  // namespace gpuprof::importers
