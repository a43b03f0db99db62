// Accumulates one region's messages: a series per device, notes, gaps. Pure bookkeeping: no threads, no clocks.
#pragma once

#include <string>
#include <vector>

#include "collect/device/sampler_wire.h"
#include "collect/device/summary.h"

namespace gpuprof::inline device {

class SampleAccumulator {
public:
    // `warmup`: readings until this long after `began` are kept but not counted.
    SampleAccumulator(const SourceRequest& request, std::size_t max_samples, TimeNs began, DurNs warmup);

    void opened(const Opened& opened);
    void on_poll(const PollResult& polled);
    void done(const Done& done) { cost_ = done; }
    // Adds a sentence to every summary; repetitions are counted.
    void note(const std::string& sentence);

    bool any_reading() const { return any_reading_; }
    const std::string& backend() const { return backend_; }
    std::vector<SampledDevice> devices() const;
    std::vector<Reading> samples(std::size_t index) const;
    // `region` starts at the end of the warm-up.
    std::vector<GpuSummary> summaries(RegionBounds region) const;

private:
    struct Device {
        DeviceSeries series;
        TimeNs last = 0;
        DurNs gap = 0;
    };
    Device* find(std::int32_t device);
    GpuSummary without_samples(RegionBounds region) const;
    void complete(GpuSummary& summary, const Device& device, TimeNs end) const;
    DurNs gap_between(TimeNs from, TimeNs to) const;
    std::vector<std::string> sentences() const;

    SourceRequest request_;
    std::size_t max_samples_;
    DurNs warmup_;
    TimeNs statistics_from_;
    std::string backend_ = "none";
    bool immediate_ = false, any_reading_ = false;
    std::vector<Device> devices_;
    struct Note {
        std::string sentence;
        std::uint64_t times;
    };
    std::vector<Note> notes_;
    std::uint64_t notes_omitted_ = 0;
    std::optional<Done> cost_;
};

}  // namespace gpuprof::device
