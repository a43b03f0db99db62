// Fuzz target of the importer of recorded series: any bytes give a trace or an error and nothing else happens, and every value
// is one that a device can have.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_series(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_series, bytes);
    if (!trace) return;
    const SampleTable& samples = trace->tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        if (!samples.time.has(row) || !std::isfinite(samples.value[row])) std::abort();
}

}  // namespace gpuprof::fuzz
