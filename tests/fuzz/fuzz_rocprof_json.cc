// Fuzz target of the importer of rocprofv3's JSON: any bytes give a trace or an error and nothing else happens.
#include <cstdint>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_rocprof_json(std::string_view bytes) {
    (void)sniff_rocprof_json(bytes);
    std::optional<Trace> trace = imported(import_rocprof_json, bytes);
    if (!trace) return;
    promise(trace->links().kernel_launch.size() == trace->kernel().rows, "a link for every kernel");
    check_counters(trace->tables());
}

}  // namespace gpuprof::fuzz
