#include "analyze/facts/idle/recorder_price.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMost = 1'000'000;  // no record costs a millisecond

// The values of a fact, one per process.
std::vector<DurNs> values_of(const Trace& trace, std::string_view key) {
    std::vector<DurNs> values;
    for (std::string_view text : meta_values(trace, key)) {
        DurNs value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value < kMost)
            values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace

// Of several processes: the lowest, the median and the highest.
RecorderPrice RecorderPrice::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    RecorderPrice found{record_price(trace.origin().recorder_of_work())};
    std::vector<DurNs> low = values_of(trace, meta_key::kCallRecordLowNs),
                       central = values_of(trace, meta_key::kCallRecordNs),
                       high = values_of(trace, meta_key::kCallRecordHighNs);
    if (low.empty() || central.empty() || high.empty()) return found;
    EstimatedNs call{low.front(), central[central.size() / 2], high.back()};
    if (call.low > call.central || call.central > call.high) return found;
    found.price.call = call;
    found.measured = true;
    return found;
}

}  // namespace gpuprof::facts
