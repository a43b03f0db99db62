// Samples of counters as a capture file, written while they come: what is in the file is readable whenever the process dies.
// Tables: sample, loss, clock, meta. A chunk holds the samples of one counter after another, so that times rise by equal
// steps and names repeat: that is what their encoding is good at.
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
    // Opens `file`, emptied first.
    static Result<std::unique_ptr<CounterCapture>> open(const std::string& file);

    // One moment of one device; the same counters at each call for it. What is not finite is absent.
    void add(std::int32_t device, TimeNs time, std::span<const PmCounter> counters, std::span<const double> values);
    // Moments of a device that were lost; `where` says how.
    void lose(std::int32_t device, std::uint64_t moments, std::string_view where);
    void fact(std::string_view key, std::string_view value) { part_->add_fact(key, value); }
    // The two clocks at the same moment.
    void clocks(TimeNs realtime, std::int64_t cupti);

    // Writes what came so far; the first failure of the file, kept.
    Status flush();
    // Writes the rest and the end; nothing may come after.
    Status close();

private:
    explicit CounterCapture(std::unique_ptr<CapturePart> part) : part_(std::move(part)) {}
    struct Series {
        std::vector<PmCounter> counters;
        std::vector<TimeNs> times;
        std::vector<double> values;  // moment by moment
    };
    void write_samples();

    std::unique_ptr<CapturePart> part_;
    std::map<std::int32_t, Series> series_;
    std::map<std::string, std::uint64_t> losses_;  // by place
};

}  // namespace gpuprof::pm
