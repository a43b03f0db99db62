#include "measure/bench_document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_error.h"
#include "measure/bench_options.def"
#include "measure/measurement.h"
#include "measure/measurement_fields.h"
#include "measure/member_writer.h"

namespace gpuprof::measure {
namespace {

// Reads a JSON object into the members that a visit_* function visits (measurement_fields.h): the reverse of
// MemberWriter. Missing or null members leave the current value, so older files open; `wrong` is the first member of
// another type. Statistics are not read but recomputed from the samples, so a file cannot contradict itself.
class MemberReader {
public:
    using Value = simdjson::dom::element;

    explicit MemberReader(const simdjson::dom::object& object) : object_(object) {}
    std::string wrong;

    template <class T>
    void member(std::string_view name, T& to) {
        read(name, [&](const Value& value) { return get(value, to); });
    }
    template <class T>
    void member_if(std::string_view name, T& to, bool) {
        member(name, to);
    }
    template <class Visit>
    void object(std::string_view name, Visit&& visit) {
        read(name, [&](const Value& value) { return read_object(value, visit); });
    }
    template <class T, class Visit>
    void optional(std::string_view name, std::optional<T>& to, Visit&& visit) {
        object(name, [&](MemberReader& inner) { visit(to.emplace(), inner); });
    }
    template <class T, class Visit>
    void list(std::string_view name, std::vector<T>& to, Visit&& visit) {
        read(name, [&](const Value& value) {
            simdjson::dom::array items;
            if (value.get(items) != simdjson::SUCCESS) return false;
            for (const Value& item : items)
                if (!read_object(item, [&](MemberReader& inner) { visit(to.emplace_back(), inner); })) return false;
            return true;
        });
    }
    void statistics(std::string_view, Statistics&) {}

private:
    template <class Take>
    void read(std::string_view name, Take&& take) {
        Value value;
        if (object_[name].get(value) != simdjson::SUCCESS || value.is_null()) return;
        if (!take(value) && wrong.empty()) wrong = name;
    }
    template <class Visit>
    bool read_object(const Value& value, Visit&& visit) {
        simdjson::dom::object object;
        if (value.get(object) != simdjson::SUCCESS) return false;
        MemberReader inner(object);
        visit(inner);
        if (wrong.empty()) wrong = inner.wrong;
        return true;
    }

    static bool get(const Value& value, std::string& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        to = text;
        return true;
    }
    static bool get(const Value& value, double& to) { return value.get(to) == simdjson::SUCCESS; }
    static bool get(const Value& value, bool& to) { return value.get(to) == simdjson::SUCCESS; }
    template <std::integral T>
    static bool get(const Value& value, T& to) {
        std::int64_t number = 0;
        if (value.get(number) != simdjson::SUCCESS) return false;
        to = static_cast<T>(number);
        return static_cast<std::int64_t>(to) == number;
    }
    static bool get(const Value& value, StopReason& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        for (StopReason reason : kStopReasons)
            if (name_of(reason) == text) {
                to = reason;
                return true;
            }
        return false;
    }
    static bool get(const Value& value, StopRule& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        Result<StopRule> rule = find_stop_rule(text);
        if (rule.ok()) to = *rule;
        return rule.ok();
    }
    template <class T>
    static bool get(const Value& value, std::optional<T>& to) {
        return get(value, to.emplace());
    }
    template <class T>
    static bool get(const Value& value, std::vector<T>& to) {
        simdjson::dom::array items;
        if (value.get(items) != simdjson::SUCCESS) return false;
        to.clear();
        for (const Value& item : items)
            if (!get(item, to.emplace_back())) return false;
        return true;
    }

    simdjson::dom::object object_;
};

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kMaxLineDepth = 4;  // members of a benchmark have a line each, samples share one

constexpr auto visit_machine = [](auto& machine, auto& visitor) {
    visitor.member("host", machine.host);
    visitor.member("processor", machine.cpu);    // language: quoted
    visitor.member("processors", machine.cpus);  // language: quoted
    visitor.member("load", machine.load);
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
