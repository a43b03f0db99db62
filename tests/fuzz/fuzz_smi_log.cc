// Fuzz target of the importer of nvidia-smi's logs: any bytes give a trace or an error and nothing else happens, and a metric
// that devices are sampled for has a value that a device can have.
#include <cstdint>
#include <cstdlib>

#include "core/schema/plausible.h"
#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_smi_log(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_smi, bytes);
    if (!trace) return;
    const SampleTable& samples = trace->tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        for (const MetricSpec& spec : kMetrics)
            if (trace->text(samples.metric[row]) == spec.name && !plausible(spec.metric, samples.value[row]))
                std::abort();
}

}  // namespace gpuprof::fuzz
