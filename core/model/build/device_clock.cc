#include "core/model/build/device_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/base/text/readable.h"
#include "core/model/build/batch.h"
#include "core/model/build/links.h"

namespace gpuprof::inline model {
namespace {

// On 40 recordings of V100 to B200 and MI250 to MI300X, work starts 1.8 us or more after its call began.
constexpr DurNs kTolerance = 1'000;
// A bound that exceeds all others by more is bogus, if it is one of few: one, and one in a thousand.
constexpr DurNs kFar = 50'000;
constexpr std::size_t kFewOf = 1'000, kTooFewToDoubt = 4;
// Work of one kind that starts this soon after its call, at the earliest, has a clock of its own that is right.
constexpr DurNs kUsualDelay = 1'000'000;
// So many single ops are placed by the work after them; finding it takes a pass over the table.
constexpr std::uint64_t kMaxPlaced = 64;
// If more of the work than this starts before its call, its times say nothing.
constexpr double kMaxEarlyShare = 0.05;
// Bounds that contradict each other by no more than this, or this share of the error, are a drift and leave the middle.
constexpr DurNs kDrift = 20'000;
constexpr double kDriftShare = 0.01;

// The highest of `values`, apart from a few that lie far above all others.
std::optional<DurNs> highest(std::vector<DurNs> values) {
    if (values.empty()) return std::nullopt;
    std::size_t few = values.size() < kTooFewToDoubt ? 0 : 1 + values.size() / kFewOf;
    auto end = values.begin() + static_cast<std::ptrdiff_t>(few + 1);
    std::partial_sort(values.begin(), end, values.end(), std::greater<>{});
    std::size_t first = 0;
    for (std::size_t i = 0; i < few; ++i)
        if (values[i] - values[i + 1] > kFar) first = i + 1;
    return values[first];
}

DurNs later(TimeNs a, TimeNs b) {
    return static_cast<DurNs>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

enum Kind : std::uint8_t { kKernels, kCopies, kFills };
constexpr std::array<std::string_view, 3> kKindNames{"kernels", "copies", "fills"};

struct OfKind {
    std::uint64_t ops = 0, early = 0;
    ClockError error;
};

struct DeviceKey {
    std::uint32_t process;
    std::int32_t device;
    auto operator<=>(const DeviceKey&) const = default;
};

struct Submitted {
    TimeNs called, done;  // end of the call, end of the work
    Kind kind;
    DeviceKey device;
};

class Alignment {
public:
    Alignment(Tables& tables, const Links& links, const StringPool& strings, Batch& losses)
        : tables_(tables), links_(links), calls_(tables.api_call), strings_(strings), losses_(losses) {
        waits_.resize(strings.size(), 0);
        std::optional<bool> one;  // looked for only if a call waits for a stream
        for (std::size_t i = 0; i < strings.size(); ++i) {
            std::string_view name = strings[static_cast<StringId>(i)];
            if (waits_for_stream(name) && !one) one = has_one_stream();
            waits_[i] = waits_for_device(name) || (waits_for_stream(name) && *one);
        }
    }

    bool doubtful() { return count_early() > 0 || any_late(); }
    EarlyWork run() {
        each_table([&](auto& table, const PodVector<Row>& launch, Kind kind) { gather(table, launch, kind); });
        bound_by_waits();
        for (auto& [key, kinds] : devices_) align(key, kinds);
        if (!moves_.empty()) each_table([&](auto& table, const PodVector<Row>&, Kind kind) { move(table, kind); });
        EarlyWork found{.moved = !moves_.empty(), .no_verdict = {}};
        start_at_calls(found);
        return found;
    }

private:
    template <class Visit>
    void each_table(Visit&& visit) {
        visit(tables_.kernel, links_.kernel_launch, kKernels);
        visit(tables_.memcpy, links_.memcpy_launch, kCopies);
        visit(tables_.memset, links_.memset_launch, kFills);
    }
    bool is_wait(Row call) const { return calls_.name.has(call) && waits_[index_of(calls_.name[call])] != 0; }
    std::uint64_t count_early() {
        std::uint64_t early = 0;
        each_table([&](const auto& table, const PodVector<Row>& launch, Kind) {
            for (Row row = 0; row < table.rows; ++row)
                early += launch[row] != kNoRow && table.start[row] + kTolerance < calls_.start[launch[row]];
        });
        return early;
    }
    // Whether work that was submitted before a wait for the device still ran when that returned. Looks at the ops next to the return.
    bool any_late() {
        bool late = false;
        for (Row call = 0; call < calls_.rows && !late; ++call) {
            if (!is_wait(call)) continue;
            TimeNs returned = calls_.start[call] + calls_.dur[call];
            each_table([&](const auto& table, const PodVector<Row>& launch, Kind) {
                const TimeNs* start = table.start.values();
                auto after = static_cast<Row>(std::upper_bound(start, start + table.rows, returned) - start);
                for (Row row = after - std::min<Row>(after, 2); row < std::min<std::size_t>(after + 2, table.rows);
                     ++row)
                    late = late || (launch[row] != kNoRow && calls_.process[launch[row]] == calls_.process[call] &&
                                    calls_.start[launch[row]] + calls_.dur[launch[row]] <= calls_.start[call] &&
                                    table.start[row] + table.dur[row] > returned + kTolerance);
            });
        }
        for (Row copy = 0; copy < tables_.memcpy.rows && !late; ++copy) {
            Row call = links_.memcpy_launch[copy];
            late = call != kNoRow &&
                   tables_.memcpy.start[copy] + tables_.memcpy.dur[copy] >
                       calls_.start[call] + calls_.dur[call] + kTolerance &&
                   returns_when_copied(strings_[calls_.name.value_or(call, kNoString)],
                                       strings_[tables_.memcpy.kind.value_or(copy, kNoString)]);
        }
        return late;
    }
    // Then a call that waits for a stream waits for all work.
    bool has_one_stream() {
        std::optional<std::array<std::int64_t, 4>> first;
        bool one = true;
        each_table([&](const auto& table, const PodVector<Row>&, Kind) {
            for (Row row = 0; row < table.rows && one; ++row) {
                std::array<std::int64_t, 4> stream{index_of(table.process.value_or(row, kNoString)),
                                                   table.device.value_or(row, -1), table.context.value_or(row, -1),
                                                   table.stream.value_or(row, -1)};
                if (!first) first = stream;
                one = *first == stream;
            }
        });
        return one;
    }
    // What still starts before its call, alone, is moved between its call and the next work of its stream.
    void start_at_calls(EarlyWork& found) {
        std::uint64_t early = 0, ops = 0;
        each_table([&](auto& table, const PodVector<Row>& launch, Kind) {
            ops += table.rows;
            for (Row row = 0; row < table.rows; ++row) {
                if (launch[row] == kNoRow || table.start[row] + kTolerance >= calls_.start[launch[row]]) continue;
                TimeNs begun = calls_.start[launch[row]];
                TimeNs next = early++ < kMaxPlaced ? next_of_stream(table, launch, row) : begun;
                table.start.change(row, std::max(begun, next - table.dur[row]));
            }
        });
        if (early == 0) return;
        found.moved = true;
        auto part = fmt::format("{} of {}", readable_count(static_cast<std::int64_t>(early)),
                                readable_count(static_cast<std::size_t>(ops), "device op"));
        losses_.lose(Loss::early_work, part, early);
        if (static_cast<double>(early) > kMaxEarlyShare * static_cast<double>(ops))
            found.no_verdict =
                part +
                " start before the call that submitted them, and no constant error of the device's clock explains it";
    }
    // When the work that was submitted to the stream of `row` after it starts; the start of its own call if there is none.
    template <class Table>
    TimeNs next_of_stream(const Table& table, const PodVector<Row>& launch, Row row) const {
        for (Row other = row + 1; other < table.rows; ++other)
            if (launch[other] != kNoRow && launch[other] > launch[row] &&
                table.stream.value_or(other, -1) == table.stream.value_or(row, -1) &&
                device_of(table, other) == device_of(table, row))
                return table.start[other];
        return calls_.start[launch[row]];
    }
    template <class Table>
    DeviceKey device_of(const Table& table, Row row) const {
        return {index_of(table.process.value_or(row, kNoString)), table.device.value_or(row, -1)};
    }

    template <class Table>
    void gather(const Table& table, const PodVector<Row>& launch, Kind kind) {
        for (Row row = 0; row < table.rows; ++row) {
            DeviceKey key = device_of(table, row);
            OfKind& found = devices_[key][kind];
            ++found.ops;
            Row call = launch[row];
            if (call == kNoRow) continue;
            TimeNs begun = calls_.start[call], returned = begun + calls_.dur[call];
            TimeNs end = table.start[row] + table.dur[row];
            found.early += table.start[row] + kTolerance < begun;
            found.error.at_least(later(begun, table.start[row]));
            if constexpr (std::is_same_v<Table, MemcpyTable>)
                if (returns_when_copied(strings_[calls_.name.value_or(call, kNoString)],
                                        strings_[table.kind.value_or(row, kNoString)]))
                    found.error.at_most(later(returned, end));
            submitted_.push_back({returned, end, kind, key});
        }
    }

    // All work whose call returned before a device synchronisation of its process started was done when that returned. Which device
    // it waited for is known if the process has one.
    void bound_by_waits() {
        std::map<std::uint32_t, std::size_t> devices;
        for (const auto& [key, kinds] : devices_) ++devices[key.process];
        std::sort(submitted_.begin(), submitted_.end(),
                  [](const Submitted& a, const Submitted& b) { return a.called < b.called; });
        std::map<std::uint32_t, std::array<TimeNs, 3>> latest;
        std::size_t next = 0;
        for (Row call = 0; call < calls_.rows; ++call) {  // by start
            if (!is_wait(call)) continue;
            for (; next < submitted_.size() && submitted_[next].called <= calls_.start[call]; ++next) {
                const Submitted& work = submitted_[next];
                auto [known, added] = latest.try_emplace(work.device.process, std::array<TimeNs, 3>{});
                TimeNs& last = known->second[work.kind];
                last = last == 0 ? work.done : std::max(last, work.done);
            }
            std::uint32_t process = index_of(calls_.process.value_or(call, kNoString));
            auto known = latest.find(process);
            if (known == latest.end() || devices[process] != 1) continue;
            auto of = devices_.lower_bound({process, INT32_MIN});
            for (std::size_t kind = 0; kind < 3; ++kind)
                if (known->second[kind] != 0)
                    of->second[kind].error.at_most(later(calls_.start[call] + calls_.dur[call], known->second[kind]));
        }
    }

    // By how much work with these bounds can be moved; absent if they contradict.
    static std::optional<DurNs> move_within(DurNs least, std::optional<DurNs> most) {
        if (!most || least <= *most) return least;
        DurNs drift = least - *most;
        if (drift <= std::max(kDrift, static_cast<DurNs>(kDriftShare * static_cast<double>(least))))
            return *most + drift / 2;
        return std::nullopt;
    }

    void align(const DeviceKey& key, const std::array<OfKind, 3>& kinds) {
        std::array<std::optional<DurNs>, 3> least, most;
        DurNs needed = 0, allowed = 0;
        for (std::size_t kind = 0; kind < 3; ++kind) {
            most[kind] = kinds[kind].error.max_error();
            if (least[kind] = kinds[kind].error.min_error(); least[kind]) needed = std::max(needed, *least[kind]);
            if (most[kind]) allowed = std::min(allowed, *most[kind]);
        }
        // In a clock that is early anyway, a bound that lies far from the others may be the truest.
        if (needed > kTolerance)
            for (std::size_t kind = 0; kind < 3; ++kind)
                if (std::optional<DurNs> all = kinds[kind].error.min_error_of_all();
                    all && most[kind] && *all <= *most[kind])
                    needed = std::max(needed, *all);
        if (needed <= kTolerance && allowed < -kTolerance) return move_earlier(key, kinds, least, allowed);
        if (needed <= kTolerance) return;  // single records
        for (std::size_t kind = 0; kind < 3; ++kind) {
            if (kinds[kind].ops == 0) continue;
            bool right = least[kind] && *least[kind] <= 0 && -*least[kind] <= std::min(kUsualDelay, needed);
            if (right) continue;
            std::optional<DurNs> by = move_within(needed, most[kind]);
            if (!by && least[kind] && *least[kind] > kTolerance) by = move_within(*least[kind], most[kind]);
            if (!by) continue;
            std::string error =
                most[kind] ? fmt::format("at most {} more", readable_duration(std::max<DurNs>(0, *most[kind] - *by)))
                           : std::string("perhaps more");
            note_move(key, static_cast<Kind>(kind), kinds[kind], *by,
                      fmt::format("{} start before their call; all are {} later now, {}",
                                  part_of(kinds[kind].early, kinds[kind].ops), readable_duration(*by), error),
                      Loss::device_clock_early);
        }
    }
    // The work of a device ends after calls that waited for it returned: by the least that ends it before.
    void move_earlier(const DeviceKey& key, const std::array<OfKind, 3>& kinds,
                      const std::array<std::optional<DurNs>, 3>& least, DurNs by) {
        for (const std::optional<DurNs>& bound : least)
            if (bound && *bound > by) return;  // it would start before its calls
        for (std::size_t kind = 0; kind < 3; ++kind)
            if (kinds[kind].ops > 0)
                note_move(
                    key, static_cast<Kind>(kind), kinds[kind], by,
                    fmt::format("work ends up to {0} after calls that waited for it returned; all are {0} earlier now",
                                readable_duration(-by)),
                    Loss::device_clock_late);
    }
    static std::string part_of(std::uint64_t part, std::uint64_t all) {
        return fmt::format("{} of {}", readable_count(static_cast<std::int64_t>(part)),
                           readable_count(static_cast<std::int64_t>(all)));
    }
    void note_move(const DeviceKey& key, Kind kind, const OfKind& of, DurNs by, std::string_view what, Loss loss) {
        moves_[{key, kind}] = by;
        losses_.lose(loss, fmt::format("{} of GPU {}: {}", kKindNames[kind], key.device, what), of.ops);
    }

    template <class Table>
    void move(Table& table, Kind kind) {
        for (Row row = 0; row < table.rows; ++row)
            if (auto found = moves_.find({device_of(table, row), kind}); found != moves_.end())
                table.start.change(row, table.start[row] + found->second);
    }

    Tables& tables_;
    const Links& links_;
    const ApiCallTable& calls_;
    const StringPool& strings_;
    Batch& losses_;
    PodVector<std::uint8_t> waits_;  // by the name of a call
    std::map<DeviceKey, std::array<OfKind, 3>> devices_;
    std::vector<Submitted> submitted_;
    std::map<std::pair<DeviceKey, Kind>, DurNs> moves_;
};

}  // namespace

std::optional<DurNs> ClockError::min_error() const { return highest(least_); }

std::optional<DurNs> ClockError::min_error_of_all() const {
    if (least_.empty()) return std::nullopt;
    return *std::max_element(least_.begin(), least_.end());
}

std::optional<DurNs> ClockError::max_error() const {
    std::vector<DurNs> negated;
    negated.reserve(most_.size());
    for (DurNs error : most_) negated.push_back(-std::max(error, -INT64_MAX));
    std::optional<DurNs> found = highest(std::move(negated));
    return found ? std::optional<DurNs>(-*found) : std::nullopt;
}

bool returns_when_copied(std::string_view call, std::string_view kind_of_copy) {
    return kind_of_copy == "DtoH" && call.find("Memcpy") != std::string_view::npos &&
           call.find("Async") == std::string_view::npos;
}

bool waits_for_stream(std::string_view call) {
    return call == "cudaStreamSynchronize" || call == "cuStreamSynchronize" || call == "hipStreamSynchronize" ||
           call == "cudaStreamSynchronize_ptsz" || call == "cuStreamSynchronize_ptsz";
}

bool waits_for_device(std::string_view call) {
    return call == "cudaDeviceSynchronize" || call == "cuCtxSynchronize" || call == "hipDeviceSynchronize";
}

bool clocks_are_doubtful(Tables& tables, const Links& links, const StringPool& strings) {
    Batch none;
    return Alignment(tables, links, strings, none).doubtful();
}

EarlyWork align_device_clocks(Tables& tables, const Links& links, const StringPool& strings, Batch& losses) {
    return Alignment(tables, links, strings, losses).run();
}

}  // namespace gpuprof::model
