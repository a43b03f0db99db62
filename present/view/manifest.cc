// The manifest: the tracks, lanes and tables of a document and their blobs. docs/reference/formats/viewer.md explains
// each member.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "present/answer/analyses.h"
#include "present/view/view_parts.h"

namespace gpuprof::inline view {
namespace {

constexpr std::int64_t kFormat = 1;

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
    json.key(name);
    text.empty() ? json.null() : json.text(text);
}

void write_source(JsonWriter& json, const Origin& origin) {
    json.key("source");
    json.begin_object();
    json.member("file", plain_files(origin.file));
    json.member("words", origin.file);
    json.member("importer", origin.importer);
    text_or_null(json, "tool", origin.tool);
    json.end_object();
}

void write_tracks(JsonWriter& json, const Scene& scene) {
    json.key("tracks");
    json.begin_array();
    for (const Track& track : scene.tracks) {
        json.begin_object();
        json.member("parent", std::int64_t{track.parent});
        json.member("kind", track.kind);
        json.member("name", track.name);
        if (track.device) json.member("device", std::int64_t{*track.device});
        if (!track.thread.empty()) json.member("thread", track.thread);
        json.end_object();
    }
    json.end_array();
}

void write_chunk(JsonWriter& json, const Chunk& chunk) {
    json.begin_array();
    for (std::size_t count : {chunk.blob, chunk.count}) json.integer(static_cast<std::int64_t>(count));
    for (std::int64_t number : {chunk.start, chunk.end, chunk.events_before, chunk.time_before}) json.integer(number);
    if (chunk.stacks) json.integer(static_cast<std::int64_t>(*chunk.stacks));
    json.end_array();
}

void write_levels(JsonWriter& json, const LaneParts& parts) {
    json.key("levels");
    json.begin_array();
    for (std::size_t level = 0; level < parts.levels(); ++level) {
        json.begin_object();
        json.member("resolution_ns", parts.resolution(level));
        json.key("chunks");
        json.begin_array();
        for (const Chunk& chunk : parts.chunks[level]) write_chunk(json, chunk);
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

// The first highest value.
void write_peak(JsonWriter& json, const PodVector<Value>& values) {
    json.key("peak");
    auto highest = std::max_element(values.begin(), values.end(), [](auto& a, auto& b) { return a.value < b.value; });
    if (highest == values.end()) return json.null();
    json.begin_array();
    json.integer(highest->time);
    json.real(highest->value);
    json.end_array();
}

// The lanes of the critical path are separate from those of events.
void write_lanes(JsonWriter& json, const ViewParts& parts, bool of_path) {
    json.key("lanes");
    json.begin_array();
    for (std::size_t i = 0; i < parts.lanes.size(); ++i) {
        const Lane& lane = parts.scene.lanes[i];
        if ((lane.table == SliceTable::critical_path) != of_path) continue;
        bool counter = lane.table == SliceTable::none;
        json.begin_object();
        json.member("track", std::int64_t{lane.track});
        json.member("y", std::int64_t{lane.y});
        json.member("kind", counter ? "value" : "slice");
        text_or_null(json, "table", name_of(lane.table));
        text_or_null(json, "label", lane.label);
        text_or_null(json, "unit", lane.unit);
        json.member("events", static_cast<std::int64_t>(counter ? lane.values.size() : lane.slices.size()));
        if (counter) write_peak(json, lane.values);
        write_levels(json, parts.lanes[i]);
        json.end_object();
    }
    json.end_array();
}

void write_critical_path(JsonWriter& json, const ViewParts& parts) {
    const ViewPath& path = parts.answer.path;
    json.key("critical_path");
    if (path.spans.empty()) return json.null();
    json.begin_object();
    json.key("parts");
    json.begin_array();
    for (std::size_t i = 0; i < kPathClasses; ++i) {
        if (path.by_class[i] == 0) continue;
        json.begin_object();
        json.member("part", name_of(static_cast<PathClass>(i)));
        json.member("total_ns", path.by_class[i]);
        json.key("share_pct");
        json.real(100 * static_cast<double>(path.by_class[i]) / static_cast<double>(path.total));
        json.end_object();
    }
    json.end_array();
    write_lanes(json, parts, true);
    json.end_object();
}

void write_table(JsonWriter& json, const EventTable& table, std::size_t first_blob) {
    json.begin_object();
    json.member("name", table.name);
    json.member("doc", table.doc);
    json.member("rows", static_cast<std::int64_t>(table.rows));
    json.member("chunk_rows", static_cast<std::int64_t>(kChunkRows));
    json.key("blobs");
    json.begin_array();
    for (std::size_t i = 0; i * kChunkRows < table.rows; ++i) json.integer(static_cast<std::int64_t>(first_blob + i));
    json.end_array();
    json.key("columns");
    json.begin_array();
    for (const ColumnSpec& column : table.columns) {
        json.begin_object();
        json.member("name", column.name);
        json.member("type", name_of(column.type));
        text_or_null(json, "unit", name_of(column.unit));
        json.member("doc", column.doc);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void write_long_tables(JsonWriter& json, const ViewParts& parts) {
    json.key("long_tables");
    json.begin_array();
    for (std::size_t i = 0; i < parts.answer.long_tables.size(); ++i) {
        const LongTable& table = parts.answer.long_tables[i];
        json.begin_object();
        json.member("name", table.name);
        json.member("rows", static_cast<std::int64_t>(table.rows));
        json.member("chunk_rows", static_cast<std::int64_t>(kChunkRows));
        json.key("blobs");
        json.begin_array();
        for (std::size_t chunk = 0; chunk * kChunkRows < table.rows; ++chunk)
            json.integer(static_cast<std::int64_t>(parts.first_blob_of_long_table[i] + chunk));
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

void write_table_groups(JsonWriter& json) {
    json.key("table_groups");
    json.begin_array();
    std::span<const ListedAnalysis> listed = listed_analyses();
    for (std::size_t i = 0; i < listed.size();) {
        json.begin_object();
        json.member("title", listed[i].heading);
        json.key("tables");
        json.begin_array();
        for (++i; i < listed.size() && listed[i].analysis != nullptr; ++i) json.text(listed[i].analysis->name);
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

void write_job(JsonWriter& json, const ViewParts& parts) {
    json.key("job");
    if (parts.answer.job.about.empty()) return json.null();
    json.begin_object();
    for (std::size_t id = 0; id < parts.blobs.size(); ++id)
        if (parts.blobs[id].kind == Blob::kJob) json.member("about", static_cast<std::int64_t>(id));
    json.key("cells");
    json.begin_array();
    for (std::size_t blob : parts.blob_of_cells) json.integer(static_cast<std::int64_t>(blob));
    json.end_array();
    json.key("steps");
    json.begin_array();
    for (std::size_t i = 0; i < parts.blob_of_steps.size(); ++i) {
        json.begin_array();
        json.integer(static_cast<std::int64_t>(parts.answer.job.steps[i].step));
        json.integer(static_cast<std::int64_t>(parts.blob_of_steps[i]));
        json.end_array();
    }
    json.end_array();
    json.end_object();
}

void write_special_blobs(JsonWriter& json, const ViewParts& parts) {
    std::optional<std::size_t> names, frames, cuts, sums, report, busy_shares;
    for (std::size_t id = 0; id < parts.blobs.size(); ++id) {
        if (parts.blobs[id].kind == Blob::kFrames) frames = id;
        if (parts.blobs[id].kind == Blob::kCuts) cuts = id;
        if (parts.blobs[id].kind == Blob::kSums) sums = id;
        if (parts.blobs[id].kind == Blob::kNames) names = id;
        if (parts.answer.report.empty()) continue;  // not there yet
        if (parts.blobs[id].kind == Blob::kReport) report = id;
        if (parts.blobs[id].kind == Blob::kBusyShares) busy_shares = id;
    }
    auto member = [&](std::string_view name, std::optional<std::size_t> id) {
        json.key(name);
        id ? json.integer(static_cast<std::int64_t>(*id)) : json.null();
    };
    member("names", names);
    member("frames", frames);
    member("cuts", cuts);
    member("sums", sums);
    member("report", report);
    member("pictures", busy_shares);
    write_job(json, parts);
    json.key("kernels");
    json.begin_array();
    for (std::size_t i = 0; i < parts.answer.kernels.pages.size(); ++i)
        json.integer(static_cast<std::int64_t>(parts.first_blob_of_kernels + i));
    json.end_array();
    json.key("sampled");
    json.begin_array();
    for (const SampledKernel& kernel : parts.answer.kernels.sampled) {
        json.begin_object();
        json.member("name", kernel.name);
        json.member("samples", kernel.samples);
        json.key("share_pct");
        json.real(kernel.share_pct);
        json.member("kernel", static_cast<std::int64_t>(kernel.page));
        text_or_null(json, "timeline", kernel.timeline);
        json.end_object();
    }
    json.end_array();
    json.member("iterations", static_cast<std::int64_t>(parts.iterations));
    json.member("blob_count", static_cast<std::int64_t>(parts.blobs.size()));
}

}  // namespace

std::string manifest_of(const ViewParts& parts, std::string_view version, TimeNs time_origin) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.member("format", kFormat);
    json.member("program", fmt::format("gpu-profile {}", version));
    write_source(json, parts.answered().origin());
    json.member("window_ns", parts.trace.window().length());
    json.member("time_origin_ns", std::to_string(time_origin));  // text, because JavaScript numbers are too small
    json.key("part_ns");
    if (const std::optional<Interval>& part = parts.answer.part) {
        json.begin_array();
        json.integer(part->start);
        json.integer(part->end);
        json.end_array();
    } else {
        json.null();
    }
    write_tracks(json, parts.scene);
    write_lanes(json, parts, false);
    write_critical_path(json, parts);
    json.key("tables");
    json.begin_array();
    for (std::size_t i = 0; i < parts.tables.size(); ++i)
        write_table(json, parts.tables[i], parts.first_blob_of_table[i]);
    json.end_array();
    write_long_tables(json, parts);
    write_table_groups(json);
    write_special_blobs(json, parts);
    json.end_object();
    return sink.text();
}

}  // namespace gpuprof::view
