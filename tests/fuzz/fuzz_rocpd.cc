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
    check_counters(trace->tables());
}

}  // namespace gpuprof::fuzz
