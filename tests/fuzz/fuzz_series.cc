// libFuzzer target of the importer of recorded series: any bytes give a trace or an error and nothing else happens, and every value
// is one that a device can have.
//
//   build/fuzz/fuzz_series -max_total_time=60 -max_len=20000 CORPUS_DIR tests/fuzz/corpus/series
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/importers/series.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    auto source = memory_source("fuzz", {reinterpret_cast<const char*>(data), size});
    if (!source) return 0;
    TraceBuilder builder(Origin{});
    if (!import_series(**source, builder)) return 0;
    Trace trace = std::move(builder).finish();
    const SampleTable& samples = trace.tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        if (!samples.time.has(row) || !std::isfinite(samples.value[row])) std::abort();
    return 0;
}
