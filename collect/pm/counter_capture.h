// Counter samples as a capture file, written while they arrive: everything in the file stays readable if the process
// dies. Tables: sample, loss, clock, meta. A chunk holds the samples of one counter after another, so that times rise
// in equal steps and names repeat, which compresses well.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/format/capture_part.h"
#include "core/schema/metrics.h"

namespace gpuprof::pm {

class CounterCapture {
public:
    // Opens and truncates `file`.
    static Result<std::unique_ptr<CounterCapture>> open(const std::string& file);

    // One moment of one device, with the same counters at each call. Values that are not finite are absent.
    void add(std::int32_t device, TimeNs time, std::span<const PmCounter> counters, std::span<const double> values);
    // Lost moments of a device; `where` says how they were lost.
    void lose(std::int32_t device, std::uint64_t sample_times, std::string_view where);
    void fact(std::string_view key, std::string_view value) { part_->add_fact(key, value); }
    // Both clocks at the same moment.
    void clocks(TimeNs realtime, std::int64_t cupti);

    // Writes what has arrived; returns the first failure of the file, which is kept.
    Status flush();
    // Writes the rest and the end; must be the last call.
    Status close();

private:
    explicit CounterCapture(std::unique_ptr<CapturePart> part) : part_(std::move(part)) {}
    struct Series {
        std::vector<PmCounter> counters;
        std::vector<TimeNs> times;
        std::vector<double> values;  // one moment after another
    };
    void write_samples();

    std::unique_ptr<CapturePart> part_;
    std::map<std::int32_t, Series> series_;
    std::map<std::string, std::uint64_t> losses_;  // by place
};

}  // namespace gpuprof::pm
