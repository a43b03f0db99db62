// Fuzz target of the importer of wprof's JSON lines: any bytes give a trace or an error and nothing else happens.
#include <cstdint>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_wprof(std::string_view bytes) {
    (void)sniff_wprof(bytes);
    std::optional<Trace> trace = imported(import_wprof, bytes);
    if (!trace) return;
    const KernelTable& kernels = trace->kernel();
    for (Row row = 0; row < kernels.rows; ++row)
        promise(kernels.start.has(row) && kernels.dur.has(row) && kernels.dur[row] >= 0, "times of a kernel");
}

}  // namespace gpuprof::fuzz
