// The functions behind gpu_profile.start(), stop() and step() of the Python package, which finds them by name in the
// process. Each one returns whether the process is being recorded.
#include "collect/inject/collector.h"
#include "collect/inject/host/annotations.h"

using namespace gpuprof::inject;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int gpuprof_record_start(void) {
    if (!start_collector()) return 0;
    window().call_start();
    return 1;
}
EXPORT int gpuprof_record_stop(void) {
    if (!start_collector()) return 0;
    window().call_stop();
    return 1;
}
EXPORT int gpuprof_record_step(void) {
    if (!start_collector()) return 0;
    step();
    return 1;
}
