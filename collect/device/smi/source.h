// What open_smi() (collect/device/source.h) rests on, with the waiting times open to tests.
#pragma once

#include "collect/device/source.h"

namespace gpuprof::smi {

struct Patience {
    DurNs start = 10'000'000'000;         // for the first rows
    DurNs silence = 5'000'000'000;        // without rows: it hangs; at least ten intervals
    DurNs restart_first = 1'000'000'000;  // before starting again what ended
    DurNs restart_most = 30'000'000'000;
    int restarts = 8;  // in a row without a single reading, then no more
};

Result<std::unique_ptr<DeviceSource>> open(const SourceRequest& request, const Patience& patience);

}  // namespace gpuprof::smi
