#include "analyze/facts/energy/regression.h"

#include <cmath>

namespace gpuprof::inline facts {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

constexpr double kMinCorrelation = 0.2;

// Means and products of the shares of groups.
struct Moments {
    NormalEquations products;
    std::vector<double> mean;

    Moments(const std::vector<std::vector<double>>& rows, const Groups& groups)
        : products(groups.size()), mean(groups.size(), 0) {
        std::vector<double> row(groups.size());
        for (const std::vector<double>& shares : rows) {
            for (std::size_t g = 0; g < groups.size(); ++g) {
                row[g] = 0;
                for (std::uint32_t state : groups[g]) row[g] += shares[state];
                mean[g] += row[g] / static_cast<double>(rows.size());
            }
            products.add(row, 0);
        }
    }
    double covariance(std::size_t a, std::size_t b) const {
        return products.xx(a, b) / products.rows() - mean[a] * mean[b];
    }
    // Root mean square of the part of each group's share that the others do not explain; the least one.
    std::pair<std::size_t, double> least_independent() const {
        std::size_t n = mean.size(), least = 0;
        double least_own = 0;
        std::optional<std::vector<double>> inverse = products.inverse(1e-10);
        if (!inverse) return {n - 1, 0};
        for (std::size_t g = 0; g < n; ++g) {
            double own = std::sqrt(1 / ((*inverse)[g * n + g] * products.rows()));
            if (g == 0 || own < least_own) {
                least_own = own;
                least = g;
            }
        }
        return {least, least_own};
    }
    // The group that varies most like this one; if it hardly varies, the one that takes most of the time.
    std::size_t partner_of(std::size_t group) const {
        std::size_t partner = group;
        double best = kMinCorrelation;
        for (std::size_t g = 0; g < mean.size(); ++g) {
            double spread = covariance(g, g) * covariance(group, group);
            if (g == group || !(spread > 1e-12)) continue;
            if (double with = covariance(g, group) / std::sqrt(spread); with > best) {
                best = with;
                partner = g;
            }
        }
        if (partner != group) return partner;
        partner = group == 0 ? 1 : 0;
        for (std::size_t g = 0; g < mean.size(); ++g)
            if (g != group && mean[g] > mean[partner]) partner = g;
        return partner;
    }
};

}  // namespace

Groups separable_states(const std::vector<std::vector<double>>& rows, std::size_t states, double min_share) {
    Groups groups;
    for (std::uint32_t state = 0; state < states; ++state) groups.push_back({state});
    while (groups.size() > 1) {
        Moments moments(rows, groups);
        auto [least, own] = moments.least_independent();
        if (own >= min_share) break;
        std::vector<std::uint32_t>& to = groups[moments.partner_of(least)];
        to.insert(to.end(), groups[least].begin(), groups[least].end());
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(least));
    }
    return groups;
}

}  // namespace gpuprof::facts
