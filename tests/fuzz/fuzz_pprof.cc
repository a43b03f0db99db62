// Fuzz target of the importer of pprof's profiles: any bytes give a trace or an error and nothing else happens; parents come
// before their children, and every metric belongs to a node.
#include <cstdint>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_pprof(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_pprof, bytes);
    if (!trace) return;
    check_call_tree(trace->tables());
}

}  // namespace gpuprof::fuzz
