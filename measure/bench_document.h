// The result of one `gpu-profile bench`, as it is kept: what was measured with all its samples, by which rules, on which
// machine. One JSON object; what is in it is declared by the visit_* functions of bench_document.cc, once for writing and reading.
// Absent is null. `schema` is the version of this shape: members may be added within one, never renamed or removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sink.h"
#include "measure/measurement.h"

namespace gpuprof::measure {

struct Machine {
    std::string host, processor;  // name of the host, model of the processor
    std::int64_t processors = 0;  // that this process may use
};

// Memory of one call, by whom the framework allocates from (docs/guides/bench-python.md, "Memory").
struct MemoryFigures {
    std::string source;
    std::optional<std::int64_t> allocated, peak_allocated, reserved, peak_reserved, device_used, device_total, outside;
    std::vector<std::string> notes;
};

// One run of a whole program.
struct ProgramRun {
    DurNs wall = 0, user = 0, system = 0;
    std::optional<std::int64_t> peak_memory;  // bytes, resident
    std::int64_t exit_status = 0, signal = 0;
};

// A device while the program ran, over all counted runs, gaps between them included.
struct ProgramDevice {
    std::int64_t device = 0;
    std::string name;
    std::optional<double> busy_pct, peak_memory;                   // peak_memory in bytes
    std::optional<double> busy_s, energy_j, energy_uncertainty_j;  // of one run
    std::string energy_basis;                                      // "counter", "power", ""
    std::int64_t samples = 0;
    std::vector<std::string> notes;
};

struct ProgramUse {
    std::vector<ProgramRun> warmup, runs;
    std::vector<ProgramDevice> devices;
    std::string no_device_because;  // when there is none
    std::string no_memory_because;  // when a run has no peak_memory
};

struct Benchmark {
    Measurement measurement;
    std::optional<StoppingOptions> settings;  // absent when the function chose its own, as sweeps do
    std::optional<MemoryFigures> memory;      // of functions, when it was asked for
    std::optional<ProgramUse> program;        // of whole programs; their samples are wall times
};

struct BenchDocument {
    std::string version;  // of the program that measured
    std::string created;  // UTC, "2026-02-14T09:30:00Z"
    std::string command_line;
    Machine machine;
    std::vector<Benchmark> benchmarks;
};

void write_json(const BenchDocument& document, Sink& sink);
// `file` is for messages.
Result<BenchDocument> read_bench_document(std::string_view json, const std::string& file);

}  // namespace gpuprof::measure
