#include "core/analyze/ranks/clock_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analyze/ranks/quantile.h"

namespace gpuprof {
namespace {

constexpr double kPriorRate = 20e-6;  // of a clock that a time system steers
constexpr int kRounds = 5;            // of reweighting
constexpr int kMaxIterations = 400;   // of conjugate gradients; a chain of hosts needs about its length
constexpr double kEnough = 1e-18;     // of the squared size: offsets of milliseconds to picoseconds
constexpr double kHuber = 1.5;        // residuals above this many standard deviations count less
constexpr double kFloorNs = 100;      // no end is more exact

// Offsets, then drifts.
using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// Visits [begin, end) of each instance.
template <class Visit>
void each_instance(const std::vector<ClockEnd>& ends, Visit&& visit) {
    for (std::size_t begin = 0, end = 0; begin < ends.size(); begin = end) {
        while (end < ends.size() && ends[end].instance == ends[begin].instance) ++end;
        visit(begin, end);
    }
}

class Normal {
public:
    Normal(const std::vector<ClockEnd>& ends, std::size_t clocks, double half, double prior)
        : ends_(ends), clocks_(clocks), half_(half), prior_(prior) {}

    // The normal matrix times x, with the moment of each instance eliminated.
    Vector times(const Vector& x) const {
        Vector product =
            gradient([&](const ClockEnd& end) { return x[end.clock] + x[clocks_ + end.clock] * end.time / half_; });
        for (std::size_t clock = 0; clock < clocks_; ++clock) product[clocks_ + clock] += prior_ * x[clocks_ + clock];
        return product;
    }
    Vector right_side() const {
        return gradient([](const ClockEnd& end) { return end.time; });
    }

private:
    template <class Value>
    Vector gradient(Value&& value) const {
        Vector sum(2 * clocks_, 0.0);
        each_instance(ends_, [&](std::size_t begin, std::size_t end) {
            double weight = 0, mean = 0;
            for (std::size_t i = begin; i < end; ++i)
                weight += ends_[i].weight, mean += ends_[i].weight * value(ends_[i]);
            if (weight <= 0) return;
            mean /= weight;
            for (std::size_t i = begin; i < end; ++i) {
                double part = ends_[i].weight * (value(ends_[i]) - mean);
                sum[ends_[i].clock] += part;
                sum[clocks_ + ends_[i].clock] += part * ends_[i].time / half_;
            }
        });
        return sum;
    }

    const std::vector<ClockEnd>& ends_;
    std::size_t clocks_;
    double half_, prior_;
};

// Conjugate gradients from `x`, the solution for slightly different weights.
Vector solve(const Normal& normal, Vector x) {
    std::size_t size = x.size();
    Vector rest = normal.right_side(), begun = normal.times(x);
    double enough = dot(rest, rest) * kEnough;
    for (std::size_t k = 0; k < size; ++k) rest[k] -= begun[k];
    Vector direction = rest;
    double left = dot(rest, rest);
    for (int i = 0; i < kMaxIterations && left > enough && left > 0; ++i) {
        Vector step = normal.times(direction);
        double curvature = dot(direction, step);
        if (!(curvature > 0)) break;
        double length = left / curvature;
        for (std::size_t k = 0; k < size; ++k) x[k] += length * direction[k], rest[k] -= length * step[k];
        double next = dot(rest, rest);
        for (std::size_t k = 0; k < size; ++k) direction[k] = rest[k] + next / left * direction[k];
        left = next;
    }
    return x;
}

}  // namespace

std::vector<double> residuals_of(const std::vector<ClockEnd>& ends, const ClockSolution& solution, double half) {
    std::vector<double> residuals(ends.size(), 0.0);
    auto common = [&](const ClockEnd& end) {
        return end.time - solution.offset[end.clock] - solution.drift[end.clock] * end.time / half;
    };
    each_instance(ends, [&](std::size_t begin, std::size_t end) {
        double weight = 0, mean = 0;
        for (std::size_t i = begin; i < end; ++i) weight += ends[i].weight, mean += ends[i].weight * common(ends[i]);
        for (std::size_t i = begin; i < end; ++i)
            residuals[i] = common(ends[i]) - (weight > 0 ? mean / weight : common(ends[i]));
    });
    return residuals;
}

ClockSolution fit_clocks(std::vector<ClockEnd>& ends, std::size_t clocks, double half) {
    ClockSolution solution{Vector(clocks, 0.0), Vector(clocks, 0.0)};
    half = std::max(half, 1.0);
    Vector x(2 * clocks, 0.0);
    double scale = 1e6;  // of the first round: nothing is an outlier yet
    for (int round = 0; round < kRounds && !ends.empty(); ++round) {
        double drift = kPriorRate * half / scale;
        x = solve(Normal(ends, clocks, half, 1 / std::max(drift * drift, 1e-12)), std::move(x));
        solution.offset.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(clocks));
        solution.drift.assign(x.begin() + static_cast<std::ptrdiff_t>(clocks), x.end());
        std::vector<double> residuals = residuals_of(ends, solution, half), sizes;
        for (double residual : residuals) sizes.push_back(std::abs(residual));
        scale = std::max(1.4826 * median_of(sizes), kFloorNs);
        for (std::size_t i = 0; i < ends.size(); ++i)
            ends[i].weight = std::min(1.0, kHuber * scale / std::max(std::abs(residuals[i]), 1e-9));
    }
    return solution;
}

}  // namespace gpuprof
