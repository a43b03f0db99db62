#include "compare/device_time.h"

#include <algorithm>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/gaps.h"

namespace gpuprof::compare {
namespace {

Interval cut(Interval interval, Interval stretch) {
    return {std::max(interval.start, stretch.start), std::min(interval.end, stretch.end)};
}

// Visits the rows of a table in the order of their starts, and credits each with the time in the interval that earlier
// rows do not cover.
template <class Table, class Take>
void each_added(const Table& table, std::int64_t only, Interval stretch, Take&& take) {
    std::map<std::int32_t, TimeNs> until;
    TimeNs* last = nullptr;
    std::int32_t last_device = 0;
    for (Row row = 0; row < table.rows && table.start[row] < stretch.end; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only >= 0 && device != only) continue;
        TimeNs start = table.start[row], end = start + table.dur[row];
        if (end <= stretch.start) continue;
        if (last == nullptr || device != last_device) last = &until.try_emplace(device, start).first->second;
        last_device = device;
        Interval added = cut({std::max(start, *last), end}, stretch);
        *last = std::max(*last, end);
        if (added.length() > 0) take(row, device, added);
    }
}

using SetOf = std::map<std::int32_t, IntervalSet>;

std::string text_of(const Trace& trace, const Column<StringId>& column, Row row) {
    return column.has(row) ? std::string(trace.text(column[row])) : "unknown";
}

}  // namespace

DeviceTime device_time(const Facts& facts, Interval stretch) {
    const Trace& trace = facts.trace();
    std::int64_t only = facts.options().device;
    DeviceTime found;
    SetOf kernels, kernels_and_copies;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        if (length_within(device.busy, stretch) == 0) continue;
        ++found.devices;
        kernels[device.device] = device.kernel();
        kernels_and_copies[device.device] = unite(device.kernel(), device.memcpy);
    }
    std::vector<WideSum> by_name(trace.strings().size() + 1);  // the last is "no name"
    each_added(trace.kernel(), only, stretch, [&](Row row, std::int32_t, Interval added) {
        StringId name = trace.kernel().name.value_or(row, kNoString);
        by_name[name == kNoString ? by_name.size() - 1 : index_of(name)].add(added.length());
    });
    for (std::size_t i = 0; i < by_name.size(); ++i)
        if (!(by_name[i] == WideSum{}))
            found.kernels.emplace_back(i + 1 == by_name.size() ? kNoString : StringId{static_cast<std::uint32_t>(i)},
                                       by_name[i]);
    auto add_hidden = [&](std::string_view kind, const auto& table, const SetOf& hiding) {
        each_added(table, only, stretch, [&](Row row, std::int32_t device, Interval added) {
            DurNs hidden = length_within(hiding.at(device), added);
            found.others[{kind, text_of(trace, table.kind, row)}].add(added.length() - hidden);
        });
    };
    add_hidden("memcpy", trace.memcpy(), kernels);
    add_hidden("memset", trace.memset(), kernels_and_copies);
    for (const IdleSpan& span : facts.get<IdleSpans>().spans) {
        if (!kernels.contains(span.device)) continue;
        Interval inside = cut({span.start, span.start + span.dur}, stretch);
        if (inside.length() > 0) found.others[{"idle", std::string(name_of(span.cause))}].add(inside.length());
    }
    return found;
}

}  // namespace gpuprof::compare
