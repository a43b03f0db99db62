// The recorded counters that the fake's PM sampling plays, and how it is to behave; from the environment variable
// GPUPROF_FAKE_PM, words between spaces:
//
//   series=FILE      CSV: CUPTI's names in the first line, a sample in each other; played over and over. Needed.
//   log=FILE         a line for each start of sampling that ended: device, first time, interval, samples, in ns
//   chip=NAME        the chip's name (GH100)
//   per_pass=N       more than N counters need a second pass
//   by_time=no       no trigger by time (Turing, GA100)
//   config=N         the size of the structure that configures; 60 is that of CUPTI 12.6
//   oom=N            from sample N on decoding answers OUT_OF_MEMORY, until sampling is started anew; once
//   lap=N:K          samples N to N+K-1 were overwritten: decoding says overflow; once
//   evaluate_us=N    evaluating a sample takes that long
//
// Functions that fail, hang or are slow: faults.h, as for all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_cupti {

struct PmSeries {
    std::map<std::string, std::size_t> columns;
    std::vector<std::vector<double>> rows;
    std::string chip = "GH100", log;
    std::size_t per_pass = 1000;
    bool by_time = true;
    std::size_t config = 64;
    std::uint64_t oom = ~0ull, lap = ~0ull, lap_length = 0;
    unsigned evaluate_us = 0;
};
// Aborts with a line on stderr when the environment makes no sense.
const PmSeries& pm_series();

}  // namespace fake_cupti
