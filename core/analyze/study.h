// What analyses look at: one trace, the options, and facts that several of them need (device activity, gaps), each
// computed on first use and kept. A study is used by one thread. Results do not depend on the order of use.
#pragma once

#include <memory>
#include <vector>

#include "core/model/trace.h"
#include "core/schema/options.h"

namespace gpuprof {

struct DeviceActivity;  // core/analyze/activity.h
struct IdleGaps;        // core/analyze/idle_cause.h
class IdlePython;       // core/analyze/stack_samples.h
struct Diagnosis;       // core/analyze/diagnosis.h
struct OpRates;         // core/analyze/op_rates.h

class Study {
public:
    Study(const Trace& trace, Options options);
    ~Study();
    Study(const Study&) = delete;
    Study& operator=(const Study&) = delete;

    const Trace& trace() const { return trace_; }
    const Options& options() const { return options_; }

    // Per device: interval sets of its ops. See activity.h.
    const std::vector<DeviceActivity>& activity() const;
    // Every idle interval of every device with its cause. See idle_cause.h.
    const IdleGaps& gaps() const;
    // What Python did in them, where stacks were sampled. See stack_samples.h.
    const IdlePython& idle_python() const;
    // Achieved rates of operators with recorded shapes. See op_rates.h.
    const OpRates& op_rates() const;
    // Shares, verdict and findings. See diagnosis.h.
    const Diagnosis& diagnosis() const;

private:
    const Trace& trace_;
    Options options_;
    mutable std::unique_ptr<std::vector<DeviceActivity>> activity_;
    mutable std::unique_ptr<IdleGaps> gaps_;
    mutable std::unique_ptr<IdlePython> idle_python_;
    mutable std::unique_ptr<OpRates> op_rates_;
    mutable std::unique_ptr<Diagnosis> diagnosis_;
};

}  // namespace gpuprof
