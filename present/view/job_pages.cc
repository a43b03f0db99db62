#include "present/view/job_pages.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyze/facts/facts.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "core/format/payload.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/pages/job_cells.h"
#include "ranks/pages/step_bars.h"
#include "ranks/pages/step_choice.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/price/replay.h"
#include "ranks/price/stragglers.h"

namespace gpuprof::inline view {
namespace {

// One step of a job as JSON: a bar for each chosen rank on the common clock, and the critical path.

inline constexpr std::size_t kMostBars = 200;
inline constexpr std::size_t kMostSpans = 400;  // of a bar

class StepWriter {
public:
    StepWriter(const Facts& facts, std::int64_t step)
        : facts_(facts), step_(step), job_(facts.get<Job>()), clocks_(facts.get<AlignedClocks>()) {}

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
        for (const Job::Rank& rank : job_.ranks)
            if (const ClockFit& clock = clocks_.clocks[rank.clock]; rank.present && clock.aligned)
                ++ranks[clock.island];
        auto most = std::max_element(ranks.begin(), ranks.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        island_ = most == ranks.end() ? 0 : most->first;
    }

    void find_begin() {
        std::vector<TimeNs> starts;
        for (const Job::RankStep& each : job_.rank_steps)
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
        for (const BarSpan& span : bar.spans) {
            json.integer(span.dur);
            json.integer(static_cast<std::int64_t>(span.part));
        }
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
    const Job& job_;
    const AlignedClocks& clocks_;
    std::uint32_t island_ = 0;
    TimeNs begin_ = 0;  // of the step, on the common clock
    DurNs usual_ = 0;   // the median start after it
};

// `step` is a number of Job::steps. Ranks whose clock cannot be compared with the others' are placed at the median
// start, and marked.
std::string step_page(const Facts& facts, std::int64_t step) { return StepWriter(facts, step).write(); }

constexpr std::size_t kSlowestSteps = 8;
constexpr double kQuanta = 1000;  // of a usual value

void number_or_null(JsonWriter& json, std::optional<std::int64_t> value) { value ? json.integer(*value) : json.null(); }

template <class Values, class Write>
void write_list(JsonWriter& json, std::string_view name, const Values& values, Write write) {
    json.key(name);
    json.begin_array();
    for (const auto& value : values) write(value);
    json.end_array();
}

// For each rank, the number of the set of peers that it belongs to in most steps: from 1, in the order of ranks.
std::vector<std::optional<std::int64_t>> peer_sets(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const Peers& peers = facts.get<Peers>();
    std::map<std::uint32_t, std::int64_t> numbers;
    std::vector<std::optional<std::int64_t>> sets;
    for (const Job::Rank& rank : job.ranks) {
        std::map<std::uint32_t, std::size_t> counts;
        for (std::uint32_t i = rank.first; i < rank.first + rank.collectives; ++i) ++counts[peers.role[i]];
        auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == counts.end())
            sets.emplace_back();
        else
            sets.emplace_back(
                numbers.try_emplace(most->first, static_cast<std::int64_t>(numbers.size()) + 1).first->second);
    }
    return sets;
}

class AboutWriter {
public:
    AboutWriter(const Facts& facts, const std::vector<QuantisedCells>& cells)
        : facts_(facts), job_(facts.get<Job>()), found_(facts.get<JobCells>()), cells_(cells), json_(sink_) {}

    std::string write() {
        json_.begin_object();
        write_list(json_, "steps", job_.steps, [&](std::int64_t step) { json_.integer(step); });
        write_list(json_, "longest_ns", found_.longest, [&](DurNs length) { json_.integer(length); });
        write_list(json_, "parts", parts(), [&](std::string_view name) { json_.text(name); });
        write_ranks();
        write_recorded();
        write_quantities();
        write_list(json_, "units", facts_.get<Stragglers>().units, [&](const Straggler& unit) { write_unit(unit); });
        json_.key("step_ns");
        json_.real(facts_.get<Stragglers>().step_ns);
        json_.end_object();
        return sink_.text();
    }

private:
    static std::vector<std::string_view> parts() {
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < kBarParts; ++i) names.push_back(name_of(static_cast<BarPart>(i)));
        return names;
    }

