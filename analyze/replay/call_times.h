// When calls began, by process and correlation id.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline replay {

class CallTimes {
public:
    explicit CallTimes(const ApiCallTable& calls) {
        for (Row row = 0; row < calls.rows; ++row)
            if (calls.correlation.has(row))
                times_.emplace_back(calls.process.value_or(row, kNoString), calls.correlation[row], calls.start[row]);
        std::sort(times_.begin(), times_.end());
    }
    std::optional<TimeNs> of(StringId process, const Column<std::int64_t>& correlation, Row row) const {
        if (!correlation.has(row)) return std::nullopt;
        auto found = std::lower_bound(times_.begin(), times_.end(),
                                      std::tuple(process, correlation[row], std::numeric_limits<TimeNs>::min()));
        if (found == times_.end() || std::get<0>(*found) != process || std::get<1>(*found) != correlation[row])
            return std::nullopt;
        return std::get<2>(*found);
    }

private:
    std::vector<std::tuple<StringId, std::int64_t, TimeNs>> times_;
};

}  // namespace gpuprof::replay
