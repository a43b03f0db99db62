// The recording of one rank in microseconds, and its collectives.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "analyze/facts/facts.h"
#include "core/base/large_vector.h"
#include "ranks/match/collectives_of_rank.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {

inline constexpr TimeNs kUs = 1000;
inline constexpr const char* kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

class OneRank : public testing::Test {
protected:
    void call(TimeNs start, TimeNs end, std::string_view name, std::int64_t correlation = Draft::kNone) {
        draft_.call("main", start * kUs, end * kUs, name, correlation);
    }
    void kernel(TimeNs start, TimeNs end, std::string_view name, std::int64_t correlation) {
        draft_.kernel(0, 7, start * kUs, end * kUs, name, correlation);
    }
    void range(std::string_view thread, TimeNs start, TimeNs end, std::string_view name,
               std::int64_t id = Draft::kNone) {
        draft_.range(thread, start * kUs, end * kUs, name, id);
    }
    Facts facts() {
        trace_ = draft_.finish();
        return Facts(trace_, {});
    }
    LargeVector<RankCollective> points() {
        Facts found = facts();
        return collectives_of_rank(found, RankSteps::make(found));
    }

    Draft draft_;
    Trace trace_;
};

}  // namespace gpuprof
