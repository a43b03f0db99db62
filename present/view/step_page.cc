#include "present/view/step_page.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/text/json_writer.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/pages/step_bars.h"
#include "ranks/pages/step_choice.h"
#include "ranks/price/quantile.h"
#include "ranks/price/step_path.h"

namespace gpuprof::inline view {
namespace {

class StepWriter {
public:
    StepWriter(const Facts& facts, std::int64_t step)
        : facts_(facts), step_(step), job_(facts.get<RankJob>()), clocks_(facts.get<AlignedClocks>()) {}

    std::string write() {
        find_island();
        find_begin();
        std::vector<PathPiece> path = critical_path(facts_, step_, begin_);
        std::erase_if(path, [&](const PathPiece& piece) { return !comparable(piece.rank); });
        std::vector<std::uint32_t> critical;
        for (const PathPiece& piece : path) critical.push_back(piece.rank);
        StringSink sink;
        JsonWriter json(sink);
        json.begin_object();
        json.member("step", step_);
        json.key("bars");
        json.begin_array();
        for (const ChosenRank& chosen : chosen_ranks(facts_, step_, critical, kMostBars)) write_bar(json, chosen);
        json.end_array();
        write_path(json, path);
        json.end_object();
        return sink.text();
    }

private:
    bool comparable(std::uint32_t rank) const {
        const ClockFit& clock = clocks_.clocks[job_.ranks[rank].clock];
        return clock.aligned && clock.island == island_;
    }

    // The island of most ranks: times of others cannot be compared with it.
    void find_island() {
        std::map<std::uint32_t, std::size_t> ranks;
        for (const JobRank& rank : job_.ranks)
            if (const ClockFit& clock = clocks_.clocks[rank.clock]; rank.present && clock.aligned)
                ++ranks[clock.island];
        auto most = std::max_element(ranks.begin(), ranks.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        island_ = most == ranks.end() ? 0 : most->first;
    }

    void find_begin() {
        std::vector<TimeNs> starts;
        for (const JobRankStep& each : job_.rank_steps)
            if (each.step == step_ && comparable(each.rank))
                starts.push_back(clocks_.common(job_.ranks[each.rank].clock, each.window.start));
        if (starts.empty()) return;
        begin_ = *std::min_element(starts.begin(), starts.end());
        usual_ = median_of(starts) - begin_;
    }

    void write_bar(JsonWriter& json, const ChosenRank& chosen) {
        StepBar bar = step_bar(facts_, chosen.rank, step_, kMostSpans);
        bool placed = comparable(chosen.rank);
        json.begin_object();
        json.member("rank", std::int64_t{chosen.rank});
        json.member("why", name_of(chosen.reason));
        json.member("start_ns", placed ? bar.window.start - begin_ : usual_);
        json.key("clock_error_ns");
        placed ? json.real(clocks_.clocks[job_.ranks[chosen.rank].clock].error_ns) : json.null();
        json.key("spans");
        json.begin_array();
        for (const BarSpan& span : bar.spans)
            json.integer(span.dur), json.integer(static_cast<std::int64_t>(span.part));
        json.end_array();
        json.key("sums_ns");
        json.begin_array();
        for (DurNs sum : bar.sums) json.integer(sum);
        json.end_array();
        json.end_object();
    }

    void write_path(JsonWriter& json, const std::vector<PathPiece>& path) {
        json.key("path");
        json.begin_array();
        for (const PathPiece& piece : path) {
            json.begin_array();
            json.integer(std::int64_t{piece.rank});
            json.integer(piece.time.start - begin_);
            json.integer(piece.time.end - begin_);
            json.integer(piece.transfer ? 1 : 0);
            json.end_array();
        }
        json.end_array();
    }

    const Facts& facts_;
    std::int64_t step_;
    const RankJob& job_;
    const AlignedClocks& clocks_;
    std::uint32_t island_ = 0;
    TimeNs begin_ = 0;  // of the step, on the common clock
    DurNs usual_ = 0;   // the median start after it
};

}  // namespace

std::string step_page(const Facts& facts, std::int64_t step) { return StepWriter(facts, step).write(); }

}  // namespace gpuprof::view
