// Decides when there are enough samples. A small state machine, fed one sample at a time, without a clock: the caller
// passes the elapsed time. Rules: `median` ends when the 95 % interval of the median is narrow enough; `entropy` when
// another sample adds no information about the distribution, the idea of nvbench's entropy criterion
// (nvbench/detail/entropy_criterion: slope of the entropy over a window); `samples` and `time` end at their minimum.
// The other two need both minima, and every rule yields to the timeout and to the maximum number of samples. The
// interval is checked after every tenth more samples, not after each:
// frequent checks would stop by chance.
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
