// Device time within an interval: every instant of every device belongs to exactly one kernel, kind of copy, kind of
// memset, or cause of idle time. Concurrent kernels:
// the one that began first; then copies, then memsets, then idle time. Work that crosses an end of the interval is cut
// there, so that the parts add up to the interval times the devices.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/stat.h"
#include "core/model/interval.h"

namespace gpuprof::compare {

struct DeviceTime {
    std::size_t devices = 0;                            // with work in the interval
    std::vector<std::pair<StringId, WideSum>> kernels;  // by name; kNoString for kernels without a name
    std::map<std::pair<std::string_view, std::string>, WideSum> others;  // by kind (memcpy, memset, idle) and name
};

DeviceTime device_time(const Facts& facts, Interval stretch);

}  // namespace gpuprof::compare
