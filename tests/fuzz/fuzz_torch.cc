// Fuzz target of the importers of PyTorch's memory snapshots and timelines, and so of the pickle reader: any bytes give a trace or
// an error and nothing else happens, in memory in proportion to them.
#include <cstdint>
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {

void run_torch(std::string_view bytes) {
    for (auto* import : {import_torch_snapshot, import_torch_timeline, import_torch_rows}) {
        auto source = memory_source("fuzz", bytes);
        if (!source) return;
        TraceBuilder builder(Origin{});
        if (!import(**source, builder)) continue;
        Trace trace = std::move(builder).finish();
        if (trace.tables().memory_event.rows > bytes.size() || trace.tables().memory_block.rows > bytes.size())
            std::abort();
        if (trace.strings().bytes() > (std::size_t{17} << 20) + 66 * bytes.size()) std::abort();
    }
}

}  // namespace gpuprof::fuzz
