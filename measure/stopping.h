// Decides when a function has warmed up, and when there are enough samples.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::measure {

// Decides when a function has warmed up. Compilers, autotuners, allocators and clocks slow the first calls, and their
// number is unknown in advance. A small state machine, fed the time of one call at a time: it forms windows of a few
// calls, and the warm-up ends when the medians of two consecutive windows agree, twice in a row. It ends unsettled at
// the maximum time.
struct WarmupOptions {
    DurNs min_time = 25'000'000, max_time = 3'000'000'000;
    std::size_t window = 5;
    double tolerance = 0.02;  // medians agree within this share, or within the scatter inside the windows
};

struct WarmupResult {
    std::size_t calls = 0;
    DurNs time = 0;
    double first_ns = 0;  // the first call
    double last_ns = 0;   // median of the last window: the estimate of later calls
    bool settled = false;
};

class Warmup {
public:
    explicit Warmup(const WarmupOptions& options) : options_(options) {}
    // One call took `ns`; `elapsed` is the time since the warm-up began.
    void add(double ns, DurNs elapsed);
    bool over() const { return over_; }
    const WarmupResult& seen() const { return seen_; }

private:
    void close_window();

    WarmupOptions options_;
    WarmupResult seen_;
    std::vector<double> window_;
    double previous_ = 0, previous_spread_ = 0;  // median and interquartile range of the previous window
    int agreements_ = 0;
    bool has_previous_ = false, over_ = false;
};

// Decides when there are enough samples. A small state machine, fed one sample at a time, without a clock: the caller
// passes the elapsed time. Rules: `median` ends when the 95 % interval of the median is narrow enough; `entropy` when
// another sample adds no information about the distribution, the idea of nvbench's entropy criterion
// (nvbench/detail/entropy_criterion: slope of the entropy over a window); `samples` and `time` end at their minimum.
// The other two need both minima, and every rule yields to the timeout and to the maximum number of samples. The
// interval is checked after every tenth more samples, not after each:
// frequent checks would stop by chance.
enum class StopRule { median, entropy, samples, time };
inline constexpr StopRule kStopRules[] = {StopRule::median, StopRule::entropy, StopRule::samples, StopRule::time};
enum class StopReason { precise, entropy, enough_samples, enough_time, timeout, max_samples };
inline constexpr StopReason kStopReasons[] = {StopReason::precise,     StopReason::entropy, StopReason::enough_samples,
                                              StopReason::enough_time, StopReason::timeout, StopReason::max_samples};

// "median interval is narrow", ...: for people and JSON.
std::string_view name_of(StopReason reason);
// "median", "entropy", "samples", "time".
std::string_view name_of(StopRule rule);
// By the rule's name: median, entropy, samples, time.
Result<StopRule> find_stop_rule(std::string_view name);

struct StoppingOptions {
    StopRule rule = StopRule::median;
    double precision = 0.005;  // half the interval's width relative to the median
    DurNs min_time = 200'000'000, timeout = 15'000'000'000;
    std::size_t min_samples = 20, max_samples = 100'000;
};

// Refuses a minimum above its maximum.
Status check(const StoppingOptions& options);

class Stopping {
public:
    explicit Stopping(const StoppingOptions& options) : options_(options) {}
    void add(double sample);
    // Called after `elapsed` of sampling. Absent: continue.
    std::optional<StopReason> reason(DurNs elapsed);

private:
    bool is_precise();
    bool entropy_is_flat() const;
    void add_entropy(double sample);

    StoppingOptions options_;
    std::vector<double> samples_;
    std::size_t next_look_ = 0;
    double bin_ = 0;                           // width of a class of times for the entropy
    std::map<long long, std::size_t> counts_;  // per class
    double sum_ = 0;                           // sum of count * log2(count)
    std::deque<double> entropies_;
};

}  // namespace gpuprof::measure
