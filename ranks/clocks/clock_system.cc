#include "ranks/clocks/clock_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr int kRounds = 5;            // of reweighting
constexpr int kMaxIterations = 400;   // of conjugate gradients; a chain of hosts needs about its length
constexpr double kEnough = 1e-18;     // of the squared size: offsets of milliseconds to picoseconds
constexpr double kHuber = 1.5;        // residuals above this many standard deviations count less
constexpr double kFloorNs = 100;      // no end is more exact
constexpr std::uint64_t kDraws = 16;  // of noise
constexpr double kTwice = 2;          // standard deviations: 95 %

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
    // As if the ends were `noise` later, and the usual drifts these.
    Vector right_side(const std::vector<double>& noise, const std::vector<double>& drifts) const {
        Vector side =
            gradient([&](const ClockEnd& end) { return noise[static_cast<std::size_t>(&end - ends_.data())]; });
        for (std::size_t clock = 0; clock < clocks_; ++clock) side[clocks_ + clock] += prior_ * drifts[clock];
        return side;
    }

private:
    template <class Value>
    Vector gradient(Value&& value) const {
        Vector sum(2 * clocks_, 0.0);
        each_instance(ends_, [&](std::size_t begin, std::size_t end) {
            double weight = 0, mean = 0;
            for (std::size_t i = begin; i < end; ++i) {
                weight += ends_[i].weight;
                mean += ends_[i].weight * value(ends_[i]);
            }
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
Vector solve(const Normal& normal, Vector rest, Vector x) {
    std::size_t size = x.size();
    Vector begun = normal.times(x);
    double enough = dot(rest, rest) * kEnough;
    for (std::size_t k = 0; k < size; ++k) rest[k] -= begun[k];
    Vector direction = rest;
    double left = dot(rest, rest);
    for (int i = 0; i < kMaxIterations && left > enough && left > 0; ++i) {
        Vector step = normal.times(direction);
        double curvature = dot(direction, step);
        if (!(curvature > 0)) break;
        double length = left / curvature;
        for (std::size_t k = 0; k < size; ++k) {
            x[k] += length * direction[k];
            rest[k] -= length * step[k];
        }
        double next = dot(rest, rest);
        for (std::size_t k = 0; k < size; ++k) direction[k] = rest[k] + next / left * direction[k];
        left = next;
    }
    return x;
}

// The standard deviation of an end of weight 1.
double scale_of(const std::vector<double>& residuals) {
    std::vector<double> sizes;
    for (double residual : residuals) sizes.push_back(std::abs(residual));
    return std::max(1.4826 * median_of(std::move(sizes)), kFloorNs);
}

double prior_of(double half, double scale) {
    double drift = kPriorRate * half / scale;
    return 1 / std::max(drift * drift, 1e-12);
}

// 1 or -1, the same on every platform.
double sign_of(std::uint64_t number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
    return ((number ^ (number >> 31)) & 1U) != 0 ? 1 : -1;
}

}  // namespace

std::vector<double> residuals_of(const std::vector<ClockEnd>& ends, const ClockSolution& solution, double half) {
    std::vector<double> residuals(ends.size(), 0.0);
    auto common = [&](const ClockEnd& end) {
        return end.time - solution.offset[end.clock] - solution.drift[end.clock] * end.time / half;
    };
    each_instance(ends, [&](std::size_t begin, std::size_t end) {
        double weight = 0, mean = 0;
        for (std::size_t i = begin; i < end; ++i) {
            weight += ends[i].weight;
            mean += ends[i].weight * common(ends[i]);
        }
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
        Normal normal(ends, clocks, half, prior_of(half, scale));
        x = solve(normal, normal.right_side(), std::move(x));
        solution.offset.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(clocks));
        solution.drift.assign(x.begin() + static_cast<std::ptrdiff_t>(clocks), x.end());
        std::vector<double> residuals = residuals_of(ends, solution, half);
        scale = scale_of(residuals);
        for (std::size_t i = 0; i < ends.size(); ++i)
            ends[i].weight = std::min(1.0, kHuber * scale / std::max(std::abs(residuals[i]), 1e-9));
    }
    return solution;
}

std::vector<double> errors_of(const std::vector<ClockEnd>& ends, const ClockSolution& solution, double half) {
    std::size_t clocks = solution.offset.size();
    half = std::max(half, 1.0);
    Vector squares(clocks, 0.0);
    if (ends.empty()) return squares;
    double scale = scale_of(residuals_of(ends, solution, half));
    Normal normal(ends, clocks, half, prior_of(half, scale));
    std::uint64_t number = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
        std::vector<double> noise(ends.size()), drifts(clocks);
        for (std::size_t i = 0; i < ends.size(); ++i)
            noise[i] = ends[i].weight > 0 ? sign_of(++number) * scale / std::sqrt(ends[i].weight) : 0;
        for (double& drift : drifts) drift = sign_of(++number) * kPriorRate * half;
        Vector x = solve(normal, normal.right_side(noise, drifts), Vector(2 * clocks, 0.0));
        for (std::size_t clock = 0; clock < clocks; ++clock) {
            double at_end = std::max(std::abs(x[clock] + x[clocks + clock]), std::abs(x[clock] - x[clocks + clock]));
            squares[clock] += at_end * at_end / static_cast<double>(kDraws);
        }
    }
    for (double& square : squares) square = kTwice * std::sqrt(square);
    return squares;
}

}  // namespace gpuprof::ranks
