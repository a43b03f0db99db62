// The Chrome exporter: a trace in Chrome's trace viewer JSON as PyTorch's Kineto writes it, for Perfetto,
// chrome://tracing and related scripts, and readable by our own Kineto importer. The format has no place for losses,
// clock pairs, the process of a device op (it follows from the submitting call) and ranks of more than one process;
// these are omitted, and so are counters of kernels, which need not have times.
#include <charconv>
#include <set>
#include <string>

#include "core/base/ids.h"
#include "core/base/text/json_writer.h"
#include "io/exporters/chrome/events.h"
#include "io/exporters/exporter.h"

namespace gpuprof::inline exporters {
namespace {

// The start of the window's second, so that times relative to it have few digits.
TimeNs base_of(const Trace& trace) {
    TimeNs start = trace.window().start;
    return start - ((start % kSecond) + kSecond) % kSecond;
}

template <class T>
void number(JsonWriter& json, std::string_view key, const Column<T>& column, Row row) {
    if (column.has(row)) json.member(key, static_cast<std::int64_t>(column[row]));
}

void write_devices(const Trace& trace, JsonWriter& json) {
    const DeviceTable& device = trace.tables().device;
    json.key("deviceProperties");
    json.begin_array();
    for (Row row = 0; row < device.rows; ++row) {
        json.begin_object();
        number(json, "id", device.device, row);
        if (device.name.has(row)) json.member("name", trace.text(device.name[row]));
        if (device.uuid.has(row)) json.member("uuid", trace.text(device.uuid[row]));
        number(json, "totalGlobalMem", device.memory_bytes, row);
        number(json, "computeMajor", device.cc_major, row);
        number(json, "computeMinor", device.cc_minor, row);
        number(json, "maxThreadsPerBlock", device.max_threads_per_block, row);
        number(json, "maxThreadsPerMultiprocessor", device.max_threads_per_sm, row);
        number(json, "regsPerBlock", device.registers_per_block, row);
        number(json, "regsPerMultiprocessor", device.registers_per_sm, row);
        number(json, "warpSize", device.warp_size, row);
        number(json, "sharedMemPerBlock", device.shared_bytes_per_block, row);
        number(json, "sharedMemPerMultiprocessor", device.shared_bytes_per_sm, row);
        number(json, "sharedMemPerBlockOptin", device.shared_bytes_per_block_optin, row);
        number(json, "numSms", device.sms, row);
        json.end_object();
    }
    json.end_array();
}

void write_job(const Trace& trace, JsonWriter& json) {
    const ProcessTable& process = trace.tables().process;
    for (Row row = 0; row < process.rows; ++row) {
        if (!process.rank.has(row)) continue;
        json.key("distributedInfo");
        json.begin_object();
        number(json, "rank", process.rank, row);
        number(json, "world_size", process.world_size, row);
        json.end_object();
        return;
    }
}

// The host of a recording of one machine; Kineto writes the same key.
void write_host(const Trace& trace, JsonWriter& json) {
    const ProcessTable& process = trace.tables().process;
    std::set<StringId> hosts;
    for (Row row = 0; row < process.rows; ++row)
        if (process.host.has(row)) hosts.insert(process.host[row]);
    if (hosts.size() == 1) json.member("host_name", trace.text(*hosts.begin()));
}

bool reserved(std::string_view key) {
    for (std::string_view taken : {"schemaVersion", "baseTimeNanoseconds", "deviceProperties", "traceEvents",
                                   "distributedInfo", "host_name", "profiler_span_start_ns", "profiler_span_dur_ns"})
        if (key == taken) return true;
    return key.starts_with("distributedInfo.");
}

// Facts of the header, unchanged; integers are written as numbers.
void write_facts(const Trace& trace, JsonWriter& json) {
    const MetaTable& meta = trace.tables().meta;
    std::set<StringId> written;  // joined recordings may repeat a fact
    for (Row row = 0; row < meta.rows; ++row) {
        if (!meta.key.has(row) || !meta.value.has(row) || reserved(trace.text(meta.key[row]))) continue;
        if (!written.insert(meta.key[row]).second) continue;
        std::string_view value = trace.text(meta.value[row]);
        std::int64_t whole = 0;
        auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), whole);
        json.key(trace.text(meta.key[row]));
        if (error == std::errc{} && end == value.data() + value.size() && std::to_string(whole) == value)
            json.integer(whole);
        else
            json.text(value);
    }
}

}  // namespace

Status export_chrome(const Trace& trace, Sink& sink) {
    JsonWriter json(sink, 2);
    TimeNs base = base_of(trace);
    json.begin_object();
    json.member("schemaVersion", std::int64_t{1});
    json.member("baseTimeNanoseconds", base);
    write_devices(trace, json);
    write_job(trace, json);
    write_host(trace, json);
    write_facts(trace, json);
    json.key("traceEvents");
    json.begin_array();
    ChromeEvents(trace, base, json).write();
    json.end_array();
    json.end_object();
    return {};
}

}  // namespace gpuprof::exporters
