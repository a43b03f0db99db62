#include "analyze/facts/kernels/measured_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/facts/name_groups.h"
#include "core/base/text/function_name.h"
#include "core/schema/counter_units.h"

namespace gpuprof::inline facts {
namespace {

struct Collected {
    struct Value {
        KernelMetric metric;
        std::size_t rank;  // of the name that it was found by
        double value;
    };
    std::vector<Value> values;
    std::int64_t counters = 0;

    // Null if it was not collected.
    double* find(KernelMetric metric) {
        auto found =
            std::find_if(values.begin(), values.end(), [&](const Value& each) { return each.metric == metric; });
        return found == values.end() ? nullptr : &found->value;
    }

    // Nsight Compute scales a column of its raw page to fit the largest value and keeps six decimals: 0.000004 Tbyte/s has
    // lost its digits. Sectors are not scaled.
    void restore_small_rate() {
        constexpr double kRounded = 1e9;  // byte/s: three digits of six decimals of Tbyte/s
        double *rate = find(KernelMetric::dram_rate), *read = find(KernelMetric::dram_sectors_read),
               *written = find(KernelMetric::dram_sectors_written), *ns = find(KernelMetric::duration);
        if (rate != nullptr && *rate < kRounded && read != nullptr && written != nullptr && ns != nullptr && *ns > 0)
            *rate = 32 * (*read + *written) / *ns * 1e9;
    }

    std::vector<std::pair<KernelMetric, double>> best() {
        std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
            return std::pair(a.metric, a.rank) < std::pair(b.metric, b.rank);
        });
        std::vector<std::pair<KernelMetric, double>> result;
        for (const Value& each : values)
            if (result.empty() || result.back().first != each.metric) result.emplace_back(each.metric, each.value);
        return result;
    }
};

// A name and unit of counters, looked up once.
struct Known {
    std::vector<KnownMetric> metrics;
    double scale = 1;
};

std::unordered_map<std::int64_t, Collected> collect(const Trace& trace) {
    const KernelCounterTable& table = trace.tables().kernel_counter;
    std::unordered_map<std::uint64_t, Known> names;
    std::unordered_map<std::int64_t, Collected> collected;
    for (Row row = 0; row < table.rows; ++row) {
        Collected& of = collected[table.launch[row]];
        ++of.counters;
        StringId name = table.metric.value_or(row, kNoString), unit = table.unit.value_or(row, kNoString);
        if (!table.value.has(row) || name == kNoString) continue;
        auto [found, first] = names.try_emplace((static_cast<std::uint64_t>(index_of(name)) << 32) |
                                                (unit == kNoString ? 0xFFFFFFFF : index_of(unit)));
        if (first) {
            // Nothing is computed from a value of an unknown unit; the importer has counted it.
            if (std::optional<BaseUnit> base = base_unit_of(trace.text(unit)))
                found->second = {find_kernel_metrics(trace.text(name), base->name), base->factor};
        }
        for (KnownMetric known : found->second.metrics)
            of.values.push_back({known.metric, known.rank, table.value[row] * found->second.scale});
    }
    return collected;
}

// What the launch record says, where no counter does.
void add_launch_record(const ProfiledKernelTable& table, Row row, Collected& collected) {
    auto add = [&](KernelMetric metric, auto value) {
        if (value) collected.values.push_back({metric, SIZE_MAX, static_cast<double>(*value)});
    };
    auto product = [&](const auto& x, const auto& y, const auto& z) -> std::optional<std::int64_t> {
        if (!x.has(row) || !y.has(row) || !z.has(row)) return std::nullopt;
        return std::int64_t{x[row]} * y[row] * z[row];
    };
    add(KernelMetric::duration, table.dur.get(row));
    add(KernelMetric::grid_size, product(table.grid_x, table.grid_y, table.grid_z));
    add(KernelMetric::block_size, product(table.block_x, table.block_y, table.block_z));
    add(KernelMetric::registers, table.registers.get(row));
    add(KernelMetric::cluster_size, table.cluster_size.get(row));
}

// Where a set of counters has the bytes only: their rate, of the bandwidth of a known device.
void add_dram_share(const Trace& trace, std::int32_t device, Collected& collected) {
    const double *read = collected.find(KernelMetric::dram_bytes_read),
                 *written = collected.find(KernelMetric::dram_bytes_written),
                 *ns = collected.find(KernelMetric::duration);
    if (collected.find(KernelMetric::dram_pct) != nullptr || read == nullptr || written == nullptr || ns == nullptr ||
        !(*ns > 0))
        return;
    std::optional<DevicePeaks> peaks = peaks_of(trace, device);
    if (!peaks || !peaks->memory_gb_per_s || peaks->basis == PeakBasis::capability_only) return;
    double pct = 100 * (*read + *written) / *ns / *peaks->memory_gb_per_s;
    collected.values.push_back({KernelMetric::dram_pct, SIZE_MAX, pct});
}

// Samples of the function, over all its launches, where the launch has none of its own.
void add_samples(const SourceLines& lines, StringId function, Collected& collected) {
    bool own = std::any_of(collected.values.begin(), collected.values.end(),
                           [](const Collected::Value& each) { return each.metric == KernelMetric::samples; });
    if (own || function == kNoString) return;
    for (auto [metric, value] : samples_as_counters(lines, function))
        collected.values.push_back({metric, SIZE_MAX, value});
}

