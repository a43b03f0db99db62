// A pprof profile (profile.proto, gzip) whose stacks have one frame each: totals by name, without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline exporters {

struct FlatProfile {
    struct Sample {
        std::string name;
        std::int64_t count = 0;  // launches
        DurNs device = 0;
        std::vector<std::pair<std::string_view, std::string>> labels = {};
    };
    std::vector<Sample> samples = {};
    TimeNs time = 0;  // its begin, CLOCK_REALTIME
    DurNs duration = 0;
};
Status write_flat_profile(const FlatProfile& profile, Sink& sink);

}  // namespace gpuprof::exporters
