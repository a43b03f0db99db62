// libFuzzer target of the XProf importers, and so of the reader of protocol buffers: any bytes give a trace or an error and nothing
// else happens.
//
//   build/fuzz/fuzz_xprof -max_total_time=60 -max_len=65536 CORPUS_DIR tests/fuzz/corpus/xprof
#include <cstdint>
#include <cstdlib>

#include "core/importers/xprof.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    for (auto* import : {import_xplane, import_xprof_json}) {
        auto source = memory_source("fuzz", {reinterpret_cast<const char*>(data), size});
        if (!source) return 0;
        TraceBuilder builder(Origin{});
        if (!import(**source, builder)) continue;
        Trace trace = std::move(builder).finish();
        if (trace.links().kernel_launch.size() != trace.kernel().rows) std::abort();
    }
    return 0;
}
