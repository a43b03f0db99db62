// Fuzz target of the importer of Perfetto traces: any bytes give a trace or an error and nothing else happens.
#include <cstdint>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_perfetto(std::string_view bytes) {
    (void)sniff_perfetto(bytes);
    std::optional<Trace> trace = imported(import_perfetto, bytes);
    if (!trace) return;
    promise(trace->links().kernel_launch.size() == trace->kernel().rows, "a link for every kernel");
    const KernelTable& kernels = trace->kernel();
    for (Row row = 0; row < kernels.rows; ++row)
        promise(kernels.start.has(row) && kernels.dur.has(row) && kernels.dur[row] >= 0, "times of a kernel");
}

}  // namespace gpuprof::fuzz
