// Fuzz target of the importer of NCCL Inspector's files: any bytes give a trace or an error and nothing else happens.
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported.h"

namespace gpuprof::fuzz {

void run_inspector(std::string_view bytes) {
    std::optional<Trace> trace = imported(import_nccl_inspector, bytes);
    if (trace && trace->tables().collective.rows > bytes.size()) std::abort();
}

}  // namespace gpuprof::fuzz
