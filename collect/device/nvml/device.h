// One selected device as NVML has it: asks what is due, keeps what works, and turns every return code into what to do
// about it. Rules: a metric that will not work here is left out for good; one that may work later is asked again with
// back-off; a device that is lost is looked for by its UUID with back-off, while others go on; when nothing at all answers
// for a reason of the library's, the source starts the library anew.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collect/device/absence.h"
#include "collect/device/backoff.h"
#include "collect/device/nvml/gpm.h"
#include "collect/device/nvml/inventory.h"
#include "collect/device/nvml/processes.h"
#include "collect/device/nvml/source.h"

namespace gpuprof::nvml {

class SampledGpu {
public:
    // `gpu` is the identity of the GPU of a MIG instance, and equal to `self` otherwise.
    SampledGpu(const Api& api, const Patience& patience, SampledDevice facts, Identity self, Identity gpu);

    // Finds its handles; reads what is constant when that is not known yet.
    Return find();
    // One turn. Returns kSuccess, or the code for which the library must be started anew.
    Return collect(MetricSet due, Harvest& to);
    // Before nvmlShutdown; handles are stale then until find().
    void release();
    // find() failed: goes on as one that is lost, which is said in the next turn.
    void begin_lost(Return code);

    const SampledDevice& facts() const { return facts_; }
    Device gpu() const { return gpu_handle_; }
    // Errors since sampling began; absent where they cannot be watched.
    std::optional<double> xid_errors;
    // Leaves metrics out from now on and says why at the end of the next turn.
    void leave_out(MetricSet metrics, Return code);

private:
    struct Failure {
        MetricSet metrics;
        const char* function;
        Return code;
    };
    struct Turn {
        Harvest& to;
        MetricSet due;
        TimeNs now = 0;  // monotonic
        Reading reading = {};
        int answered = 0;
        Return renew = kSuccess;             // a code for which the library should be started anew
        std::vector<Failure> failures = {};  // that may pass
    };
    void ask(Turn& turn);
    void ask_query(std::size_t index, MetricSet wanted, Turn& turn);
    void ask_gpm(Turn& turn);
    void ask_processes(Turn& turn);
    void take(MetricSet wanted, const Reading& answer, Turn& turn);
    void react(std::size_t index, const Failure& failure, Turn& turn);
    void lose(std::size_t by_query, Return code, Turn& turn);
    bool recover(Turn& turn);
    Return probe();
    void read_facts();
    std::string label() const;
    void say_once(Turn& turn, MetricSet metrics, std::string sentence);

    const Api& api_;
    Patience patience_;
    SampledDevice facts_;
    Identity self_, gpu_;
    Device handle_ = nullptr, gpu_handle_ = nullptr;
    bool facts_known_ = false;
    MetricSet left_out_;
    Absences absences_;
    std::vector<Backoff> retries_;   // per query; GPM comes after them
    std::vector<int> false_losses_;  // per query: how often it said that the device is lost, and others answered
    Backoff search_;                 // for the device when it is lost
    Return lost_code_ = kSuccess;    // not kSuccess: lost
    std::size_t lost_by_ = 0;        // the query that found out
    TimeNs lost_since_ = 0;
    Gpm gpm_;
    std::vector<std::pair<Metric, Return>> gpm_failed_;
    Processes processes_;
    bool processes_work_ = true;
    std::optional<double> total_mb_;
    std::set<std::string> said_;
};

}  // namespace gpuprof::nvml
