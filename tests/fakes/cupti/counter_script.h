// How the fake's range profiler behaves; from the environment variable GPUPROF_FAKE_COUNTERS, words between spaces:
//
//   chip=NAME             the GPU's chip (GH100)
//   per_pass=N            metrics that fit into one pass (12)
//   unknown=TEXT          the chip lacks metrics with this text in their names; may be repeated
//   value=METRIC:NUMBER   of every launch; nan too; may be repeated. Otherwise 1000 * place of the metric + launch, both from 1
//   hang=TEXT             replaying a kernel with this text in its name never returns
//   crash=TEXT            evaluating the image of such a kernel kills the process
//   dropped=N             decoding reports N ranges without room
//   mixed=N               N launches come with each one that is measured, as of other threads
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fake_cupti {

struct CounterScript {
    std::string chip = "GH100", hang, crash;
    std::size_t per_pass = 12, dropped = 0, mixed = 0;
    std::vector<std::string> unknown;
    std::map<std::string, double> values;
};
const CounterScript& counter_script();
bool knows_metric(const std::string& name);

// The driver runs a kernel: what the range profiler does with it.
void run_kernel(const char* name);

}  // namespace fake_cupti