    void text_or_null(std::string_view text) { text.empty() ? json_.null() : json_.text(text); }

    void write_ranks() {
        const RankTable& rows = facts_.trace().tables().rank;
        const JobHosts& hosts = facts_.get<JobHosts>();
        auto text = [&](const Column<StringId>& column, const Job::Rank& rank) {
            return facts_.trace().text(column.value_or(rank.row, kNoString));
        };
        std::int64_t nameless = 0;
        for (Row row = 0; row < rows.rows; ++row) nameless += !rows.rank.has(row);
        json_.member("nameless_files", nameless);
        write_list(json_, "hosts", hosts.hosts, [&](const JobHost& host) {
            std::string name = host.inferred ? "host " + host.name : host.name;
            text_or_null(host.inferred && host.ranks.size() < 2 ? std::string() : name);
        });
        json_.key("ranks");
        json_.begin_object();
        write_list(json_, "rank", job_.ranks, [&](const Job::Rank& rank) { json_.integer(rank.rank); });
        write_list(json_, "host", hosts.of_rank, [&](std::uint32_t host) { json_.integer(host); });
        write_list(json_, "peers", peer_sets(facts_), [&](auto set) { number_or_null(json_, set); });
        write_list(json_, "status", job_.ranks, [&](const Job::Rank& rank) { text_or_null(text(rows.status, rank)); });
        write_list(json_, "reason", job_.ranks, [&](const Job::Rank& rank) { text_or_null(text(rows.reason, rank)); });
        // The page may be shared, so it contains no folders.
        write_list(json_, "file", job_.ranks, [&](const Job::Rank& rank) {
            std::string name = base_name(std::string(text(rows.file, rank)));
            text_or_null(name.empty() ? name : shell_quoted_file(name));
        });
        json_.end_object();
    }

    // Runs of cells, in turn recorded and not, the first one recorded (perhaps of length 0).
    void write_recorded() {
        json_.key("recorded");
        json_.begin_array();
        bool now = true;
        std::int64_t run = 0;
        for (bool recorded : found_.recorded) {
            if (recorded != now) {
                json_.integer(run);
                run = 0;
                now = recorded;
            }
            ++run;
        }
        json_.integer(run);
        json_.end_array();
    }

    void write_quantities() {
        json_.key("quantities");
        json_.begin_array();
        for (std::size_t i = 0; i < found_.quantities.size(); ++i) {
            const JobQuantity& quantity = found_.quantities[i];
            json_.begin_object();
            json_.member("name", quantity.name);
            json_.member("title", quantity.title);
            json_.member("doc", quantity.doc);
            json_.member("unit", name_of(quantity.unit));
            json_.key("quantum");
            json_.real(cells_[i].quantum);
            json_.key("low_is_bad");
            json_.boolean(quantity.low_is_bad);
            json_.key("compares");
            json_.boolean(quantity.compares);
            std::vector<double> known = quantity.cells;
            std::erase_if(known, [](double value) { return std::isnan(value); });
            for (auto [name, share] : {std::pair("least", 0.0), std::pair("low", 0.02), std::pair("middle", 0.5),
                                       std::pair("high", 0.98), std::pair("most", 1.0)}) {
                json_.key(name);
                json_.real(quantile_of(known, share));
            }
            json_.end_object();
        }
        json_.end_array();
    }

