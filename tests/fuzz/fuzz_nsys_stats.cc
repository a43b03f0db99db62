// Fuzz target of the importer of `nsys stats` CSV: any bytes give a trace or an error and nothing else happens, and what it gives
// has times.
#include <cstdint>
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_nsys_stats(std::string_view bytes) {
    (void)sniff_nsys_stats(bytes);
    std::optional<Trace> trace = imported(import_nsys_stats, bytes);
    if (!trace) return;
    const KernelTable& kernels = trace->kernel();
    for (Row row = 0; row < kernels.rows; ++row)
        if (!kernels.start.has(row) || !kernels.dur.has(row) || kernels.dur[row] < 0) std::abort();
}

}  // namespace gpuprof::fuzz
