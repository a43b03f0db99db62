// PM sampling of one device, from the selection of counters to the end. The GPU writes samples into a buffer; collect()
// decodes and evaluates what is ready, which takes about 100 us per sample of 12 counters (H200). Samples that the
// buffer lost are counted from gaps in the times; nothing is invented.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/pm/counter_capture.h"
#include "collect/pm/host.h"
#include "core/base/ids.h"

namespace gpuprof::pm {

class Session {
public:
    // Selects counters and configures the device. `resume` is the end of the last sample that an earlier process wrote;
    // 0: none.
    static Result<std::unique_ptr<Session>> open(const Api& api, std::size_t device, const CounterSet& set,
                                                 DurNs interval, TimeNs resume);
    // Ends sampling if stop() did not.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Status start();
    // Everything that is ready, until `deadline` (CLOCK_MONOTONIC).
    Status collect(CounterCapture& to, TimeNs deadline);
    // Ends sampling, collects the rest until `deadline`, and counts what remains as lost.
    Status stop(CounterCapture& to, TimeNs deadline);

    // Messages for the user: skipped counters, an interval in cycles.
    const std::vector<std::string>& remarks() const { return remarks_; }
    const std::string& chip() const { return chip_.name; }
    TimeNs last_end() const { return last_end_; }
    std::uint64_t sample_times() const { return sample_times_; }
    std::uint64_t lost() const { return lost_; }

private:
    Session(const Api& api, Chip chip, Plan plan, DurNs interval, TimeNs resume);
    void remark_left_out(const char* why, const std::vector<PmCounter>& counters);
    Status enable();
    Status configure();
    Status make_image();
    Status empty_image();
    Status restart();
    // Whether the buffer was empty.
    Result<bool> decode(CounterCapture& to);
    Status take(CounterCapture& to, std::size_t sample);
    void lose(CounterCapture& to, std::uint64_t sample_times, const char* where);

    static constexpr std::uint32_t kMaxSamples = 1024;  // per decoding

    const Api& api_;
    Chip chip_;
    Plan plan_;
    DurNs interval_;
    SamplingObject* object_ = nullptr;
    bool running_ = false, drained_ = true;
    bool opening_ = true;  // the next sample is the first since sampling started
    bool overflow_ = false;
    int restarts_ = 0;  // since the last sample
    std::vector<std::uint8_t> image_;
    std::vector<double> values_;
    std::vector<std::string> remarks_;
    TimeNs last_end_;
    std::uint64_t sample_times_ = 0, lost_ = 0;
};

}  // namespace gpuprof::pm
