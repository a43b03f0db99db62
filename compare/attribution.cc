// See the header for what belongs to whom.
#include "compare/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyze/facts/stat.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::compare {
namespace {

std::string signed_duration(DurNs ns) {
    return fmt::format("{}{}", ns < 0 ? "-" : "+", readable_duration(std::abs(static_cast<double>(ns))));
}

// One run's parts: kernels by pair, everything else by kind and name. Sums over all steps and devices.
struct Parts {
    std::vector<WideSum> kernels;
    std::map<std::pair<std::string_view, std::string>, WideSum> others;
};

Parts parts_of(const Run& run, const KernelNames& names, const std::vector<std::uint32_t>& pair_of, std::size_t pairs) {
    std::map<StringId, std::uint32_t> pair;
    for (std::size_t group = 0; group < names.groups.size(); ++group) pair[names.groups.name(group)] = pair_of[group];
    Parts parts{std::vector<WideSum>(pairs), run.time.others};
    for (const auto& [name, sum] : run.time.kernels) {
        if (auto at = pair.find(name); at != pair.end())
            parts.kernels[at->second].add(sum);
        else  // began before the first step and never again
            parts.others[{"kernel", name == kNoString ? "(no name)" : std::string(run.trace->text(name))}].add(sum);
    }
    return parts;
}

// `sums` divided by n and rounded so that they add up to the rounded total.
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

constexpr ResultColumn kAttributionColumns[] = {
    {"kind", CellType::text, Unit::none, "kernel, memcpy, memset or idle."},
    {"name", CellType::text, Unit::none, "Name of the kernel in NEW (in BASE if it vanished), kind of copy, or cause."},
    {"base_ns", CellType::integer, Unit::ns, "Time in BASE, per step and device."},
    {"new_ns", CellType::integer, Unit::ns, "Time in NEW, per step and device."},
    {"difference_ns", CellType::integer, Unit::ns, "new_ns - base_ns; the rows add up to the total difference."},
    {"share_pct", CellType::real, Unit::percent, "Share of the total difference; negative if it counteracts it."},
};

}  // namespace

Attribution attribute(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names,
                      const KernelPairs& pairs) {
    Parts before = parts_of(base, base_names, pairs.of_base, pairs.pairs.size());
    Parts after = parts_of(next, new_names, pairs.of_new, pairs.pairs.size());
    Attribution found;
    std::vector<WideSum> base_sums = before.kernels, new_sums = after.kernels;
    for (const KernelPair& pair : pairs.pairs)
        found.parts.push_back(
            {"kernel", std::string(pair.next != KernelPair::kUnpaired ? new_names.names[pair.next]
                                                                      : base_names.names[pair.base])});
    for (const auto& [key, sum] : after.others) before.others.try_emplace(key);
    for (const auto& [key, sum] : before.others) {
        found.parts.push_back({key.first, key.second});
        base_sums.push_back(sum);
        new_sums.push_back(after.others[key]);
    }
    std::vector<DurNs> base_ns = shared_out(base_sums, base.parts() * base.devices()),
                       new_ns = shared_out(new_sums, next.parts() * next.devices());
    found.devices = std::max(base.devices(), next.devices());
    found.of_steps = !base.steps.steps.empty() && !next.steps.steps.empty();
    for (std::size_t i = 0; i < found.parts.size(); ++i) {
        found.parts[i].base_ns = base_ns[i];
        found.parts[i].new_ns = new_ns[i];
        found.base_ns += base_ns[i];
        found.new_ns += new_ns[i];
    }
    std::erase_if(found.parts, [](const Contribution& part) { return part.base_ns == 0 && part.new_ns == 0; });
    std::stable_sort(found.parts.begin(), found.parts.end(), [](const Contribution& a, const Contribution& b) {
        DurNs differs = std::abs(a.difference()), other = std::abs(b.difference());
        return differs != other ? differs > other : std::max(a.base_ns, a.new_ns) > std::max(b.base_ns, b.new_ns);
    });
    return found;
}

ResultTable attribution_table(const Attribution& found) {
    ResultTable table("attribution", kAttributionColumns);
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
    table.notes.push_back(fmt::format("The rows add up to {}: {} -> {} {}{}.", signed_duration(found.difference()),
                                      readable_duration(found.base_ns), readable_duration(found.new_ns),
                                      found.of_steps ? "per step" : "in the whole recording",
                                      found.devices > 1 ? ", mean over devices" : ""));
    return table;
}

std::string attribution_line(const Attribution& found) {
    constexpr std::size_t kShown = 3, kName = 60;
    if (found.difference() == 0 && (found.parts.empty() || found.parts.front().difference() == 0))
        return "device time: no difference";
    std::string line = fmt::format("{} {} -> {}, {}{}:", found.of_steps ? "mean step" : "whole recording",
                                   readable_duration(found.base_ns), readable_duration(found.new_ns),
                                   signed_duration(found.difference()), found.devices > 1 ? ", mean over devices" : "");
    for (std::size_t i = 0; i < std::min(kShown, found.parts.size()); ++i) {
        const Contribution& part = found.parts[i];
        if (part.difference() == 0) break;
        std::string name = part.name.size() <= kName ? part.name : stem_of(part.name);
        if (name.size() > kName) name = name.substr(0, kName) + "...";
        if (part.kind == "idle") name = fmt::format("({})", name);
        line += fmt::format("{} {} {} {}", i == 0 ? "" : ",", signed_duration(part.difference()), part.kind, name);
    }
    return line;
}

}  // namespace gpuprof::compare