std::vector<MeasuredGroup> group(const Facts& facts, const std::vector<MeasuredKernel>& launches) {
    const ProfiledKernelTable& table = facts.trace().tables().profiled_kernel;
    std::vector<MeasuredGroup> groups;
    std::map<std::pair<StringId, GridAndBlock>, std::size_t> known;
    std::map<StringId, double> by_name;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        StringId name = table.name.value_or(launches[i].row, kNoString);
        auto [found, first] = known.try_emplace({name, grid_and_block(table, launches[i].row)}, groups.size());
        if (first) groups.push_back({.name = name, .longest = i});
        MeasuredGroup& group = groups[found->second];
        group.launches.push_back(i);
        double duration = launches[i].duration_ns().value_or(0);
        group.total_ns += duration;
        by_name[name] += duration;
        if (duration > launches[group.longest].duration_ns().value_or(0)) group.longest = i;
    }
    std::stable_sort(groups.begin(), groups.end(), [&](const MeasuredGroup& a, const MeasuredGroup& b) {
        return std::tuple(-by_name[a.name], a.name, -a.total_ns) < std::tuple(-by_name[b.name], b.name, -b.total_ns);
    });
    return groups;
}

CounterMatch match_of(const Trace& trace, const MeasuredKernels& measured) {
    std::vector<MeasuredShape> shapes;
    for (const MeasuredGroup& group : measured.groups)
        shapes.push_back({group.name, measured.launches[group.longest].row});
    return match_counters(trace, shapes);
}

// The handles of the timeline's kernels; names that it lacks get the numbers after them.
void set_handles(const Facts& facts, MeasuredKernels& measured) {
    const KernelNames& timeline = facts.get<KernelNames>();
    std::size_t next = timeline.order.size();
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        MeasuredGroup& group = measured.groups[i];
        auto known = std::find_if(timeline.order.begin(), timeline.order.end(), [&](std::uint32_t each) {
            return timeline.groups.name(each) == measured.match.names[i];
        });
        bool found = measured.match.names[i] != kNoString && known != timeline.order.end();
        bool again = i > 0 && group.name == measured.groups[i - 1].name;
        if (found)
            group.handle = fmt::format("k-{}", known - timeline.order.begin() + 1);
        else
            group.handle = again ? measured.groups[i - 1].handle : fmt::format("k-{}", ++next);
    }
}

}  // namespace

std::optional<double> MeasuredKernel::operator[](KernelMetric metric) const {
    auto found = std::lower_bound(values_.begin(), values_.end(), metric,
                                  [](const auto& value, KernelMetric wanted) { return value.first < wanted; });
    if (found == values_.end() || found->first != metric) return std::nullopt;
    return found->second;
}

MeasuredKernels MeasuredKernels::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    const DeviceTable& devices = trace.tables().device;
    auto collected = collect(trace);
    MeasuredKernels result;
    for (Row row = 0; row < table.rows; ++row) {
        if (facts.options().device >= 0 && table.device.value_or(row, -1) != facts.options().device) continue;
        Collected& of = collected[table.launch[row]];
        add_launch_record(table, row, of);
        add_samples(facts.get<SourceLines>(), table.name.value_or(row, kNoString), of);
        of.restore_small_rate();
        add_dram_share(trace, table.device.value_or(row, -1), of);
        MeasuredKernel& kernel = result.launches.emplace_back(row, of.best());
        kernel.counters = of.counters;
        kernel.cc_major = table.cc_major.get(row);
        kernel.cc_minor = table.cc_minor.get(row);
        kernel.shared_bytes = table.shared_bytes.get(row);
        for (Row device = 0; device < devices.rows; ++device)
            if (devices.device[device] == table.device.value_or(row, -1)) {
                kernel.device_name = trace.text(devices.name.value_or(device, kNoString));
                kernel.sms = devices.sms.get(device);
            }
    }
    result.groups = group(facts, result.launches);
    result.match = match_of(trace, result);
    set_handles(facts, result);
    return result;
}

const MeasuredGroup* MeasuredKernels::find(const Facts& facts, std::string_view selector) const {
    const Trace& trace = facts.trace();
    auto where = [&](auto test) -> const MeasuredGroup* {
        auto found = std::find_if(groups.begin(), groups.end(), test);
        return found == groups.end() ? nullptr : &*found;
    };
    if (selector.empty()) return groups.empty() ? nullptr : &groups.front();
    if (const MeasuredGroup* found = where([&](const MeasuredGroup& each) { return each.handle == selector; }))
        return found;
    if (const MeasuredGroup* found =
            where([&](const MeasuredGroup& each) { return trace.text(each.name) == selector; }))
        return found;
    if (const MeasuredGroup* found =
            where([&](const MeasuredGroup& each) { return short_name(trace.text(each.name)) == selector; }))
        return found;
    return where(
        [&](const MeasuredGroup& each) { return trace.text(each.name).find(selector) != std::string_view::npos; });
}

bool is_selected(const Facts& facts, std::string_view name) {
    std::string_view selector = facts.options().kernel;
    if (selector.empty() || name.find(selector) != std::string_view::npos) return true;
    const Trace& trace = facts.trace();
    std::string function = short_name(name);
    for (const MeasuredGroup& group : facts.get<MeasuredKernels>().groups)
        if (group.handle == selector && short_name(trace.text(group.name)) == function) return true;
    if (!selector.starts_with("k-")) return false;
    std::size_t number = 0;
    for (char c : selector.substr(2)) {
        if (c < '0' || c > '9' || number > 1'000'000'000) return false;
        number = 10 * number + static_cast<std::size_t>(c - '0');
    }
    StringId timeline = facts.get<KernelNames>().with_handle(number);
    return timeline != kNoString && short_name(trace.text(timeline)) == function;
}

}  // namespace gpuprof::facts
