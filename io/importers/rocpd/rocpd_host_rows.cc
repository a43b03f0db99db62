// Part of the rocpd importer: calls, annotations and samples.
#include <fmt/format.h>

#include "core/model/build/submission.h"
#include "io/importers/amd_rows.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::rocpd {
// Sets name and domain of a range: the text of the annotation, otherwise the name of the region.
void Reader::mark(Row row, std::optional<std::int64_t> event, StringId otherwise, std::string_view category) {
    RangeTable& table = batch_.tables.range;
    auto message = event ? messages_.find(*event) : messages_.end();
    StringId name = message == messages_.end() ? otherwise : message->second;
    set_known(table.name, row, name);
    if (!category.empty() && !category.starts_with("MARKER")) table.domain.set(row, batch_.intern(category));
}

void Reader::read_regions() {
    Scan rows = scan("region");
    auto start = rows.column("start"), end = rows.column("end"), process = rows.column("pid"),
         thread = rows.column("tid"), name = rows.column("name_id"), id = rows.column("event_id");
    std::unordered_map<std::int64_t, std::string> apis;  // by category
    ApiCallTable& calls = batch_.tables.api_call;
    RangeTable& ranges = batch_.tables.range;
    while (rows.next()) {
        Event about = event(rows.integer(id));
        auto [api, added] = apis.try_emplace(about.category);
        if (added) api->second = amd::api_of(strings_.text(about.category));
        Place at = place(rows.integer(process), rows.integer(thread));
        StringId called = strings_.id(rows.integer(name), batch_);
        if (api->second.empty()) {
            auto row = span_row(ranges, rows, start, end, batch_);
            if (!row) continue;
            set_known(ranges.thread, *row, at.thread);
            mark(*row, rows.integer(id), called, strings_.text(about.category));
            continue;
        }
        auto row = span_row(calls, rows, start, end, batch_);
        if (!row) continue;
        set_known(calls.thread, *row, at.thread);
        set_known(calls.process, *row, at.process);
        calls.api.set(*row, batch_.intern(api->second));
        set_known(calls.name, *row, called);
        set_id(calls.correlation, *row, about.stack);
        if (submission_of(strings_.text(rows.integer(name))) == Submission::copy) ++copy_calls_;
    }
}

// Instants: marks of the program, and values of counters over time.
void Reader::read_samples() {
    struct Track {
        StringId process = kNoString, thread = kNoString, name = kNoString;
    };
    std::unordered_map<std::int64_t, Track> tracks;
    Scan known = scan("track");
    auto number = known.column("id"), process = known.column("pid"), thread = known.column("tid"),
         name = known.column("name_id");
    while (known.next())
        if (auto id = known.integer(number)) {
            Place at = place(known.integer(process), known.integer(thread));
            tracks[*id] = {at.process, at.thread, strings_.id(known.integer(name), batch_)};
        }
    Scan rows = scan("sample");
    auto time = rows.column("timestamp"), on = rows.column("track_id"), id = rows.column("event_id");
    RangeTable& ranges = batch_.tables.range;
    SampleTable& samples = batch_.tables.sample;
    while (rows.next()) {
        auto at = times_of(rows, time, time, batch_);
        if (!at) continue;
        auto of = rows.integer(id);
        auto track = tracks.find(rows.integer(on).value_or(-1));
        auto values = of ? values_.find(*of) : values_.end();
        if (values == values_.end()) {
            Row row = ranges.add();
            ranges.start.set(row, at->first);
            ranges.dur.set(row, 0);
            if (track != tracks.end() && track->second.thread != kNoString)
                ranges.thread.set(row, track->second.thread);
            mark(row, of, track == tracks.end() ? kNoString : track->second.name, strings_.text(event(of).category));
            continue;
        }
        for (auto [which, value] : values->second) {
            auto counter = counters_.find(which);
            if (counter == counters_.end()) continue;
            Row row = samples.add();
            samples.time.set(row, at->first);
            set_known(samples.device, row, device(counter->second.agent));
            samples.metric.set(row, counter->second.name);
            set_known(samples.unit, row, counter->second.unit);
            samples.value.set(row, value);
        }
    }
}

}  // namespace gpuprof::importers::rocpd
