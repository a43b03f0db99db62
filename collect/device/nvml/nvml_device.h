// A selected device, sampled with NVML: runs the queries that are due, keeps those that work, and turns every return
// code into an action. A metric that will not work here is dropped for good. One that may work later is retried with
// back-off. A lost device is searched for by its UUID with back-off, while others continue. If all queries fail because
// of the library, the source restarts the library.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collect/device/backoff.h"
#include "collect/device/nvml/inventory.h"
#include "collect/device/nvml/nvml_processes.h"
#include "collect/device/nvml/nvml_source.h"
#include "collect/device/nvml/queries.h"
#include "collect/device/unreported_metrics.h"

namespace gpuprof::inline device::nvml {

class SampledGpu {
public:
    // `gpu` is the identity of a MIG instance's GPU, and otherwise equal to `self`.
    SampledGpu(const Api& api, const RetryDelays& delays, SampledDevice facts, Identity self, Identity gpu);

    // Finds the handles; reads the constants if they are unknown.
    Return find();
    // One turn. Returns kSuccess, or the code that requires a restart of the library.
    Return collect(MetricSet due, PollResult& to);
    // Call before nvmlShutdown; handles are stale until the next find().
    void release();
    // find() failed: continues as a lost device; the next turn reports it.
    void begin_lost(Return code);

    const SampledDevice& facts() const { return facts_; }
    Device gpu() const { return gpu_handle_; }
    // Errors since sampling began; absent if they cannot be watched.
    std::optional<double> xid_errors;
    // Drops metrics from now on; the end of the next turn reports why.
    void leave_out(MetricSet metrics, Return code);

private:
    struct Failure {
        MetricSet metrics;
        const char* function;
        Return code;
    };
    struct PollCycle {
        PollResult& to;
        MetricSet due;
        TimeNs now = 0;  // monotonic
        Reading reading = {};
        int answered = 0;
        Return renew = kSuccess;             // a code that requires a restart of the library
        std::vector<Failure> failures = {};  // possibly temporary ones
    };
    void ask(PollCycle& cycle);
    void ask_query(std::size_t index, MetricSet wanted, PollCycle& cycle);
    void ask_gpm(PollCycle& cycle);
    void ask_processes(PollCycle& cycle);
    void take(MetricSet wanted, const Reading& answer, PollCycle& cycle);
    void react(std::size_t index, const Failure& failure, PollCycle& cycle);
    void lose(std::size_t by_query, Return code, PollCycle& cycle);
    bool recover(PollCycle& cycle);
    Return probe();
    void read_facts();
    std::string label() const;
    void warn_once(PollCycle& cycle, MetricSet metrics, std::string sentence);

    const Api& api_;
    RetryDelays delays_;
    SampledDevice facts_;
    Identity self_, gpu_;
    Device handle_ = nullptr, gpu_handle_ = nullptr;
    bool facts_known_ = false;
    MetricSet left_out_;
    UnreportedMetrics unreported_;
    std::vector<Backoff> retries_;   // per query; GPM follows them
    std::vector<int> false_losses_;  // per query: how often it reported the device lost while others worked
    Backoff search_;                 // for a lost device
    Return lost_code_ = kSuccess;    // other than kSuccess: lost
    std::size_t lost_by_ = 0;        // the query that detected it
    TimeNs lost_since_ = 0;
    Gpm gpm_;
    std::vector<std::pair<Metric, Return>> gpm_failed_;
    Processes processes_;
    bool processes_work_ = true;
    std::optional<double> total_mb_;
    std::set<std::string> warned_;
};

}  // namespace gpuprof::device::nvml