    void write_unit(const Straggler& unit) {
        std::vector<std::uint32_t> ranks = ranks_of(facts_, unit);
        json_.begin_object();
        json_.member("unit", unit.unit);
        json_.member("cause", name_of(unit.cause));
        json_.key("named");
        json_.boolean(unit.named);
        for (auto [name, value] :
             {std::pair("cost_ns", std::optional(unit.cost_ns)), std::pair("alone_ns", std::optional(unit.alone_ns)),
              std::pair("error_ns", unit.error_ns)}) {
            json_.key(name);
            value ? json_.real(*value) : json_.null();
        }
        json_.member("steps", static_cast<std::int64_t>(unit.steps));
        json_.key("first_step");
        number_or_null(json_, unit.steps > 0 ? std::optional(unit.first_step) : std::nullopt);
        json_.key("last_step");
        number_or_null(json_, unit.steps > 0 ? std::optional(unit.last_step) : std::nullopt);
        json_.member("evidence", unit.evidence);
        json_.member("advice", advice_on(unit.cause));
        write_list(json_, "ranks", ranks, [&](std::uint32_t rank) { json_.integer(rank); });
        write_worst(unit, ranks);
        json_.end_object();
    }

    // The cell in which the unit is furthest above its peers; for a slow link, the longest wait and transfer.
    void write_worst(const Straggler& unit, const std::vector<std::uint32_t>& ranks) {
        std::string_view by = unit.cause == DelayCause::slow_link ? "exposed_comm" : "excess";
        auto quantity = std::find_if(found_.quantities.begin(), found_.quantities.end(),
                                     [&](const JobQuantity& each) { return each.name == by; });
        std::optional<std::size_t> worst;
        std::size_t steps = job_.steps.size();
        for (std::uint32_t rank : ranks)
            for (std::size_t cell = rank * steps; quantity != found_.quantities.end() && cell < (rank + 1) * steps;
                 ++cell) {
                double value = quantity->cells[cell];
                if (!std::isnan(value) && (!worst || value > quantity->cells[*worst])) worst = cell;
            }
        json_.member("quantity", by);
        json_.key("worst");
        if (!worst) return json_.null();
        json_.begin_array();
        json_.integer(static_cast<std::int64_t>(*worst / steps));
        json_.integer(static_cast<std::int64_t>(*worst % steps));
        json_.end_array();
    }

    const Facts& facts_;
    const Job& job_;
    const JobCells& found_;
    const std::vector<QuantisedCells>& cells_;
    StringSink sink_;
    JsonWriter json_;
};

}  // namespace

QuantisedCells QuantisedCells::of(const std::vector<double>& cells, double least_quantum) {
    std::vector<double> sizes;
    double most = 0;
    for (double cell : cells)
        if (!std::isnan(cell) && cell != 0) {
            sizes.push_back(std::abs(cell));
            most = std::max(most, std::abs(cell));
        }
    QuantisedCells made;
    made.quantum = least_quantum;
    double usual = median_of(std::move(sizes));
    while (10 * made.quantum * kQuanta <= usual || most / made.quantum >= 1 << 30) made.quantum *= 10;
    made.values.resize(cells.size());
    made.validity.resize((cells.size() + 63) / 64);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (std::isnan(cells[i])) continue;
        made.values[i] = static_cast<std::int32_t>(std::lround(cells[i] / made.quantum));
        made.validity[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    return made;
}

std::string QuantisedCells::payload(EncodingGoal goal) const {
    PayloadEncoder encoder(goal);
    StringPool none;
    ColumnView column{"value", ColumnType::I32, "", values.data(), validity.data()};
    encoder.encode({"job_cell", values.size(), {&column, 1}}, none, 0, values.size());
    return encoder.payload(nullptr);
}

JobPages job_pages(const Facts& facts, StepDetail detail) {
    JobPages pages;
    if (facts.trace().tables().rank.rows == 0) return pages;
    const JobCells& cells = facts.get<JobCells>();
    for (const JobQuantity& quantity : cells.quantities)
        pages.cells.push_back(QuantisedCells::of(quantity.cells, quantity.unit == Unit::ns ? 1 : 0.1));
    pages.about = AboutWriter(facts, pages.cells).write();
    std::size_t most = detail == StepDetail::all ? cells.longest.size() : kSlowestSteps;
    for (std::size_t step : chosen_steps(cells.longest, most))
        pages.steps.push_back({step, step_page(facts, facts.get<Job>().steps[step])});
    return pages;
}

}  // namespace gpuprof::view
