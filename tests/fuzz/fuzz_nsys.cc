// libFuzzer target of the Nsight Systems importer: any bytes give a trace or an error and nothing else happens. SQLite itself is
// not what is tested, but what a hostile file can make it return.
//
//   build/fuzz/fuzz_nsys -max_total_time=60 -max_len=65536 CORPUS_DIR tests/fuzz/corpus/nsys
#include <cstdint>
#include <cstdlib>

#include "core/importers/nsys.h"
#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    std::optional<Trace> trace = imported(import_nsys, data, size);
    if (!trace) return 0;
    if (trace->links().kernel_launch.size() != trace->kernel().rows) std::abort();
    return 0;
}
