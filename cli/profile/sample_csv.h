// The CSV file of `--csv`. Unlike other outputs it grows in place, so that it can be followed while it is written. It
// takes its name when the command starts (an earlier file stays until then), always ends with a complete line, and lags
// sampling by a fraction of a second.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cli/output.h"
#include "collect/device/device_reading.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

class SampleCsv {
public:
    static Result<std::unique_ptr<SampleCsv>> open(const std::string& file);
    // Creates the file; further calls do nothing. close() repeats a failure.
    void publish();
    // Polls arrive in batches, at most ten times a second, and are written at once; times count from `started`.
    // Thread-safe.
    void add(const PollResult& polled, TimeNs started);
    // Must be the last call.
    Status close() { return output_.close(); }

private:
    explicit SampleCsv(Output output) : output_(std::move(output)) {}
    std::mutex mutex_;
    Output output_;
};

}  // namespace gpuprof::cli
