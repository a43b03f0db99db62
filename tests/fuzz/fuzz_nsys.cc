// Fuzz target of the Nsight Systems importer: any bytes give a trace or an error and nothing else happens. SQLite itself is
// not what is tested, but what a hostile file can make it return.
#include <cstdint>
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_nsys(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_nsys, bytes);
    if (!trace) return;
    if (trace->links().kernel_launch.size() != trace->kernel().rows) std::abort();
}

}  // namespace gpuprof::fuzz
