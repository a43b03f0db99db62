// How the fakes misbehave, from the environment variable GPUPROF_FAKE_CUPTI_SCRIPT: the path of a file (when it begins with
// '/') or the rules themselves; one rule a line or between semicolons, '#' begins a comment. Without it they behave.
//
//   version N                    what cuptiGetVersion answers, whatever the script says
//   driver N                     what cuDriverGetVersion answers (13000); several subscribers need 13030, and CUPTI 130301
//   modules N MS                 N modules are loaded when cuInit ends; switching kernels on for the first time after that takes MS for each
//   late_teardown                the driver registers its exit handler after it has called InitializeInjection, not before
//   subscriber NAME              another tool holds the subscription: cuptiSubscribe answers 39
//   fail FUNCTION CODE [after N] the function answers CODE (after N calls that work); cuInit too
//   hang FUNCTION [after N]      the function never returns
//   slow FUNCTION MS             the function takes that long
//   devices N                    the driver shows N GPUs (1)
//   late MS                      buffers are completed that much later, on a thread of their own
//   keep N                       the first N buffers are never returned
//   shuffle [SEED]               records change places within their buffer, and buffers among those of one flush
//   zero_times N                 every Nth kernel, copy, set and graph has start = end = 0
//   unfinished N                 the first N kernels are handed over with end = 0, and never again
//   running N                    the first N kernels are not finished: an unforced flush leaves their buffers
//   causal                       what ends in the future is in flight: an unforced flush leaves its buffer, a forced one hands it over with end = 0
//                                and never again, and switching its kind off loses it
//   after_teardown               one buffer is completed after cuptiFinalize, or as the process exits
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace fake_cupti {

struct Faults {
    std::uint32_t version = 0, driver = 13000, devices = 1, late_ms = 0, zero_times = 0, seed = 0, modules = 0,
                  module_ms = 0;
    std::atomic<std::int64_t> keep{0}, unfinished{0}, running{0};
    bool shuffle = false, after_teardown = false, causal = false, late_teardown = false;
    std::string subscriber;
};
Faults& faults();

// What the function named is to answer before it does anything: 0 go on. Hangs and waits in here.
int gate(const char* function);

}  // namespace fake_cupti
