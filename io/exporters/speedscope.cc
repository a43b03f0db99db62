// The speedscope exporter: a timeline for each thread and each stream, and the sampled Python stacks of each thread.
// Times are ns since the start of the recording. Spans that overlap without nesting go to an additional timeline.
// Format: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources.
#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_map>

#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "io/exporters/exporter.h"
#include "io/exporters/lanes.h"

namespace gpuprof::inline exporters {
namespace {

class SpeedscopeExport {
public:
    SpeedscopeExport(const Trace& trace, JsonWriter& json) : trace_(trace), tables_(trace.tables()), json_(json) {}

    void write() {
        json_.begin_object();
        json_.member("$schema", std::string_view("https://www.speedscope.app/file-format-schema.json"));
        json_.member("exporter", std::string_view("gpu-profile"));
        json_.member("name", base_name(plain_files(trace_.origin().file)));
        json_.key("profiles");
        json_.begin_array();
        write_threads();
        write_streams();
        write_stacks();
        json_.end_array();
        json_.key("shared");
        json_.begin_object();
        json_.key("frames");
        json_.begin_array();
        for (std::string_view name : names_) {
            json_.begin_object();
            json_.member("name", name);
            json_.end_object();
        }
        json_.end_array();
        json_.end_object();
        json_.end_object();
    }

private:
    std::int64_t frame(std::string_view name) {
        auto [known, added] = frames_.try_emplace(std::string(name), std::ssize(names_));
        if (added) names_.push_back(known->first);
        return known->second;
    }
    std::string named(const Column<StringId>& column, Row row, const char* otherwise) const {
        return column.has(row) ? std::string(trace_.text(column[row])) : otherwise;
    }
    void begin_profile(std::string_view type, std::string_view name, std::string_view unit, std::int64_t end) {
        json_.begin_object();
        json_.member("type", type);
        json_.member("name", name);
        json_.member("unit", unit);
        json_.member("startValue", std::int64_t{0});
        json_.member("endValue", end);
    }
    void event(std::string_view type, std::int64_t frame, TimeNs time) {
        json_.begin_object();
        json_.member("type", type);
        json_.member("frame", frame);
        json_.member("at", time - trace_.full_window().start);
        json_.end_object();
    }

    // The `table` of a placed span is the frame.
    void write_timelines(const std::string& name, std::vector<PlacedSpan> spans, Layout layout) {
        std::size_t number = 0;
        for (const std::vector<PlacedSpan>& lane : lay_out(std::move(spans), layout)) {
            ++number;
            begin_profile("evented", number == 1 ? name : fmt::format("{} ({})", name, number), "nanoseconds",
                          trace_.full_window().length());
            json_.key("events");
            json_.begin_array();
            std::vector<PlacedSpan> open;
            auto close = [&](TimeNs until) {
                for (; !open.empty() && open.back().end <= until; open.pop_back())
                    event("C", open.back().table, open.back().end);
            };
            for (const PlacedSpan& span : lane) {
                close(span.start);
                event("O", span.table, span.start);
                open.push_back(span);
            }
            close(trace_.full_window().end);
            json_.end_array();
            json_.end_object();
        }
    }

    template <class Key, class Table, class KeyOf>
    void gather(std::map<Key, std::vector<PlacedSpan>>& spans, const Table& table, const Column<StringId>& names,
                KeyOf&& key) {
        for (Row row = 0; row < table.rows; ++row)
            spans[key(row)].push_back({table.start[row], table.start[row] + table.dur[row],
                                       static_cast<std::uint32_t>(frame(named(names, row, "unnamed"))), row});
    }

    void write_threads() {
        std::map<StringId, std::vector<PlacedSpan>> spans;
        auto add = [&](const auto& table) {
            gather(spans, table, table.name, [&](Row row) { return table.thread.value_or(row, kNoString); });
        };
        add(tables_.range);
        add(tables_.python_call);
        add(tables_.op);
        add(tables_.api_call);
        add(tables_.os_call);
        for (auto& [thread, mine] : spans)
            write_timelines(fmt::format("thread {}", thread == kNoString ? "unknown" : trace_.text(thread)),
                            std::move(mine), Layout::nested);
    }

    void write_streams() {
        using Stream = std::tuple<std::int32_t, StringId, std::int64_t>;
        std::map<Stream, std::vector<PlacedSpan>> spans;
        auto add = [&](const auto& table, const Column<StringId>& names) {
            gather(spans, table, names, [&](Row row) {
                return Stream{table.device.value_or(row, 0), table.process.value_or(row, kNoString),
                              table.stream.value_or(row, 0)};
            });
        };
        add(tables_.kernel, tables_.kernel.name);
        add(tables_.memcpy, tables_.memcpy.kind);
        add(tables_.memset, tables_.memset.kind);
        for (auto& [stream, mine] : spans)
            write_timelines(fmt::format("GPU {} stream {}{}", std::get<0>(stream), std::get<2>(stream),
                                        std::get<1>(stream) == kNoString
                                            ? ""
                                            : fmt::format(", process {}", trace_.text(std::get<1>(stream)))),
                            std::move(mine), Layout::flat);
    }

    void write_stacks() {
        const StackSampleTable& s = tables_.stack_sample;
        std::map<StringId, std::vector<Row>> threads;
        for (Row row = 0; row < s.rows; ++row)
            if (s.stack.has(row)) threads[s.thread.value_or(row, kNoString)].push_back(row);
        for (const auto& [thread, rows] : threads) {
            begin_profile("sampled",
                          fmt::format("Python, thread {}", thread == kNoString ? "unknown" : trace_.text(thread)),
                          "none", std::ssize(rows));
            json_.key("samples");
            json_.begin_array();
            for (Row row : rows) {
                json_.begin_array();
                for (std::string_view rest = trace_.text(s.stack[row]); !rest.empty();) {
                    std::size_t cut = rest.find(';');
                    json_.integer(frame(rest.substr(0, cut)));
                    rest = cut == std::string_view::npos ? std::string_view() : rest.substr(cut + 1);
                }
                json_.end_array();
            }
            json_.end_array();
            json_.key("weights");
            json_.begin_array();
            for (std::size_t i = 0; i < rows.size(); ++i) json_.integer(1);
            json_.end_array();
            json_.end_object();
        }
    }

    const Trace& trace_;
    const Tables& tables_;
    JsonWriter& json_;
    std::unordered_map<std::string, std::int64_t> frames_;
    std::vector<std::string_view> names_;
};

}  // namespace

Status export_speedscope(const Trace& trace, Sink& sink) {
    JsonWriter json(sink);
    SpeedscopeExport(trace, json).write();
    sink.write("\n");
    return {};
}

}  // namespace gpuprof::exporters
