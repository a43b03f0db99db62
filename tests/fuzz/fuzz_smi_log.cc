// libFuzzer target of the importer of nvidia-smi's logs: any bytes give a trace or an error and nothing else happens, and a metric
// that devices are sampled for has a value that a device can have.
//
//   build/fuzz/fuzz_smi_log -max_total_time=60 -max_len=20000 CORPUS_DIR tests/fuzz/corpus/smi_log
#include <cstdint>
#include <cstdlib>

#include "core/importers/smi.h"
#include "core/schema/plausible.h"
#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    std::optional<Trace> trace = imported(import_smi, data, size);
    if (!trace) return 0;
    const SampleTable& samples = trace->tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        for (const MetricSpec& spec : kMetrics)
            if (trace->text(samples.metric[row]) == spec.name && !plausible(spec.metric, samples.value[row]))
                std::abort();
    return 0;
}
