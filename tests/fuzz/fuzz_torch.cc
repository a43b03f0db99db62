// libFuzzer target of the importers of PyTorch's memory snapshots and timelines, and so of the pickle reader: any bytes give a trace or
// an error and nothing else happens, in memory in proportion to them.
//
//   build/fuzz/fuzz_torch -max_total_time=60 -max_len=65536 CORPUS_DIR tests/fuzz/corpus/torch
#include <cstdint>
#include <cstdlib>

#include "core/importers/torch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    for (auto* import : {import_torch_snapshot, import_torch_timeline}) {
        auto source = memory_source("fuzz", {reinterpret_cast<const char*>(data), size});
        if (!source) return 0;
        TraceBuilder builder(Origin{});
        if (!import(**source, builder)) continue;
        Trace trace = std::move(builder).finish();
        if (trace.tables().memory_event.rows > size || trace.tables().memory_block.rows > size) std::abort();
        if (trace.strings().bytes() > (std::size_t{17} << 20) + 66 * size) std::abort();
    }
    return 0;
}
