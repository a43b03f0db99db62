// A saved result of `gpu-profile bench`: the measurements with all samples, the stopping rules, and the machine. One
// JSON object; the visit_* functions of bench_document.cc declare its members, once for writing and reading. Absent
// values are null. `schema` is the version of this format: within one version members may be added, never renamed or
// removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "measure/measurement.h"

namespace gpuprof::measure {

struct Machine {
    std::string host, cpu;       // name of the host, model of the CPU
    std::int64_t cpus = 0;       // available to this process
    std::optional<double> load;  // mean number of threads that ran or waited for a CPU in the last minute
};

// Memory of one call, by the source of the framework's figures (docs/guides/bench-python.md, "Memory").
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

// A device during the program's counted runs, including the gaps between them.
struct ProgramDevice {
    std::int64_t device = 0;
    std::string name;
    std::optional<double> busy_pct, peak_memory;                   // peak_memory in bytes
    std::optional<double> busy_s, energy_j, energy_uncertainty_j;  // per run
    std::string energy_basis;                                      // "counter", "power", ""
    std::int64_t samples = 0;
    std::vector<std::string> notes;
};

struct ProgramUse {
    std::vector<ProgramRun> warmup, runs;
    std::vector<ProgramDevice> devices;
    std::string no_device_because;  // if there is none
    std::string no_memory_because;  // if a run has no peak_memory
};

struct Benchmark {
    Measurement measurement;
    std::optional<StoppingOptions> settings;  // absent if the function chose its own, as sweeps do
    std::optional<MemoryFigures> memory;      // of functions, if requested
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
