#include "core/analyze/study.h"

#include "core/analyze/activity.h"
#include "core/analyze/diagnosis.h"
#include "core/analyze/idle_cause.h"
#include "core/analyze/op_rates.h"
#include "core/analyze/stack_samples.h"

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

const IdlePython& Study::idle_python() const {
    if (!idle_python_) idle_python_ = std::make_unique<IdlePython>(trace_, gaps());
    return *idle_python_;
}

const OpRates& Study::op_rates() const {
    if (!op_rates_) op_rates_ = std::make_unique<OpRates>(achieved_rates(trace_, options_.device));
    return *op_rates_;
}

const Diagnosis& Study::diagnosis() const {
    if (!diagnosis_) diagnosis_ = std::make_unique<Diagnosis>(diagnose(*this));
    return *diagnosis_;
}

}  // namespace gpuprof
