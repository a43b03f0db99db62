// OpenTelemetry's profiles, of version 1.11.0 of its protocol, which is not stable: `v1development`. One message has one dictionary and two
// profiles over the same stacks of the call tree: device time and launches. It is ProfilesData, which as bytes is also the request that a
// Collector takes. A Collector does not check what the protocol demands of dictionaries: element 0 of each table is there and is the zero
// value, and nothing is there twice or unused.
// Source: opentelemetry/proto/profiles/v1development/profiles.proto, with common.proto and resource.proto.
#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"

namespace gpuprof::inline exporters {
namespace {

using protozero::pbf_writer;

// Numbers of fields, message by message.
namespace otlp {
constexpr std::uint32_t resource_profiles = 1, dictionary = 2;
constexpr std::uint32_t resource = 1, scope_profiles = 2, attributes = 1;
constexpr std::uint32_t scope = 1, profiles = 2, scope_name = 1;
constexpr std::uint32_t sample_type = 1, samples = 2, time = 3, duration = 4, type = 1, unit = 2;
constexpr std::uint32_t sample_stack = 1, sample_attributes = 2, sample_values = 4;
constexpr std::uint32_t mapping_table = 1, location_table = 2, function_table = 3, link_table = 4, string_table = 5,
                        attribute_table = 6, stack_table = 7;
constexpr std::uint32_t link_trace = 1, link_span = 2, location_lines = 3, line_function = 1, function_name = 1,
                        stack_locations = 1;
constexpr std::uint32_t key = 1, value = 2, string_value = 1, int_value = 3;  // of an attribute, and of its value
}  // namespace otlp

// Different values, numbered in the order in which they come. The first is the zero value.
template <class Value>
class OtlpTable {
public:
    OtlpTable() { of({}); }
    std::int32_t of(const Value& value) {
        auto [known, added] = numbers_.try_emplace(value, static_cast<std::int32_t>(values_.size()));
        if (added) values_.push_back(value);
        return known->second;
    }
    const std::vector<Value>& values() const { return values_; }

private:
    std::map<Value, std::int32_t> numbers_;
    std::vector<Value> values_;
};

struct OtlpDictionary {
    OtlpTable<std::string> strings = {};
    OtlpTable<std::int32_t> functions = {};  // their names; each is a location of the same number
    OtlpTable<std::vector<std::int32_t>> stacks = {};
    OtlpTable<std::optional<std::int32_t>> devices = {};  // values of the attribute "gpu"

