// See the header for what belongs to whom.
#include "compare/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/stat.h"
#include "core/analyze/tables/cells.h"
#include "core/base/parallel.h"
#include "core/base/readable.h"

namespace gpuprof::compare {
namespace {

// One run's parts: kernels by pair, everything else by kind and name. Sums over all steps and devices.
struct Parts {
    std::vector<WideSum> kernels;
    std::map<std::pair<std::string_view, std::string>, WideSum> others;
    WideSum all;  // devices times window
};

// Goes through the rows of a table in the order of their starts, and gives each what it adds to those before it.
template <class Table, class Take>
void each_added(const Table& table, std::int64_t only, Take&& take) {
    std::map<std::int32_t, TimeNs> until;
    TimeNs* last = nullptr;
    std::int32_t last_device = 0;
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only >= 0 && device != only) continue;
        TimeNs start = table.start[row], end = start + table.dur[row];
        if (last == nullptr || device != last_device) last = &until.try_emplace(device, start).first->second;
        last_device = device;
        Interval added{std::max(start, *last), end};
        *last = std::max(*last, end);
        if (added.length() > 0) take(row, device, added);
    }
}

const DeviceActivity& activity_of(const Facts& facts, std::int32_t device) {
    static const DeviceActivity kNone;
    for (const DeviceActivity& each : facts.get<Activity>().devices)
        if (each.device == device) return each;
    return kNone;
}

std::string text_of(const Trace& trace, const Column<StringId>& column, Row row) {
    return column.has(row) ? std::string(trace.text(column[row])) : "unknown";
}

Parts parts_of(const Run& run, const KernelNames& names, const std::vector<std::uint32_t>& pair_of, std::size_t pairs) {
    const Trace& trace = *run.trace;
    const Facts& facts = *run.facts;
    std::int64_t only = facts.options().device;
    Parts parts;
    parts.kernels.resize(pairs);
    each_added(trace.kernel(), only, [&](Row row, std::int32_t, Interval added) {
        parts.kernels[pair_of[names.groups.of(row)]].add(added.length());
    });
    each_added(trace.memcpy(), only, [&](Row row, std::int32_t device, Interval added) {
        DurNs hidden = length_within(activity_of(facts, device).kernel, added);
        parts.others[{"memcpy", text_of(trace, trace.memcpy().kind, row)}].add(added.length() - hidden);
    });
    std::map<std::int32_t, IntervalSet> others;
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        others[device.device] = unite(device.kernel, device.memcpy);
    each_added(trace.memset(), only, [&](Row row, std::int32_t device, Interval added) {
        DurNs hidden = length_within(others[device], added);
        parts.others[{"memset", text_of(trace, trace.memset().kind, row)}].add(added.length() - hidden);
    });
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices)
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
            parts.others[{"idle", std::string(name_of(static_cast<IdleCause>(cause)))}].add(device.causes[cause].total);
    for (std::size_t i = 0; i < facts.get<Activity>().devices.size(); ++i) parts.all.add(trace.window().length());
    return parts;
}

// `sums` divided by n and rounded so that they add up to the rounded sum of all.
std::vector<DurNs> shared_out(const std::vector<WideSum>& sums, std::int64_t n) {
    std::vector<DurNs> each(sums.size());
    std::vector<std::pair<std::int64_t, std::size_t>> rest;
    std::int64_t left = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        std::int64_t sum = sums[i].value().value_or(0);
        each[i] = sum / n;
        left += sum % n;
        rest.emplace_back(-(sum % n), i);
    }
    std::sort(rest.begin(), rest.end());
    for (std::size_t i = 0; i < static_cast<std::size_t>(left / n); ++i) ++each[rest[i].second];
    return each;
}

