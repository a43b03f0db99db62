// Profiles of pprof (profile.proto, gzip): the call tree, with device time in ns and the number of launches by stack; and warp samples
// of instructions.
#include <zlib.h>
#include <protozero/pbf_writer.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"
#include "io/exporters/instruction_samples.h"
#include "io/exporters/pprof.h"

namespace gpuprof::inline exporters {
namespace {

// Numbers of fields. Source: proto/profile.proto of github.com/google/pprof.
namespace pprof {
namespace profile {
constexpr std::uint32_t sample_type = 1, sample = 2, location = 4, function = 5, string = 6, time = 9, duration = 10,
                        default_type = 14;
}
namespace value_type {
constexpr std::uint32_t type = 1, unit = 2;
}
namespace sample {
constexpr std::uint32_t locations = 1, values = 2, label = 3, label_key = 1, label_text = 2;
}
namespace location {
constexpr std::uint32_t id = 1, line = 4, line_function = 1, line_number = 2;
}
namespace function {
constexpr std::uint32_t id = 1, name = 2, file = 4;
}
}  // namespace pprof

class Strings {
public:
    Strings() { (void)of(""); }  // the first must be empty
    std::int64_t of(const std::string& text) {
        auto [number, added] = numbers_.try_emplace(text, std::ssize(texts_));
        if (added) texts_.push_back(text);
        return number->second;
    }
    const std::vector<std::string>& texts() const { return texts_; }

private:
    std::unordered_map<std::string, std::int64_t> numbers_;
    std::vector<std::string> texts_;
};

// Writes a profile with gzip, as pprof expects it.
Status write_profile(std::string text, Sink& sink) {
    constexpr int kGzipWindow = 15 + 16;
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return Error{ExitCode::internal, "out of memory for compression"};
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    std::string piece(256 * 1024, '\0');
    int code = Z_OK;
    while (code == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        code = deflate(&stream, Z_FINISH);
        sink.write(std::string_view(piece).substr(0, piece.size() - stream.avail_out));
    }
    deflateEnd(&stream);
    return {};
}

using protozero::pbf_writer;
using namespace pprof;

// What all profiles of device time measure; the second is shown first.
std::int64_t add_device_types(pbf_writer& writer, Strings& strings) {
    std::int64_t standard = strings.of("device");
    for (auto [type, unit] : {std::pair("launches", "count"), std::pair("device", "nanoseconds")}) {
        pbf_writer value(writer, profile::sample_type);
        value.add_int64(value_type::type, strings.of(type));
        value.add_int64(value_type::unit, strings.of(unit));
    }
    return standard;
}

// One function and one location for each name, with the same number as the name; then what ends a profile.
void add_names(pbf_writer& writer, const std::vector<std::uint64_t>& names, const Strings& strings, TimeNs time,
               DurNs duration, std::int64_t standard) {
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
    writer.add_int64(profile::time, time);
    writer.add_int64(profile::duration, duration);
    writer.add_int64(profile::default_type, standard);
}

std::string profile_of(const Trace& trace) {
    CallTree tree = call_tree(trace);
    Strings strings;
    std::string text;
    pbf_writer writer(text);
    std::int64_t standard = add_device_types(writer, strings);
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
    add_names(writer, names, strings, trace.full_window().start, trace.full_window().length(), standard);
    return text;
}

}  // namespace

Status write_flat_profile(const FlatProfile& flat, Sink& sink) {
    Strings strings;
    std::string text;
    pbf_writer writer(text);
    std::int64_t standard = add_device_types(writer, strings);
    std::vector<std::uint64_t> names;
    for (const FlatProfile::Sample& each : flat.samples) {
        names.push_back(static_cast<std::uint64_t>(strings.of(each.name)));
        std::array<std::int64_t, 2> values{each.count, each.device};
        pbf_writer written(writer, profile::sample);
        written.add_packed_uint64(sample::locations, &names.back(), &names.back() + 1);
        written.add_packed_int64(sample::values, values.begin(), values.end());
        for (const auto& [key, value] : each.labels) {
            pbf_writer label(written, sample::label);
            label.add_int64(sample::label_key, strings.of(std::string(key)));
            label.add_int64(sample::label_text, strings.of(value));
        }
    }
    add_names(writer, names, strings, flat.time, flat.duration, standard);
    return write_profile(std::move(text), sink);
}

Status export_pprof(const Trace& trace, Sink& sink) { return write_profile(profile_of(trace), sink); }

namespace {

// Warp samples of instructions as a pprof profile: a stack is the stall reason in a source line of a kernel, so that
// `pprof -list KERNEL` shows the source next to the samples.

using protozero::pbf_writer;
using namespace pprof;

// Numbers, from 1, of the functions and of their lines.
class Locations {
public:
    std::uint64_t of(std::int64_t name, std::int64_t file, std::int32_t line) {
        std::uint64_t function = functions_.try_emplace({name, file}, functions_.size() + 1).first->second;
        return lines_.try_emplace({function, line}, lines_.size() + 1).first->second;
    }
    void write(pbf_writer& writer) const {
        for (const auto& [place, number] : lines_) {
            pbf_writer location(writer, profile::location);
            location.add_uint64(location::id, number);
            pbf_writer line(location, location::line);
            line.add_uint64(location::line_function, place.first);
            if (place.second > 0) line.add_int64(location::line_number, place.second);
        }
        for (const auto& [names, number] : functions_) {
            pbf_writer function(writer, profile::function);
            function.add_uint64(function::id, number);
            function.add_int64(function::name, names.first);
            function.add_int64(function::file, names.second);
        }
    }

private:
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> functions_;  // name, file
    std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> lines_;     // function, line
};

std::string source_profile_of(const Trace& trace) {
    Strings strings;
    Locations locations;
    std::string text;
    pbf_writer writer(text);
    {
        pbf_writer value(writer, profile::sample_type);
        value.add_int64(value_type::type, strings.of("samples"));
        value.add_int64(value_type::unit, strings.of("count"));
    }
    for (const InstructionSamples& each : instruction_samples(trace)) {
        std::uint64_t reason = locations.of(strings.of(std::string(each.reason)), 0, 0);
        std::uint64_t place =
            locations.of(strings.of(std::string(each.kernel)), strings.of(std::string(each.file)), each.line);
        const std::array<std::uint64_t, 2> stack{reason, place};  // innermost first
        pbf_writer sample(writer, profile::sample);
        sample.add_packed_uint64(sample::locations, stack.begin(), stack.end());
        sample.add_packed_int64(sample::values, &each.count, &each.count + 1);
    }
    locations.write(writer);
    for (const std::string& each : strings.texts()) writer.add_string(profile::string, each);
    return text;
}

}  // namespace

Status export_pprof_source(const Trace& trace, Sink& sink) { return write_profile(source_profile_of(trace), sink); }

}  // namespace gpuprof::exporters
