// The regression of power on the states of a device: least squares by normal equations of a few columns, which can be added
// up and subtracted, so that leaving out a block of rows costs one subtraction; and which states vary independently enough.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::inline facts {

class NormalEquations {
public:
    explicit NormalEquations(std::size_t columns) : columns_(columns), xx_(columns * columns, 0), xy_(columns, 0) {}

    void add(std::span<const double> row, double y) {
        for (std::size_t i = 0; i < columns_; ++i) {
            for (std::size_t j = 0; j < columns_; ++j) xx_[i * columns_ + j] += row[i] * row[j];
            xy_[i] += row[i] * y;
        }
        yy_ += y * y;
        ++rows_;
    }
    void add(const NormalEquations& other, double sign = 1) {
        for (std::size_t i = 0; i < xx_.size(); ++i) xx_[i] += sign * other.xx_[i];
        for (std::size_t i = 0; i < columns_; ++i) xy_[i] += sign * other.xy_[i];
        yy_ += sign * other.yy_;
        rows_ += sign * other.rows_;
    }
    std::size_t columns() const { return columns_; }
    double rows() const { return rows_; }
    double xx(std::size_t i, std::size_t j) const { return xx_[i * columns_ + j]; }

    // The inverse of X'X; `ridge` is added to the mean square of every column. Absent if it is singular.
    std::optional<std::vector<double>> inverse(double ridge = 0) const {
        std::size_t n = columns_;
        std::vector<double> a = xx_, inverse(n * n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            a[i * n + i] += ridge * rows_;
            inverse[i * n + i] = 1;
        }
        for (std::size_t at = 0; at < n; ++at) {
            std::size_t pivot = at;
            for (std::size_t i = at + 1; i < n; ++i)
                if (std::abs(a[i * n + at]) > std::abs(a[pivot * n + at])) pivot = i;
            if (std::abs(a[pivot * n + at]) < 1e-12 * (rows_ + 1)) return std::nullopt;
            for (std::size_t k = 0; k < n; ++k) {
                std::swap(a[at * n + k], a[pivot * n + k]);
                std::swap(inverse[at * n + k], inverse[pivot * n + k]);
            }
            double scale = 1 / a[at * n + at];
            for (std::size_t k = 0; k < n; ++k) {
                a[at * n + k] *= scale;
                inverse[at * n + k] *= scale;
            }
            for (std::size_t i = 0; i < n; ++i) {
                double factor = a[i * n + at];
                if (i == at || factor == 0) continue;
                for (std::size_t k = 0; k < n; ++k) {
                    a[i * n + k] -= factor * a[at * n + k];
                    inverse[i * n + k] -= factor * inverse[at * n + k];
                }
            }
        }
        return inverse;
    }
    std::optional<std::vector<double>> solve(double ridge = 0) const {
        std::optional<std::vector<double>> inverted = inverse(ridge);
        if (!inverted) return std::nullopt;
        std::vector<double> solution(columns_, 0);
        for (std::size_t i = 0; i < columns_; ++i)
            for (std::size_t j = 0; j < columns_; ++j) solution[i] += (*inverted)[i * columns_ + j] * xy_[j];
        return solution;
    }
    // The sum of squared residuals of a solution.
    double residual(std::span<const double> solution) const {
        double sum = yy_;
        for (std::size_t i = 0; i < columns_; ++i) {
            sum -= 2 * solution[i] * xy_[i];
            for (std::size_t j = 0; j < columns_; ++j) sum += solution[i] * xx(i, j) * solution[j];
        }
        return sum > 0 ? sum : 0;
    }

private:
    std::size_t columns_;
    std::vector<double> xx_, xy_;
    double yy_ = 0, rows_ = 0;
};

// Groups of states, each of which varies independently enough of the others over the windows of a sensor. `rows`: by reading, the share of each state. `min_share`: by how much of a window a state must vary on its own. Every
// state is in one group.
std::vector<std::vector<std::uint32_t>> separable_states(const std::vector<std::vector<double>>& rows,
                                                         std::size_t states, double min_share);

}  // namespace gpuprof::facts
