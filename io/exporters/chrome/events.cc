#include "io/exporters/chrome/events.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <string>

#include "io/exporters/chrome/json_check.h"

namespace gpuprof::inline exporters {
namespace {

// Far above any system's ids, to avoid collisions.
constexpr std::int64_t kMadeUp = std::int64_t{1} << 32;

}  // namespace

ChromeIdentity::ChromeIdentity(const Trace& trace) {
    const ProcessTable& process = trace.tables().process;
    std::set<std::int64_t> pids;
    for (Row row = 0; row < process.rows; ++row) {
        std::int64_t pid = process.pid.value_or(row, -1);
        bool free = pid >= 0 && pids.insert(pid).second;
        processes_[process.key[row]] = free ? pid : kMadeUp + row;
    }
    const ThreadTable& thread = trace.tables().thread;
    std::set<std::pair<std::int64_t, std::int64_t>> tids;
    for (Row row = 0; row < thread.rows; ++row) {
        std::int64_t pid = thread.process.has(row) ? this->process(thread.process[row]) : -1;
        bool free = thread.tid.has(row) && tids.insert({pid, thread.tid[row]}).second;
        threads_[thread.key[row]] = {pid, free ? thread.tid[row] : kMadeUp + row};
    }
}

std::int64_t ChromeIdentity::process(StringId key) const {
    auto found = processes_.find(key);
    return found == processes_.end() ? -1 : found->second;
}

HostId ChromeIdentity::thread(StringId key) const {
    auto found = threads_.find(key);
    return found == threads_.end() ? HostId{-1, 0} : found->second;
}

ChromeEvents::ChromeEvents(const Trace& trace, TimeNs base, JsonWriter& json)
    : trace_(trace), tables_(trace.tables()), base_(base), json_(json), ids_(trace) {
    const CollectiveTable& collective = tables_.collective;
    for (Row row = 0; row < collective.rows; ++row) {
        if (!collective.name.has(row)) continue;
        if (collective.correlation.has(row))
            device_collectives_.emplace(collective.correlation[row], row);
        else if (collective.external_id.has(row))
            host_collectives_.emplace(collective.external_id[row], row);
    }
}

void ChromeEvents::write() {
    names();
    profiler_span();
    ops();
    ranges();
    python_calls();
    overheads();
    host_calls();
    memory_events();
    flows();
    kernels();
    memcpys();
    memsets();
    syncs();
    device_ranges();
}

void ChromeEvents::open(const Head& head) {
    json_.begin_object();
    json_.member("ph", head.phase);
    if (!head.category.empty()) json_.member("cat", head.category);
    json_.member("name", head.name);
    json_.member("pid", head.pid);
    json_.member("tid", head.tid);
    time("ts", head.time - base_);
    if (head.dur >= 0) time("dur", head.dur);
    json_.key("args");
    json_.begin_object();
}

void ChromeEvents::close() {
    json_.end_object();
    json_.end_object();
}

void ChromeEvents::time(std::string_view key, std::int64_t ns) {
    auto size = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
    json_.key(key);
    json_.raw(fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000));
}

HostId ChromeEvents::host(const Column<StringId>& thread, Row row) const {
    return thread.has(row) ? ids_.thread(thread[row]) : HostId{-1, 0};
}

std::string_view ChromeEvents::text_of(const Column<StringId>& column, Row row, std::string_view otherwise) const {
    return column.has(row) ? trace_.text(column[row]) : otherwise;
}

void ChromeEvents::text(std::string_view key, const Column<StringId>& column, Row row) {
    if (column.has(row)) json_.member(key, trace_.text(column[row]));
}

// A list or an object as JSON, anything else as a string.
void ChromeEvents::json_text(std::string_view key, const Column<StringId>& column, Row row) {
    if (!column.has(row)) return;
    std::string_view value = trace_.text(column[row]);
    bool nested = !value.empty() && (value.front() == '[' || value.front() == '{');
    json_.key(key);
    if (nested && is_json(value))
        json_.raw(value);
    else
        json_.text(value);
}

void ChromeEvents::metadata(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view key,
                            std::string_view value) {
    open({"M", {}, what, pid, tid, trace_.window().start});
    json_.member(key, value);
    close();
}

void ChromeEvents::names() {
    const ProcessTable& process = tables_.process;
    for (Row row = 0; row < process.rows; ++row)
        if (process.name.has(row))
            metadata("process_name", ids_.process(process.key[row]), 0, "name", trace_.text(process.name[row]));
    const ThreadTable& thread = tables_.thread;
    for (Row row = 0; row < thread.rows; ++row) {
        HostId id = ids_.thread(thread.key[row]);
        if (thread.name.has(row))
            metadata("thread_name", id.pid, id.tid, "name",
                     fmt::format("thread {} ({})", id.tid, trace_.text(thread.name[row])));
    }
    std::set<std::pair<std::int32_t, std::int64_t>> streams;
    auto note = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row)
            streams.insert({table.device.value_or(row, 0), table.stream.value_or(row, 0)});
    };
    note(tables_.kernel);
    note(tables_.memcpy);
    note(tables_.memset);
    for (auto [device, stream] : streams) {
        metadata("process_labels", device, 0, "labels", fmt::format("GPU {}", device));
        metadata("thread_name", device, stream, "name", fmt::format("stream {}", stream));
    }
}

// The profiler's own span, which the Kineto importer stores as two facts.
void ChromeEvents::profiler_span() {
    std::string_view start = trace_.meta("profiler_span_start_ns"), dur = trace_.meta("profiler_span_dur_ns");
    if (start.empty() || dur.empty()) return;
    open({"X", "Trace", "PyTorch Profiler (0)", -1, 0, std::strtoll(std::string(start).c_str(), nullptr, 10),
          std::strtoll(std::string(dur).c_str(), nullptr, 10)});
    close();
}

}  // namespace gpuprof::exporters
