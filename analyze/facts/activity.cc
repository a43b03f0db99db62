#include "analyze/facts/activity.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/collective_name.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

// Ops of one device during collection. Tables are sorted by start, so unions grow as rows are read.
struct DeviceSpans {
    IntervalSet memcpy, memset, comm, compute;
    std::size_t kernels = 0, memcpys = 0, memsets = 0;
    std::set<std::pair<std::int32_t, std::int64_t>> streams;  // context, stream
};

class ActivityBuilder {
public:
    explicit ActivityBuilder(std::int64_t only_device) : only_device_(only_device) {}

    // Calls visit(Gathered&, Interval, row) for every op of `table` on a wanted device.
    template <class Table, class Visit>
    void each(const Table& table, Visit&& visit) {
        for (Row row = 0; row < table.rows; ++row) {
            std::int32_t device = table.device.value_or(row, -1);
            if (only_device_ >= 0 && device != only_device_) continue;
            DeviceSpans& to = at(device);
            std::pair stream{table.context.value_or(row, -1), table.stream.value_or(row, -1)};
            if (stream != last_stream_ || &to != last_stream_of_) to.streams.insert(stream);
            last_stream_ = stream;
            last_stream_of_ = &to;
            visit(to, Interval{table.start[row], table.start[row] + table.dur[row]}, row);
        }
    }
    // Reserves space in `set` of each device for all rows of the table, the upper bound of a union. Reallocating
    // hundreds of megabytes during growth would cost more than building the union.
    template <class Table>
    void reserve(const Table& table, IntervalSet DeviceSpans::*set) {
        if (table.rows > 0 && table.device.repeats(table.device[0])) {
            if (only_device_ < 0 || table.device[0] == only_device_) (at(table.device[0]).*set).reserve(table.rows);
            return;
        }
        std::map<std::int32_t, std::size_t> counts;
        std::pair<const std::int32_t, std::size_t>* last = nullptr;
        for (Row row = 0; row < table.rows; ++row) {
            std::int32_t device = table.device.value_or(row, -1);
            if (last == nullptr || last->first != device) last = &*counts.try_emplace(device, 0).first;
            ++last->second;
        }
        for (const auto& [device, count] : counts)
            if (only_device_ < 0 || device == only_device_) (at(device).*set).reserve(count);
    }
    std::map<std::int32_t, DeviceSpans> devices;

private:
    DeviceSpans& at(std::int32_t device) {
        if (last_ == nullptr || device != last_device_) {
            last_ = &devices[device];
            last_device_ = device;
        }
        return *last_;
    }
    std::int64_t only_device_;
    std::int32_t last_device_ = 0;
    DeviceSpans* last_ = nullptr;
    std::pair<std::int32_t, std::int64_t> last_stream_;
    const DeviceSpans* last_stream_of_ = nullptr;
};

}  // namespace

bool is_collective_kernel(std::string_view name) {
    auto begins = [name](std::string_view prefix) {
        return name.size() >= prefix.size() &&
               std::equal(prefix.begin(), prefix.end(), name.begin(), [](char a, char b) { return a == to_lower(b); });
    };
    return begins("nccl") || begins("rccl") || parse_collective(name).has_value();
}

Activity Activity::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::vector<signed char> collective(trace.strings().size(), -1);  // by kernel name
    const auto& names = trace.kernel().name;
    auto is_collective = [&](StringId name) {
        signed char& known = collective[index_of(name)];
        if (known < 0) known = is_collective_kernel(trace.text(name));
        return known != 0;
    };
    ActivityBuilder gathering(facts.options().device);
    gathering.reserve(trace.kernel(), &DeviceSpans::compute);
    gathering.each(trace.kernel(), [&](DeviceSpans& to, Interval span, Row row) {
        bool is_comm = names.has(row) && is_collective(names[row]);
        add_merged(is_comm ? to.comm : to.compute, span);
        ++to.kernels;
    });
    gathering.each(trace.memcpy(), [](DeviceSpans& to, Interval span, Row) {
        add_merged(to.memcpy, span);
        ++to.memcpys;
    });
    gathering.each(trace.memset(), [](DeviceSpans& to, Interval span, Row) {
        add_merged(to.memset, span);
        ++to.memsets;
    });

    Activity result;
    for (auto& [device, ops] : gathering.devices) {
        DeviceActivity& to = result.devices.emplace_back();
        to.device = device;
        to.kernels = ops.kernels;
        to.memcpys = ops.memcpys;
        to.memsets = ops.memsets;
        to.streams = ops.streams.size();
        to.memcpy = std::move(ops.memcpy);
        to.memset = std::move(ops.memset);
        to.comm = std::move(ops.comm);
        to.only_compute = to.comm.empty() && to.memcpy.empty() && to.memset.empty();
        (to.only_compute ? to.busy : to.own_compute) = std::move(ops.compute);
        if (!to.comm.empty()) to.comm_or_compute = unite(to.comm, to.compute());
        if (!to.only_compute) to.busy = unite(to.kernel(), unite(to.memcpy, to.memset));
    }
    return result;
}

}  // namespace gpuprof::facts