    void write(pbf_writer writer) {
        constexpr std::size_t kTraceBytes = 16, kSpanBytes = 8;
        std::int32_t gpu = strings.of("gpu");
        // An empty pbf_writer writes nothing, and an empty message is what the first elements are.
        for (std::uint32_t table : {otlp::mapping_table, otlp::location_table, otlp::function_table, otlp::stack_table,
                                    otlp::attribute_table})
            writer.add_message(table, std::string());
        pbf_writer link(writer, otlp::link_table);
        link.add_bytes(otlp::link_trace, std::string(kTraceBytes, '\0'));
        link.add_bytes(otlp::link_span, std::string(kSpanBytes, '\0'));
        link.commit();
        for (std::size_t i = 1; i < functions.values().size(); ++i) {
            {
                pbf_writer location(writer, otlp::location_table);
                pbf_writer(location, otlp::location_lines).add_int32(otlp::line_function, static_cast<std::int32_t>(i));
            }
            pbf_writer(writer, otlp::function_table).add_int32(otlp::function_name, functions.values()[i]);
        }
        for (std::size_t i = 1; i < stacks.values().size(); ++i) {
            const std::vector<std::int32_t>& stack = stacks.values()[i];
            pbf_writer(writer, otlp::stack_table).add_packed_int32(otlp::stack_locations, stack.begin(), stack.end());
        }
        for (std::size_t i = 1; i < devices.values().size(); ++i) {
            pbf_writer attribute(writer, otlp::attribute_table);
            attribute.add_int32(otlp::key, gpu);
            pbf_writer(attribute, otlp::value).add_int64(otlp::int_value, *devices.values()[i]);
        }
        for (const std::string& each : strings.values()) writer.add_string(otlp::string_table, each);
    }
};

struct OtlpSample {
    std::int32_t stack = 0, device = 0;
    std::int64_t time = 0, count = 0;
};

std::vector<OtlpSample> otlp_samples(const CallTree& tree, OtlpDictionary& dictionary) {
    std::vector<std::int32_t> names(tree.nodes.size());  // 0: not needed yet
    std::vector<OtlpSample> samples;
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
        const CallTree::Node& node = tree.nodes[i];
        if (node.count == 0) continue;
        std::vector<std::int32_t> stack;  // innermost first
        for (std::uint32_t at = i; at != CallTree::kNone; at = tree.nodes[at].parent) {
            if (names[at] == 0) names[at] = dictionary.functions.of(dictionary.strings.of(tree.nodes[at].name));
            stack.push_back(names[at]);
        }
        samples.push_back(
            {dictionary.stacks.of(stack), dictionary.devices.of(node.device), node.device_ns, node.count});
    }
    return samples;
}

// The value that all processes have, if they have the same.
std::string_view common_text(const Trace& trace, const Column<StringId>& column) {
    std::string_view common;
    for (Row row = 0; row < trace.tables().process.rows; ++row) {
        std::string_view text = column.has(row) ? trace.text(column[row]) : std::string_view();
        if (text.empty() || (!common.empty() && text != common)) return "";
        common = text;
    }
    return common;
}

void add_resource(pbf_writer resource, const Trace& trace) {
    const ProcessTable& processes = trace.tables().process;
    for (auto [key, text] : {std::pair("service.name", common_text(trace, processes.name)),
                             std::pair("host.name", common_text(trace, processes.host))}) {
        if (text.empty()) continue;
        pbf_writer attribute(resource, otlp::attributes);
        attribute.add_string(otlp::key, key);
        pbf_writer(attribute, otlp::value).add_string(otlp::string_value, text.data(), text.size());
    }
}

void add_profile(pbf_writer profile, const Trace& trace, OtlpDictionary& dictionary, const char* type, const char* unit,
                 const std::vector<OtlpSample>& samples, std::int64_t OtlpSample::*value) {
    {
        pbf_writer types(profile, otlp::sample_type);
        types.add_int32(otlp::type, dictionary.strings.of(type));
        types.add_int32(otlp::unit, dictionary.strings.of(unit));
    }
    for (const OtlpSample& each : samples) {
        pbf_writer sample(profile, otlp::samples);
        sample.add_int32(otlp::sample_stack, each.stack);
        sample.add_packed_int32(otlp::sample_attributes, &each.device, &each.device + 1);
        sample.add_packed_int64(otlp::sample_values, &(each.*value), &(each.*value) + 1);
    }
    constexpr TimeNs kFirstDate = 1'000'000'000'000'000'000;  // in 2001; recordings whose date is unknown begin near 0
    Interval window = trace.full_window();
    if (window.start >= kFirstDate) profile.add_fixed64(otlp::time, static_cast<std::uint64_t>(window.start));
    profile.add_uint64(otlp::duration, static_cast<std::uint64_t>(window.length()));
}

}  // namespace

Status export_otlp_profiles(const Trace& trace, Sink& sink) {
    OtlpDictionary dictionary;
    std::vector<OtlpSample> samples = otlp_samples(call_tree(trace), dictionary);
    std::string text;
    pbf_writer data(text);
    {
        pbf_writer of_resource(data, otlp::resource_profiles);
        add_resource({of_resource, otlp::resource}, trace);
        pbf_writer of_scope(of_resource, otlp::scope_profiles);
        pbf_writer(of_scope, otlp::scope).add_string(otlp::scope_name, "gpu-profile");
        add_profile({of_scope, otlp::profiles}, trace, dictionary, "gpu_time", "nanoseconds", samples,
                    &OtlpSample::time);
        add_profile({of_scope, otlp::profiles}, trace, dictionary, "gpu_launches", "count", samples,
                    &OtlpSample::count);
    }
    dictionary.write({data, otlp::dictionary});
    sink.write(text);
    return {};
}

}  // namespace gpuprof::exporters
