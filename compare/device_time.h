// What devices did in a stretch of time: every instant of every device belongs to exactly one kernel, kind of copy, kind of fill
// or cause of idle time. While kernels run, to the one that began first; else to a copy, else to a fill, else to idle time.
// Work that reaches over an end of the stretch is cut there, so that the parts add up to the stretch times the devices.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/stat.h"
#include "core/model/interval.h"

namespace gpuprof::compare {

struct DeviceTime {
    std::size_t devices = 0;                                             // with work in the stretch
    std::vector<std::pair<StringId, WideSum>> kernels;                   // by name; kNoString for those without
    std::map<std::pair<std::string_view, std::string>, WideSum> others;  // by kind (memcpy, memset, idle) and name
};

DeviceTime device_time(const Facts& facts, Interval stretch);

}  // namespace gpuprof::compare
