#include "present/query/aggregates.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline query {
namespace {

constexpr const char kTooMany[] = "the values of the aggregates exceed 512 MiB; narrow the query";

// A vector whose memory counts against the budget of its connection.
template <class Vector>
class Held {
public:
    using T = typename Vector::value_type;

    explicit Held(AggregateBudget& budget) : budget_(&budget) {}
    ~Held() { budget_->give_back(taken_ * sizeof(T)); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    // False if the budget is used up.
    bool reserve(std::size_t count) {
        if (count <= taken_) return true;
        std::size_t after = std::max({count, 2 * taken_, std::size_t{16}});
        if (!budget_->take((after - taken_) * sizeof(T))) return false;
        taken_ = after;
        values_.reserve(after);
        return true;
    }
    bool add(T value) {
        if (!reserve(values_.size() + 1)) return false;
        values_.push_back(value);
        return true;
    }
    Vector& values() { return values_; }
    const Vector& values() const { return values_; }

private:
    AggregateBudget* budget_;
    std::size_t taken_ = 0;
    Vector values_;
};

// The state of a group is on the heap. SQLite keeps the pointer and always calls `final`, however the query ends.
template <class State>
State* state_of(sqlite3_context* context) {
    auto** place = static_cast<State**>(sqlite3_aggregate_context(context, sizeof(State*)));
    if (place == nullptr) return nullptr;
    if (*place == nullptr) *place = new State(*static_cast<AggregateBudget*>(sqlite3_user_data(context)));
    return *place;
}

template <class State>
std::unique_ptr<State> take_state(sqlite3_context* context) {
    auto** place = static_cast<State**>(sqlite3_aggregate_context(context, 0));
    return std::unique_ptr<State>(place == nullptr ? nullptr : std::exchange(*place, nullptr));
}

template <class Step>
void guarded_aggregate(sqlite3_context* context, Step&& step) noexcept {
    try {
        step();
    } catch (...) {
        result_of_exception(context);
    }
}

bool is_null(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

void busy_step(sqlite3_context* context, int, sqlite3_value** values) {
    if (is_null(values[0]) || is_null(values[1])) return;
    guarded_aggregate(context, [&] {
        auto* held = state_of<Held<Intervals>>(context);
        if (held == nullptr) return sqlite3_result_error_nomem(context);
        Intervals& spans = held->values();
        Interval span{sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])};
        constexpr TimeNs kMaxTime = TimeNs{1} << 61;  // so that no length overflows
        if (std::abs(span.start / 2) > kMaxTime / 2 || std::abs(span.end / 2) > kMaxTime / 2)
            return sqlite3_result_error(context, "busy: a time is out of range", -1);
        if (!held->reserve(spans.size() + 1)) return sqlite3_result_error(context, kTooMany, -1);
        if (!spans.empty() && span.start >= spans.back().start)
            add_merged(spans, span);  // tables are in order, so only the union is kept
        else
            spans.push_back(span);
    });
}

void busy_final(sqlite3_context* context) {
    guarded_aggregate(context, [&] {
        auto held = take_state<Held<Intervals>>(context);
        sqlite3_result_int64(context, held ? length(unite(std::move(held->values()))) : 0);
    });
}

// Integers, until the first real.
struct Values {
    explicit Values(AggregateBudget& budget) : integers(budget), reals(budget) {}
    Held<std::vector<sqlite3_int64>> integers;
    Held<std::vector<double>> reals;
    bool real = false;
    double p = 50;
    bool asked = false;
    bool empty() const { return integers.values().empty() && reals.values().empty(); }
};

bool add(Values& values, sqlite3_value* value) {
    if (!values.real && sqlite3_value_type(value) == SQLITE_INTEGER)
        return values.integers.add(sqlite3_value_int64(value));
    if (!values.real) {
        std::vector<sqlite3_int64>& whole = values.integers.values();
        if (!values.reals.reserve(whole.size())) return false;
        values.reals.values().assign(whole.begin(), whole.end());
        whole.clear();
        values.real = true;
    }
    return values.reals.add(sqlite3_value_double(value));
}

// Welford's recurrence, which avoids cancellation (Knuth, TAOCP 2, 4.2.2).
struct Moments {
    explicit Moments(AggregateBudget&) {}
    std::size_t count = 0;
    double mean = 0, squares = 0;
    void add(double value) {
        double before = value - mean;
        mean += before / static_cast<double>(++count);
        squares += before * (value - mean);
    }
};

void percentile_step(sqlite3_context* context, int count, sqlite3_value** given) {
    guarded_aggregate(context, [&] {
        auto* values = state_of<Values>(context);
        if (values == nullptr) return sqlite3_result_error_nomem(context);
        double p = count > 1 ? sqlite3_value_double(given[1]) : 50;
        if (!(p > 0 && p <= 100))
            return sqlite3_result_error(context, "percentile: p is out of range: must be above 0 and at most 100", -1);
        if (values->asked && values->p != p)
            return sqlite3_result_error(context, "percentile: p must be the same in every row", -1);
        values->p = p, values->asked = true;
        if (is_null(given[0])) return;
        if (sqlite3_value_type(given[0]) == SQLITE_TEXT || sqlite3_value_type(given[0]) == SQLITE_BLOB)
            return sqlite3_result_error(context, "percentile: a value is not a number", -1);
        if (!add(*values, given[0])) sqlite3_result_error(context, kTooMany, -1);
    });
}

template <class T>
T nearest(std::vector<T>& values, double p) {
    // Exact for whole p: rounding in doubles must not push 95 % of 20 from 19 to 20.
    double rank = std::ceil(p * static_cast<double>(values.size()) / 100 - 1e-9);
    std::size_t at = static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(values.size()))) - 1;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

void percentile_final(sqlite3_context* context) {
    guarded_aggregate(context, [&] {
        auto values = take_state<Values>(context);
        if (!values || values->empty()) return;
        if (values->real)
            sqlite3_result_double(context, nearest(values->reals.values(), values->p));
        else
            sqlite3_result_int64(context, nearest(values->integers.values(), values->p));
    });
}

void stddev_step(sqlite3_context* context, int, sqlite3_value** given) {
    if (is_null(given[0])) return;
    guarded_aggregate(context, [&] {
        auto* moments = state_of<Moments>(context);
        if (moments == nullptr) return sqlite3_result_error_nomem(context);
        if (sqlite3_value_numeric_type(given[0]) == SQLITE_TEXT || sqlite3_value_type(given[0]) == SQLITE_BLOB)
            return sqlite3_result_error(context, "stddev: a value is not a number", -1);
        moments->add(sqlite3_value_double(given[0]));
    });
}

void stddev_final(sqlite3_context* context) {
    guarded_aggregate(context, [&] {
        auto moments = take_state<Moments>(context);
        if (moments && moments->count > 0)
            sqlite3_result_double(context, std::sqrt(moments->squares / static_cast<double>(moments->count)));
    });
}

}  // namespace

void result_of_exception(sqlite3_context* context) noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    } catch (const std::exception& error) {
        sqlite3_result_error(context, error.what(), -1);
    } catch (...) {
        sqlite3_result_error(context, "internal error", -1);
    }
}

const Aggregate kStddev{stddev_step, stddev_final};
const Aggregate kBusy{busy_step, busy_final};
const Aggregate kPercentile{percentile_step, percentile_final};

}  // namespace gpuprof::query
