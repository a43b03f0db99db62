// What the log lines of libraries in a recording say about algorithms, transports and warnings (`record --debug-env`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {

struct LibraryLogs {
    static LibraryLogs make(const Facts& facts);

    std::string groups;     // of --debug-env; "" if the option was not given
    bool expected = false;  // libraries were told to write logs
    std::size_t lines = 0;
    // The same sentence counts once, with how often it was written.
    using Sentences = std::map<std::string, std::size_t>;
    Sentences fallbacks;             // cuDNN and cuBLAS: what was not supported
    Sentences transports;            // NCCL: a slow path between GPUs or hosts
    Sentences warnings;              // warnings, errors and retries of all libraries
    Sentences choices;               // NCCL: "TREE/LL"
    std::int64_t most_channels = 0;  // of one collective of NCCL, or of a communicator; 0: not in the log

    bool anything() const {
        return !fallbacks.empty() || !transports.empty() || !warnings.empty() || !choices.empty() || most_channels > 0;
    }
};

}  // namespace gpuprof::facts
