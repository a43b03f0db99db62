// Writes a result of `bench` as nvbench's JSON, for tools that read it (nvbench_compare.py).
#pragma once

#include "core/base/files/sink.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

// Members that nvbench has and a result lacks are omitted; docs/reference/commands/bench.md lists them.
void write_nvbench(const measure::BenchDocument& document, Sink& sink);

}  // namespace gpuprof::cli
