// Fuzz target of the XProf importers, and so of the reader of protocol buffers: any bytes give a trace or an error and nothing
// else happens.
#include <cstdint>
#include <cstdlib>

#include "io/importers/formats.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {

void run_xprof(std::string_view bytes) {
    for (auto* import : {import_xplane, import_xprof_json}) {
        auto source = memory_source("fuzz", bytes);
        if (!source) return;
        TraceBuilder builder(Origin{});
        if (!import(**source, builder)) continue;
        Trace trace = std::move(builder).finish();
        if (trace.links().kernel_launch.size() != trace.kernel().rows) std::abort();
    }
}

}  // namespace gpuprof::fuzz