constexpr ResultColumn kColumns[] = {
    {"kind", CellType::text, Unit::none, "kernel, memcpy, memset or idle."},
    {"name", CellType::text, Unit::none, "Of the kernel in NEW (in BASE when it vanished), kind of copy, cause."},
    {"base_ns", CellType::integer, Unit::ns, "Device time in BASE, per step."},
    {"new_ns", CellType::integer, Unit::ns, "Device time in NEW, per step."},
    {"difference_ns", CellType::integer, Unit::ns, "new_ns - base_ns; the rows add up to the difference of the whole."},
    {"share_pct", CellType::real, Unit::percent, "difference_ns of the difference of the whole; negative against it."},
};

}  // namespace

Attribution attribute(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names,
                      const KernelPairs& pairs) {
    Parts before, after;
    run_parallel(2, 2, [&](std::size_t side, unsigned) {
        if (side == 0)
            before = parts_of(base, base_names, pairs.of_base, pairs.pairs.size());
        else
            after = parts_of(next, new_names, pairs.of_new, pairs.pairs.size());
    });
    Attribution found;
    std::vector<WideSum> base_sums = before.kernels, new_sums = after.kernels;
    for (const KernelPair& pair : pairs.pairs)
        found.parts.push_back({"kernel", std::string(pair.next != KernelPair::kNobody ? new_names.names[pair.next]
                                                                                      : base_names.names[pair.base])});
    for (const auto& [key, sum] : after.others) before.others.try_emplace(key);
    for (const auto& [key, sum] : before.others) {
        found.parts.push_back({key.first, key.second});
        base_sums.push_back(sum);
        new_sums.push_back(after.others[key]);
    }
    std::vector<DurNs> base_ns = shared_out(base_sums, base.parts()), new_ns = shared_out(new_sums, next.parts());
    for (std::size_t i = 0; i < found.parts.size(); ++i) {
        found.parts[i].base_ns = base_ns[i], found.parts[i].new_ns = new_ns[i];
        found.base_ns += base_ns[i], found.new_ns += new_ns[i];
    }
    std::erase_if(found.parts, [](const Contribution& part) { return part.base_ns == 0 && part.new_ns == 0; });
    std::stable_sort(found.parts.begin(), found.parts.end(), [](const Contribution& a, const Contribution& b) {
        DurNs differs = std::abs(a.difference()), other = std::abs(b.difference());
        return differs != other ? differs > other : std::max(a.base_ns, a.new_ns) > std::max(b.base_ns, b.new_ns);
    });
    return found;
}

ResultTable attribution_table(const Attribution& found) {
    ResultTable table("attribution", kColumns);
    table.handle_prefix = "a";
    for (const Contribution& part : found.parts)
        table.add_row({
            Cell{part.kind},
            Cell{std::string_view(part.name)},
            integer(part.base_ns),
            integer(part.new_ns),
            integer(part.difference()),
            percent(part.difference(), found.difference()),
        });
    table.notes.push_back(fmt::format("{} -> {} of device time per step, {:+} ns: the sum of all rows.",
                                      readable_duration(static_cast<double>(found.base_ns)),
                                      readable_duration(static_cast<double>(found.new_ns)), found.difference()));
    return table;
}

std::string attribution_line(const Attribution& found) {
    constexpr std::size_t kShown = 3, kName = 60;
    auto signed_duration = [](DurNs ns) {
        return fmt::format("{}{}", ns < 0 ? "-" : "+", readable_duration(std::abs(static_cast<double>(ns))));
    };
    if (found.difference() == 0 && (found.parts.empty() || found.parts.front().difference() == 0))
        return "no part of the device time differs";
    std::string line = fmt::format("device time per step {}:", signed_duration(found.difference()));
    for (std::size_t i = 0; i < std::min(kShown, found.parts.size()); ++i) {
        const Contribution& part = found.parts[i];
        if (part.difference() == 0) break;
        std::string name = part.name.size() <= kName ? part.name : stem_of(part.name);
        if (name.size() > kName) name = name.substr(0, kName) + "...";
        line += fmt::format("{} {} {} {}", i == 0 ? "" : ",", signed_duration(part.difference()), part.kind, name);
    }
    return line;
}

}  // namespace gpuprof::compare
