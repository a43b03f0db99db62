// The value of `record --sample`: the time between device samples, and hardware counters over time.
//
//   --sample 0.5          the devices twice a second; 0 takes none
//   --sample pm           counters of the default set at 1000 Hz, and devices at their default interval
//   --sample 0,pm:sm@200  counters of set sm at 200 Hz only
#pragma once

#include <span>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct SampleOption {
    double device_interval = 0.1;  // seconds; 0: none
    bool counters = false;
    std::string counter_set = "default";
    std::int64_t counter_hz = 1000;

    DurNs counter_interval() const { return 1'000'000'000 / counter_hz; }
};

inline constexpr std::int64_t kMaxCounterHz = 50'000;
// Decoding a sample of 12 counters takes about 0.1 ms (H200). Above this rate one device can keep a core busy.
inline constexpr std::int64_t kBusyCounterHz = 5'000;

// Every word is a comma-separated list; each of the two kinds may be given once.
Result<SampleOption> parse_sample_option(std::span<const std::string> words);

}  // namespace gpuprof::cli
