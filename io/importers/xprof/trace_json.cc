// Part of the XProf importers: trace.json. Names of processes and threads precede the events; statistics are texts.
// Times are us since the start of the recording; the start itself is not in the file.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "io/importers/formats.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/xprof/xprof_rows.h"

namespace gpuprof::inline importers {
namespace {

using namespace xprof;
using simdjson::dom::element;

std::string_view text_of(const element& object, std::string_view key) {
    std::string_view text;
    return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::optional<std::int64_t> integer_of(const element& object, std::string_view key) {
    std::int64_t value = 0;
    return object[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

std::optional<TimeNs> ns_of(const element& object, std::string_view key) {
    constexpr double kMaxTime_us = 1e15;  // us
    double us = 0;
    if (object[key].get(us) != simdjson::SUCCESS || !(std::abs(us) < kMaxTime_us)) return std::nullopt;
    return std::llround(us * 1000);
}

class TraceJson {
public:
    explicit TraceJson(Batch& batch) : batch_(batch), rows_(batch, programs_) {}

    void take(const element& event) {
        std::string_view phase = text_of(event, "ph");
        if (phase == "M") return name(event);
        if (phase == "X") return span(event);
        if (!phase.empty()) batch_.lose_named(Loss::unknown_event, "", fmt::format("phase {}", phase));
    }

private:
    using Place = std::pair<std::int64_t, std::int64_t>;  // pid, tid

    static Place place_of(const element& event) {
        return {integer_of(event, "pid").value_or(0), integer_of(event, "tid").value_or(0)};
    }
    void name(const element& event) {
        element args;
        if (event["args"].get(args) != simdjson::SUCCESS) return;
        Place place = place_of(event);
        if (text_of(event, "name") == "process_name") planes_[place.first] = text_of(args, "name");
        if (text_of(event, "name") == "thread_name") lines_[place] = text_of(args, "name");
    }
    const Line& line_of(Place place) {
        auto [known, added] = made_.try_emplace(place);
        if (!added) return known->second;
        std::optional<std::int32_t> device = device_of(planes_[place.first]);
        // The host plane has the number of the process; the number of a device plane means nothing.
        StringId process = device ? kNoString : rows_.process(place.first, {});
        return known->second = rows_.line(lines_[place], place.second, device, process);
    }
    void span(const element& json) {
        std::optional<TimeNs> start = ns_of(json, "ts");
        if (!start) return batch_.lose(Loss::missing_field, "ts");
        Event event{text_of(json, "name"), *start, ns_of(json, "dur").value_or(0), {}};
        simdjson::dom::object args;
        if (json["args"].get(args) == simdjson::SUCCESS)
            for (auto [key, value] : args) {
                Stat stat{key, {}, std::nullopt};
                std::int64_t number = 0;
                if (value.get(stat.text) != simdjson::SUCCESS && value.get(number) == simdjson::SUCCESS)
                    stat.number = number;
                event.stats.push_back(stat);
            }
        if (std::string_view full = event.text("long_name"); !full.empty()) event.name = full;  // `name` is truncated
        rows_.add(line_of(place_of(json)), event);
    }

    Batch& batch_;
    HloNames programs_;  // none: only xplane.pb has them
    Rows rows_;
    std::map<std::int64_t, std::string_view> planes_;
    std::map<Place, std::string_view> lines_;
    std::map<Place, Line> made_;
};

}  // namespace

int sniff_xprof_json(std::string_view head) {
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    bool xprof = has("\"highres-ticks\"") && (has("/host:CPU") || has("/device:GPU:"));
    return xprof && has("\"traceEvents\"") ? 95 : 0;
}

Status import_xprof_json(Source& source, TraceBuilder& builder) {
    JsonDocument document;
    constexpr std::size_t kRowsPerEvent = 2;  // the object, the list of events
    Result<element> root = document.read(source, kRowsPerEvent);
    if (!root.ok()) return root.error();
    simdjson::dom::array events;
    if ((*root)["traceEvents"].get(events) != simdjson::SUCCESS)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not an XProf trace: no traceEvents", source.name())};
    Batch batch;
    TraceJson trace(batch);
    MemoryLimit limit(source);
    for (element event : events) {
        if (event.is_object()) trace.take(event);
        if (limit.is_below(batch, document.bytes())) return limit.error();
    }
    if (!document.cut().empty()) batch.lose(Loss::truncated, document.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("XProf");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
