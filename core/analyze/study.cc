#include "core/analyze/study.h"

#include "core/analyze/activity.h"
#include "core/analyze/idle_cause.h"

namespace gpuprof {

Study::Study(const Trace& trace, Options options) : trace_(trace), options_(std::move(options)) {}
Study::~Study() = default;

const std::vector<DeviceActivity>& Study::activity() const {
    if (!activity_) activity_ = std::make_unique<std::vector<DeviceActivity>>(device_activity(trace_, options_.device));
    return *activity_;
}

const IdleGaps& Study::gaps() const {
    if (!gaps_) gaps_ = std::make_unique<IdleGaps>(find_idle_gaps(trace_, activity()));
    return *gaps_;
}

}  // namespace gpuprof
