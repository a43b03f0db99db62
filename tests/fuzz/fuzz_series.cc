// libFuzzer target of the importer of recorded series: any bytes give a trace or an error and nothing else happens, and every value
// is one that a device can have.
//
//   build/fuzz/fuzz_series -max_total_time=60 -max_len=20000 CORPUS_DIR tests/fuzz/corpus/series
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/importers/series.h"
#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    std::optional<Trace> trace = imported(import_series, data, size);
    if (!trace) return 0;
    const SampleTable& samples = trace->tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        if (!samples.time.has(row) || !std::isfinite(samples.value[row])) std::abort();
    return 0;
}
