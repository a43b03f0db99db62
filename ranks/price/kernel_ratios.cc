#include "ranks/price/kernel_ratios.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

struct Weighted {
    double ratio, time;
};

double weighted_median(std::vector<Weighted> values) {
    std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.ratio < b.ratio; });
    double whole = 0, sum = 0;
    for (const Weighted& value : values) whole += value.time;
    for (const Weighted& value : values)
        if ((sum += value.time) * 2 >= whole) return value.ratio;
    return 1;
}

}  // namespace

KernelRatios KernelRatios::make(const Facts& facts) {
    const RankKernelTable& table = facts.trace().tables().rank_kernel;
    using Launch = std::tuple<StringId, std::int64_t, std::int32_t>;
    std::map<Launch, std::vector<Row>> launches;
    std::map<std::int32_t, double> whole;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.rank.has(row) || table.p50_ns.value_or(row, 0) <= 0 || table.total_ns.value_or(row, 0) <= 0)
            continue;
        launches[{table.name.value_or(row, kNoString), table.grid.value_or(row, 0), table.block.value_or(row, 0)}]
            .push_back(row);
        whole[table.rank[row]] += static_cast<double>(table.total_ns[row]);
    }
    std::map<std::int32_t, std::vector<Weighted>> ratios;
    for (const auto& [launch, rows] : launches) {
        if (rows.size() < kFewestRanks) continue;
        std::vector<std::int64_t> medians;
        for (Row row : rows) medians.push_back(table.p50_ns[row]);
        std::int64_t middle = median_of(std::move(medians));
        for (Row row : rows)
            ratios[table.rank[row]].push_back({static_cast<double>(table.p50_ns[row]) / static_cast<double>(middle),
                                               static_cast<double>(table.total_ns[row])});
    }
    KernelRatios found;
    for (const auto& [rank, values] : ratios) {
        KernelRatio& to = found.ranks[rank];
        double compared = 0, slower = 0;
        for (const Weighted& value : values) {
            compared += value.time;
            if (value.ratio >= kSlowerKernel) slower += value.time;
        }
        to.compared = compared / whole[rank];
        to.slower = slower / compared;
        to.ratio = weighted_median(values);
    }
    return found;
}

}  // namespace gpuprof::ranks
