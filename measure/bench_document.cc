#include "measure/bench_document.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json_error.h"
#include "measure/bench_options.def"
#include "measure/measurement_fields.h"
#include "measure/member_reader.h"
#include "measure/member_writer.h"

namespace gpuprof::measure {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kMaxLineDepth = 4;  // members of a benchmark have a line each, samples share one

constexpr auto visit_machine = [](auto& machine, auto& visitor) {
    visitor.member("host", machine.host);
    visitor.member("processor", machine.cpu);    // language: quoted
    visitor.member("processors", machine.cpus);  // language: quoted
};

constexpr auto visit_settings = [](auto& settings, auto& visitor) {
#define GPUPROF_VISIT(field, own, ...) visitor.member(#field, settings.own);
    GPUPROF_STOPPING_OPTIONS(GPUPROF_VISIT)
#undef GPUPROF_VISIT
};

constexpr auto visit_memory = [](auto& memory, auto& visitor) {
    visitor.member("source", memory.source);
    visitor.member("allocated_bytes", memory.allocated);
    visitor.member("peak_allocated_bytes", memory.peak_allocated);
    visitor.member("reserved_bytes", memory.reserved);
    visitor.member("peak_reserved_bytes", memory.peak_reserved);
    visitor.member("device_used_bytes", memory.device_used);
    visitor.member("device_total_bytes", memory.device_total);
    visitor.member("outside_bytes", memory.outside);
    visitor.member("notes", memory.notes);
};

constexpr auto visit_run = [](auto& run, auto& visitor) {
    visitor.member("wall_ns", run.wall);
    visitor.member("user_ns", run.user);
    visitor.member("system_ns", run.system);
    visitor.member("peak_memory_bytes", run.peak_memory);
    visitor.member("exit_status", run.exit_status);
    visitor.member("signal", run.signal);
};

constexpr auto visit_device = [](auto& device, auto& visitor) {
    visitor.member("device", device.device);
    visitor.member("name", device.name);
    visitor.member("samples", device.samples);
    visitor.member("busy_pct", device.busy_pct);
    visitor.member("busy_s_per_run", device.busy_s);
    visitor.member("energy_j_per_run", device.energy_j);
    visitor.member("energy_uncertainty_j_per_run", device.energy_uncertainty_j);
    visitor.member_if("energy_basis", device.energy_basis, !device.energy_basis.empty());
    visitor.member("peak_memory_bytes", device.peak_memory);
    visitor.member("notes", device.notes);
};

constexpr auto visit_program = [](auto& program, auto& visitor) {
    visitor.list("warmup", program.warmup, visit_run);
    visitor.list("runs", program.runs, visit_run);
    visitor.list("devices", program.devices, visit_device);
    visitor.member_if("no_device_because", program.no_device_because, program.devices.empty());
    visitor.member_if("no_memory_because", program.no_memory_because, !program.no_memory_because.empty());
};

constexpr auto visit_benchmark = [](auto& benchmark, auto& visitor) {
    visitor.object("measurement", [&](auto& inner) { visit_measurement(benchmark.measurement, inner); });
    visitor.optional("settings", benchmark.settings, visit_settings);
    visitor.optional("memory", benchmark.memory, visit_memory);
    visitor.optional("program", benchmark.program, visit_program);
};

constexpr auto visit_document = [](auto& document, auto& visitor) {
    visitor.member("created", document.created);
    visitor.member("command_line", document.command_line);
    visitor.object("machine", [&](auto& inner) { visit_machine(document.machine, inner); });
    visitor.list("benchmarks", document.benchmarks, visit_benchmark);
};

// Computes the statistics from the samples; a returned sentence says what is wrong.
std::string complete(Measurement& found) {
    if (found.name.empty() || found.timer.empty()) return "a measurement has no name or no timer";
    for (double sample : found.samples)
        if (!std::isfinite(sample) || sample < 0)
            return fmt::format("a sample of '{}' is not a valid time", found.name);
    found.statistics = statistics_of(found.samples);
    return {};
}

}  // namespace

void write_json(const BenchDocument& document, Sink& sink) {
    JsonWriter json(sink, kMaxLineDepth);
    MemberWriter(json).write_object([&](MemberWriter& writer) {
        writer.member("tool", std::string_view("gpu-profile"));
        writer.member("version", document.version);
        writer.member("document", std::string_view("bench"));
        writer.member("schema", kSchema);
        visit_document(document, writer);
    });
}

Result<BenchDocument> read_bench_document(std::string_view json, const std::string& file) {
    auto wrong = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("{} is not a result of gpu-profile bench: {}", file, why)};
    };
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parse_text(parser, json, object) != simdjson::SUCCESS) return wrong("not a JSON object");
    std::string kind;
    std::int64_t schema = 0;
    BenchDocument document;
    MemberReader reader(object);
    reader.member("document", kind);
    reader.member("schema", schema);
    if (kind != "bench") return wrong("it lacks \"document\": \"bench\"");
    if (schema != kSchema) return wrong(fmt::format("its schema is {}, but this program reads {}", schema, kSchema));
    reader.member("version", document.version);
    visit_document(document, reader);
    if (!reader.wrong.empty()) return wrong(fmt::format("member '{}' has the wrong type", reader.wrong));
    for (Benchmark& benchmark : document.benchmarks)
        if (std::string problem = complete(benchmark.measurement); !problem.empty()) return wrong(problem);
    return document;
}

}  // namespace gpuprof::measure
