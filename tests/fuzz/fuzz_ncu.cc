// Fuzz target of the Nsight Compute importer: any bytes give a trace or an error and nothing else happens, and every counter
// belongs to an existing launch.
#include <cstdint>
#include <cstdlib>
#include <set>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_ncu(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_ncu, bytes);
    if (!trace) return;
    const Tables& tables = trace->tables();
    std::set<std::int64_t> launches;
    for (Row row = 0; row < tables.profiled_kernel.rows; ++row) launches.insert(tables.profiled_kernel.launch[row]);
    if (launches.size() != tables.profiled_kernel.rows) std::abort();
    for (Row row = 0; row < tables.kernel_counter.rows; ++row)
        if (!launches.contains(tables.kernel_counter.launch[row])) std::abort();
}

}  // namespace gpuprof::fuzz
