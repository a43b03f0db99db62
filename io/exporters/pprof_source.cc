// Warp samples of instructions as a pprof profile: a stack is the stall reason in a source line of a kernel, so that
// `pprof -list KERNEL` shows the source next to the samples.
#include <array>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <tuple>

#include "io/exporters/exporter.h"
#include "io/exporters/instruction_samples.h"
#include "io/exporters/pprof_profile.h"

namespace gpuprof::inline exporters {
namespace {

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

Status export_pprof_source(const Trace& trace, Sink& sink) {
    return pprof::write_profile(source_profile_of(trace), sink);
}

}  // namespace gpuprof::exporters
