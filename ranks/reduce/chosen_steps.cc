#include "ranks/reduce/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ranks/reduce/batch_rows.h"

namespace gpuprof::inline ranks {
namespace {

// Runs of steps, spread over the job: a run costs one more step, with which it begins.
constexpr std::size_t kRun = 8, kFewest = 8;

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t number = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool whole = failed == std::errc() && end == text.data() + text.size() && number >= 0;
    return whole ? std::optional(number) : std::nullopt;
}

// With the step before each.
std::set<std::int64_t> begun(const std::vector<std::int64_t>& steps, const std::vector<std::size_t>& indices) {
    std::set<std::int64_t> chosen;
    for (std::size_t index : indices) {
        chosen.insert(steps[index]);
        if (index > 0) chosen.insert(steps[index - 1]);
    }
    return chosen;
}

std::set<std::int64_t> spread(const std::vector<std::int64_t>& steps, std::size_t count) {
    std::vector<std::size_t> indices;
    std::size_t runs = std::max<std::size_t>(count / kRun, 1), length = std::max<std::size_t>(count / runs, 1);
    for (std::size_t run = 0; run < runs; ++run) {
        std::size_t space = steps.size() / runs, first = run * space + (space - std::min(length, space)) / 2;
        for (std::size_t i = first; i < std::min(first + length, steps.size()); ++i) indices.push_back(i);
    }
    return begun(steps, indices);
}

}  // namespace

Result<StepChoice> StepChoice::parse(std::string_view text) {
    constexpr std::string_view kSlowest = "slowest:";
    StepChoice choice;
    if (text.empty()) return choice;
    std::size_t colon = text.find(':');
    if (text == "all") {
        choice.kind_ = Kind::all;
        return choice;
    }
    std::optional<std::int64_t> from, to;
    if (text.starts_with(kSlowest)) {
        choice.kind_ = Kind::slowest;
        to = number_of(text.substr(kSlowest.size()));
    } else if (colon == std::string_view::npos) {
        choice.kind_ = Kind::spread;
        to = number_of(text);
    } else {
        choice.kind_ = Kind::range;
        from = number_of(text.substr(0, colon));
        to = number_of(text.substr(colon + 1));
    }
    bool valid = to && (choice.kind_ == Kind::range ? from && *from < *to : *to > 0);
    if (!valid)
        return Error{ExitCode::usage,
                     fmt::format("'{}' names no steps; write all, a number, slowest:NUMBER, or FIRST:END", text)};
    choice.from_ = from.value_or(0);
    choice.to_ = *to;
    return choice;
}

std::set<std::int64_t> StepChoice::choose(const std::map<std::int64_t, DurNs>& lengths, std::size_t collectives) const {
    std::vector<std::int64_t> steps;
    for (const auto& [step, length] : lengths) steps.push_back(step);
    auto number = static_cast<std::size_t>(to_);
    switch (kind_) {
        case Kind::all: return {};
        case Kind::fitting: {
            std::size_t most = std::max(kMostCollectives / std::max<std::size_t>(collectives, 1), kFewest);
            // A run of steps and the one before it.
            return most >= steps.size() ? std::set<std::int64_t>{} : spread(steps, most * kRun / (kRun + 1));
        }
        case Kind::spread: return number >= steps.size() ? std::set<std::int64_t>{} : spread(steps, number);
        case Kind::slowest: {
            std::vector<std::size_t> order(steps.size());
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return lengths.at(steps[a]) > lengths.at(steps[b]); });
            order.resize(std::min(order.size(), number));
            return begun(steps, order);
        }
        case Kind::range: {
            std::vector<std::size_t> indices;
            for (std::size_t i = 0; i < steps.size(); ++i)
                if (steps[i] >= from_ && steps[i] < to_) indices.push_back(i);
            return begun(steps, indices);
        }
    }
    return {};
}

void keep_steps(RankCollectiveTable& table, RankTransferTable& transfers, const std::set<std::int64_t>& steps) {
    const BatchRows batches(table, transfers);
    PodVector<Row> kept, kept_transfers;
    PodVector<std::int64_t> places;  // by kept row: its index among all rows of its rank
    // By rank: its kept rows before each of its rows.
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> kept_before;
    for (Row row = 0; row < table.rows; ++row) {
        std::vector<std::int32_t>& before = kept_before[table.rank.value_or(row, -1)];
        if (before.empty()) before.push_back(0);
        bool keeps = steps.contains(table.step.value_or(row, -1));
        if (keeps) {
            places.push_back(static_cast<std::int64_t>(before.size()) - 1);
            kept.push_back(row);
            for (Row transfer : batches.of(row)) kept_transfers.push_back(transfer);
        }
        before.push_back(before.back() + (keeps ? 1 : 0));
    }
    std::sort(kept_transfers.begin(), kept_transfers.end());
    keep_rows(transfers, kept_transfers);
    keep_rows(table, kept);
    // Rows refer to others by their distance. Where those are gone, nothing says when the work in `parts` began.
    auto count_again = [&](Column<std::int32_t>& distances, std::initializer_list<Column<std::int64_t>*> parts) {
        Column<std::int32_t> counted;
        for (Row row = 0; row < table.rows; ++row) {
            std::int64_t back = distances.value_or(row, 0), target = places[row] - back;
            if (back == 0) continue;
            const std::vector<std::int32_t>& before = kept_before[table.rank.value_or(row, -1)];
            auto index = static_cast<std::size_t>(target);
            bool known = target >= 0 && index + 1 < before.size();
            if (known && before[index + 1] > before[index]) {
                counted.set(row, before[static_cast<std::size_t>(places[row])] - before[index]);
                continue;
            }
            for (Column<std::int64_t>* part : parts)
                if (part->has(row)) part->change(row, 0);
        }
        counted.pad(table.rows);
        distances = std::move(counted);
    };
    count_again(table.follows, {&table.compute_ns, &table.copy_ns, &table.input_ns, &table.host_ns, &table.unknown_ns});
    count_again(table.wait_before, {&table.overlapped_compute_ns});
    count_again(table.waited_for, {});
}

}  // namespace gpuprof::ranks
