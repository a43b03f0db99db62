// libFuzzer target of the Nsight Compute importer: any bytes give a trace or an error and nothing else happens, and every counter
// belongs to a launch that is there.
//
//   build/fuzz/fuzz_ncu -max_total_time=60 -max_len=65536 CORPUS_DIR tests/fuzz/corpus/ncu
#include <cstdint>
#include <cstdlib>
#include <set>

#include "core/importers/ncu.h"
#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    std::optional<Trace> trace = imported(import_ncu, data, size);
    if (!trace) return 0;
    const Tables& tables = trace->tables();
    std::set<std::int64_t> launches;
    for (Row row = 0; row < tables.profiled_kernel.rows; ++row) launches.insert(tables.profiled_kernel.launch[row]);
    if (launches.size() != tables.profiled_kernel.rows) std::abort();
    for (Row row = 0; row < tables.kernel_counter.rows; ++row)
        if (!launches.contains(tables.kernel_counter.launch[row])) std::abort();
    return 0;
}
