// libFuzzer target of the importer of Proton's trees: any bytes give a trace or an error and nothing else happens; parents come before
// their children, and every metric belongs to a node.
//
//   build/fuzz/fuzz_proton -max_total_time=60 -max_len=20000 CORPUS_DIR tests/fuzz/corpus/proton
#include <cstdint>

#include "core/importers/proton.h"
#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    std::optional<Trace> trace = imported(import_proton, data, size);
    if (!trace) return 0;
    check_call_tree(trace->tables());
    return 0;
}
