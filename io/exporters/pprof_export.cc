// The call tree as a pprof profile (profile.proto, gzip): device time in ns and the number of launches, by stack.
#include <array>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <vector>

#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"
#include "io/exporters/pprof_profile.h"

namespace gpuprof::inline exporters {
namespace {

using protozero::pbf_writer;
using namespace pprof;

// One function and one location for each name, with the same number as the name.
std::string profile_of(const Trace& trace) {
    CallTree tree = call_tree(trace);
    Strings strings;
    std::string text;
    pbf_writer writer(text);
    std::int64_t standard = strings.of("device");
    for (auto [type, unit] : {std::pair("launches", "count"), std::pair("device", "nanoseconds")}) {
        pbf_writer value(writer, profile::sample_type);
        value.add_int64(value_type::type, strings.of(type));
        value.add_int64(value_type::unit, strings.of(unit));
    }
    std::vector<std::uint64_t> names;
    for (const CallTree::Node& node : tree.nodes) names.push_back(static_cast<std::uint64_t>(strings.of(node.name)));
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
        if (tree.nodes[i].count == 0) continue;
        std::vector<std::uint64_t> stack;  // innermost first
        for (std::uint32_t at = i; at != CallTree::kNone; at = tree.nodes[at].parent) stack.push_back(names[at]);
        std::array<std::int64_t, 2> values{tree.nodes[i].count, tree.nodes[i].device_ns};
        pbf_writer written(writer, profile::sample);
        written.add_packed_uint64(sample::locations, stack.begin(), stack.end());
        written.add_packed_int64(sample::values, values.begin(), values.end());
    }
    for (std::uint64_t name : std::set<std::uint64_t>(names.begin(), names.end())) {
        {
            pbf_writer place(writer, profile::location);
            place.add_uint64(location::id, name);
            pbf_writer(place, location::line).add_uint64(location::line_function, name);
        }
        pbf_writer made(writer, profile::function);
        made.add_uint64(function::id, name);
        made.add_int64(function::name, static_cast<std::int64_t>(name));
    }
    for (const std::string& each : strings.texts()) writer.add_string(profile::string, each);
    writer.add_int64(profile::time, trace.full_window().start);
    writer.add_int64(profile::duration, trace.full_window().length());
    writer.add_int64(profile::default_type, standard);
    return text;
}

}  // namespace

Status export_pprof(const Trace& trace, Sink& sink) { return pprof::write_profile(profile_of(trace), sink); }

}  // namespace gpuprof::exporters
