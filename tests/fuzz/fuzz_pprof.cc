// libFuzzer target of the importer of pprof's profiles: any bytes give a trace or an error and nothing else happens; parents come
// before their children, and every metric belongs to a node.
//
//   build/fuzz/fuzz_pprof -max_total_time=60 -max_len=20000 CORPUS_DIR tests/fuzz/corpus/pprof
#include <cstdint>
#include <cstdlib>

#include "core/importers/pprof.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuprof;
    auto source = memory_source("fuzz", {reinterpret_cast<const char*>(data), size});
    if (!source) return 0;
    TraceBuilder builder(Origin{});
    if (!import_pprof(**source, builder)) return 0;
    Trace trace = std::move(builder).finish();
    const Tables& tables = trace.tables();
    for (Row row = 0; row < tables.call_node.rows; ++row)
        if (tables.call_node.parent.has(row) && tables.call_node.parent[row] >= tables.call_node.node[row])
            std::abort();
    for (Row row = 0; row < tables.call_metric.rows; ++row)
        if (tables.call_metric.node[row] >= static_cast<std::int64_t>(tables.call_node.rows)) std::abort();
    return 0;
}
