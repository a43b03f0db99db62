// See the header. The verdict on a kernel concerns the duration of its launches within these two recordings: at most
// kSamples per side, evenly spaced, because more would not make the interval of a median more reliable.
#include "compare/kernel_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/facts/stat.h"
#include "analyze/tables/cells.h"
#include "compare/change.h"

namespace gpuprof::compare {
namespace {

constexpr std::size_t kSamples = 1000;

struct ShapePart {
    std::string_view name;
    std::vector<std::optional<std::int64_t>> values;  // by group; absent if its launches differ
};

// Time and shape of each kernel of one side.
struct ChangeSide {
    std::vector<std::uint64_t> counts;
    std::vector<WideSum> totals;
    std::vector<std::vector<double>> samples;
    std::vector<ShapePart> shape;
    double parts;

    ChangeSide(const Run& run, const KernelNames& names) : parts(static_cast<double>(run.parts())) {
        const KernelTable& table = run.trace->kernel();
        const NameGroups& groups = names.groups;
        PodVector<std::int64_t> durations = groups.gather([&](Row row) { return table.dur[row]; });
        for (std::size_t group = 0; group < groups.size(); ++group) {
            std::span<std::int64_t> slice = groups.slice(durations, group);
            counts.push_back(slice.size());
            WideSum& total = totals.emplace_back();
            for (std::int64_t dur : slice) total.add(dur);
            std::vector<double>& to = samples.emplace_back();
            std::size_t taken = std::min(kSamples, slice.size());
            for (std::size_t i = 0; i < taken; ++i) to.push_back(static_cast<double>(slice[i * slice.size() / taken]));
        }
        add_shape("grid x", groups, table.grid_x);
        add_shape("grid y", groups, table.grid_y);
        add_shape("grid z", groups, table.grid_z);
        add_shape("block x", groups, table.block_x);
        add_shape("block y", groups, table.block_y);
        add_shape("block z", groups, table.block_z);
        add_shape("registers", groups, table.registers);
        add_shape("shared bytes", groups, table.shared_bytes);
    }
    template <class T>
    void add_shape(std::string_view name, const NameGroups& groups, const Column<T>& column) {
        ShapePart& part = shape.emplace_back(ShapePart{name, {}});
        for (const std::optional<T>& value : groups.shared(column))
            part.values.push_back(value ? std::optional<std::int64_t>(*value) : std::nullopt);
    }
    double per_step(std::uint32_t group) const { return totals[group].real() / parts; }
};

struct ChangeLine {
    KernelPair pair;
    Change change;
    double base_ns = 0, new_ns = 0;  // per step
    double difference() const { return new_ns - base_ns; }
};

// "grid x 64 -> 128, registers 32 -> 40"; a property that varies between launches is not compared.
std::string shape_changes(const ChangeSide& base, const ChangeSide& next, const KernelPair& pair) {
    std::string text;
    for (std::size_t i = 0; i < base.shape.size(); ++i) {
        std::optional<std::int64_t> before = base.shape[i].values[pair.base], after = next.shape[i].values[pair.next];
        if (before && after && *before != *after)
            text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", base.shape[i].name, *before, *after);
    }
    return text;
}

std::vector<ChangeLine> lines_of(const ChangeSide& base, const ChangeSide& next, const KernelPairs& pairs) {
    std::vector<ChangeLine> lines(pairs.pairs.size());
    std::size_t samples = 0;
    for (const auto& side : {&base, &next})
        for (const std::vector<double>& each : side->samples) samples += each.size();
    // A comparison resamples thousands of times, which costs much more than the number of samples suggests.
    for_each_group(lines.size(), samples * 100 + lines.size() * 10'000, [&](std::size_t i) {
        ChangeLine& line = lines[i];
        line.pair = pairs.pairs[i];
        if (line.pair.base != KernelPair::kUnpaired) line.base_ns = base.per_step(line.pair.base);
        if (line.pair.next != KernelPair::kUnpaired) line.new_ns = next.per_step(line.pair.next);
        if (line.pair.base != KernelPair::kUnpaired && line.pair.next != KernelPair::kUnpaired)
            line.change = change_of_samples(base.samples[line.pair.base], next.samples[line.pair.next], "launches");
    });
    std::stable_sort(lines.begin(), lines.end(), [](const ChangeLine& a, const ChangeLine& b) {
        double differs = std::abs(a.difference()), other = std::abs(b.difference());
        return differs != other ? differs > other : std::max(a.base_ns, a.new_ns) > std::max(b.base_ns, b.new_ns);
    });
    return lines;
}

constexpr ResultColumn kKernelChangesColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the kernel in BASE, or in NEW if it is new."},
    {"difference_ns", CellType::real, Unit::ns, "new_ns - base_ns."},
    {"base_ns", CellType::real, Unit::ns, "Sum of its durations in BASE, per step."},
    {"new_ns", CellType::real, Unit::ns, "Sum of its durations in NEW, per step."},
    {"base_count", CellType::real, Unit::count, "Launches per step in BASE."},
    {"new_count", CellType::real, Unit::count, "Launches per step in NEW."},
    {"verdict", CellType::text, Unit::none,
     "faster, slower, same or cannot tell, from the durations of its launches; new; vanished."},
    {"change_pct", CellType::real, Unit::percent, "Change of the median launch duration."},
    {"base_p50_ns", CellType::real, Unit::ns, "Median launch duration in BASE (nearest rank)."},
    {"new_p50_ns", CellType::real, Unit::ns, "Median launch duration in NEW."},
    {"launch_shape", CellType::text, Unit::none, "Changes of grid, block, registers and shared memory."},
    {"match", CellType::text, Unit::none, "How the two kernels were matched: name, template or position."},
    {"ambiguous", CellType::boolean, Unit::none, "Whether another kernel would have matched as well."},
    {"new_name", CellType::text, Unit::none, "Name in NEW, if it differs."},
};

}  // namespace

ResultTable kernels_table(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names,
                          const KernelPairs& pairs) {
    ChangeSide before(base, base_names), after(next, new_names);
    ResultTable table("kernels", kKernelChangesColumns);
    table.handle_prefix = "k";
    for (const ChangeLine& line : lines_of(before, after, pairs)) {
        const KernelPair& pair = line.pair;
        bool old = pair.base != KernelPair::kUnpaired, now = pair.next != KernelPair::kUnpaired;
        std::string_view name = old ? base_names.names[pair.base] : new_names.names[pair.next];
        std::string shape = old && now ? shape_changes(before, after, pair) : "";
        std::string_view verdict = old ? "vanished" : "new";
        if (old && now) verdict = name_of_speed(line.change.word);
        table.add_row({
            Cell{name},
            Cell{line.difference()},
            Cell{line.base_ns},
            Cell{line.new_ns},
            old ? Cell{static_cast<double>(before.counts[pair.base]) / before.parts} : kAbsent,
            now ? Cell{static_cast<double>(after.counts[pair.next]) / after.parts} : kAbsent,
            Cell{verdict},
            real(line.change.pct),
            real(line.change.base),
            real(line.change.next),
            text_cell(shape),
            text_cell(name_of(pair.match)),
            Cell{pair.ambiguous},
            old && now && new_names.names[pair.next] != name ? Cell{new_names.names[pair.next]} : kAbsent,
        });
    }
    if (pairs.ambiguous > 0)
        table.notes.push_back(
            fmt::format("{} kernels have more than one candidate on the other side.", pairs.ambiguous));
    return table;
}

}  // namespace gpuprof::compare
