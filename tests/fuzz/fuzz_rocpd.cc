// Fuzz target of the importer of AMD's databases: any bytes give a trace or an error and nothing else happens. SQLite itself
// is not what is tested, but what a hostile file can make it return.
#include <cstdint>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_rocpd(std::string_view bytes) {
    (void)sniff_rocpd(bytes);
    std::optional<Trace> trace = imported(import_rocpd, bytes);
    if (!trace) return;
    promise(trace->links().kernel_launch.size() == trace->kernel().rows, "a link for every kernel");
    const Tables& tables = trace->tables();
    for (Row row = 0; row < tables.kernel_counter.rows; ++row) {
        std::int64_t launch = tables.kernel_counter.launch[row];
        promise(launch >= 1 && launch <= static_cast<std::int64_t>(tables.profiled_kernel.rows),
                "counters of a launch");
    }
}

}  // namespace gpuprof::fuzz
