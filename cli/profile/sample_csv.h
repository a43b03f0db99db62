// The CSV file of `--csv`: the one output that grows where everyone can see it, so that it can be followed while it is
// written. It takes its name when the command starts (what was there before stays until then), ends with a whole line
// whenever it is looked at, and holds what was sampled up to a fraction of a second ago.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cli/output.h"
#include "collect/device/reading.h"
#include "core/base/result.h"

namespace gpuprof {

class SampleCsv {
public:
    static Result<std::unique_ptr<SampleCsv>> open(const std::string& file);
    // The file is there from now on; further calls do nothing. A failure is also one of close().
    void publish();
    // Harvests arrive in batches, ten times a second at most: each is written at once, times counted from `started`. From
    // any thread.
    void add(const Harvest& harvest, TimeNs started);
    // Nothing may come after.
    Status close() { return output_.close(); }

private:
    explicit SampleCsv(Output output) : output_(std::move(output)) {}
    std::mutex mutex_;
    Output output_;
};

}  // namespace gpuprof
