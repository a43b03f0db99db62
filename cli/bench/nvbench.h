// A result of `bench` as the JSON that nvbench's programs write, for tools that read it (nvbench_compare.py).
#pragma once

#include "core/base/sink.h"
#include "measure/bench_document.h"

namespace gpuprof {

// What the shape has and a result has not is left out: docs/reference/commands/bench.md lists it.
void write_nvbench(const measure::BenchDocument& document, Sink& sink);

}  // namespace gpuprof
