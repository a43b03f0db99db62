#include "analyze/facts/validity.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/gpu_turns.h"
#include "analyze/facts/shares.h"
#include "core/base/text/readable.h"
#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline facts {
namespace {

// At least this many waits, whose quartiles are this close, as a share of their median, are turns. Measured on a Tesla T4 that two processes
// shared: 50 waits, quartiles within 1 % of 4.41 ms.
constexpr std::size_t kMinTurns = 10;
constexpr double kMaxTurnSpread = 0.1;
constexpr DurNs kMinTurn = 500'000;

struct Counted {
    std::uint64_t count = 0;
    std::string place;
};

class Checking {
public:
    explicit Checking(const Facts& facts) : facts_(facts), trace_(facts.trace()), complete_(trace_.completeness()) {}

    std::vector<RecordingCheck> all() {
        if (complete_.ops == 0 && trace_.api_call().rows == 0) return {};
        single_events();
        plausible_times();
        serial_streams();
        durations();
        causes();
        whole_work();
        idle_for_a_reason();
        return std::move(checks_);
    }

private:
    Counted lost(Loss kind) const {
        const LossTable& losses = trace_.tables().loss;
        Counted sum;
        for (Row row = 0; row < losses.rows; ++row) {
            if (trace_.text(losses.kind.value_or(row, kNoString)) != spec_of(kind).name) continue;
            sum.count += static_cast<std::uint64_t>(std::max<std::int64_t>(0, losses.count.value_or(row, 0)));
            if (sum.place.empty()) sum.place = trace_.text(losses.place.value_or(row, kNoString));
        }
        return sum;
    }
    void add(RecordingCheck check) {
        if (check.found > 0) check.result = CheckResult::violated;
        if (check.found == 0 && check.result == CheckResult::holds) check.effect = "none";
        checks_.push_back(std::move(check));
    }
    static double share(std::uint64_t part, std::uint64_t whole) {
        return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    }

    void single_events() {
        Counted copies = lost(Loss::copied_event);
        add({.name = "single events",
             .what = "no call and no work is recorded twice",
             .checked = complete_.ops + trace_.api_call().rows + copies.count,
             .found = copies.count,
             .example = copies.place,
             .effect = "copies were skipped"});
    }
    void plausible_times() {
        Counted far = lost(Loss::time_out_of_range), negative = lost(Loss::negative_duration);
        add({.name = "plausible times",
             .what = "events lie within 26 days, and none ends before it starts",
             .checked = complete_.ops + trace_.api_call().rows + far.count,
             .found = far.count + negative.count,
             .example = far.count > 0 ? far.place : negative.place,
             .effect = "events far away were skipped; negative durations became 0"});
    }
    void serial_streams() {
        Counted overruns = lost(Loss::overrun);
        add({.name = "serial streams",
             .what = "work of one stream does not run over the work after it",
             .checked = complete_.ops,
             .found = overruns.count,
             .example = overruns.place,
             .effect = "cut where the next work of the stream starts"});
    }
    void durations() {
        std::uint64_t none = complete_.kernels_of_no_time;
        bool many = share(none, complete_.kernels) > kMaxDoubtfulShare;
        std::string text = fmt::format("{} of {} have a duration of 0 ns, so how busy the GPU was is unknown",
                                       readable_count(static_cast<std::int64_t>(none)),
                                       readable_count(static_cast<std::size_t>(complete_.kernels), "kernel"));
        add({.name = "durations",
             .what = "every kernel takes time",
             .checked = complete_.kernels,
             .found = none,
             .example = lost(Loss::zero_duration).place,
             .effect = many ? "no verdict" : "busy time is at least what is shown",
             .no_verdict = many ? text : ""});
    }
    void causes() {
        Counted early = lost(Loss::device_clock_early), late = lost(Loss::device_clock_late),
                single = lost(Loss::early_work);
        bool linked =
            complete_.ops > complete_.ops_uncheckable + complete_.ops_without_call + complete_.ops_before_calls;
        RecordingCheck check{.name = "causes before effects",
                             .what = "work starts after the call that submitted it, and ends before a wait for it does",
                             .checked = complete_.ops,
                             .found = early.count + late.count + single.count,
                             .example = early.count > 0 ? early.place : (late.count > 0 ? late.place : single.place),
                             .effect = "the work was moved"};
        if (!linked) {
            check.result = CheckResult::not_checked;
            check.checked = 0;
            check.example = "no call that submitted device work was recorded";
        }
        add(std::move(check));
    }
    void whole_work() {
        std::uint64_t missing = complete_.without_work() + complete_.nodes_missing;
        bool many = complete_.missing_share() > kMaxDoubtfulShare;
        std::string unknown = complete_.unknown_because();
        RecordingCheck check{.name = "complete work",
                             .what = "the work of every call that submits some was recorded",
                             .checked = complete_.calls(),
                             .found = missing,
                             .example = first_missing(),
                             .effect = many ? "no verdict" : "counted as lost"};
        if (many)
            check.no_verdict =
                fmt::format("at least {:.0f} % of the device's work was not recorded", 100 * complete_.missing_share());
        if (missing == 0 && !unknown.empty()) {
            check.result = CheckResult::not_checked;
            check.example = unknown;
        }
        add(std::move(check));
    }
    std::string first_missing() const {
        for (Loss kind : {Loss::launch_without_kernel, Loss::graph_without_nodes, Loss::missing_graph_node,
                          Loss::copy_without_record})
            if (Counted found = lost(kind); found.count > 0) return found.place;
        return "";
    }
    void idle_for_a_reason() {
        const Shares& shares = facts_.get<Shares>();
        DurNs unrecorded = shares.idle_of(IdleCause::unrecorded_work);
        bool much = shares.effective_pct(unrecorded) > 100 * kMaxUnrecordedShare;
        std::uint64_t gaps = 0, all = 0;
        for (const DeviceIdle& device : facts_.get<IdleGaps>().devices) {
            gaps += device.causes[static_cast<std::size_t>(IdleCause::unrecorded_work)].count;
            for (const CauseTotal& cause : device.causes) all += cause.count;
        }
        RecordingCheck check{.name = kIdleForAReason, .what = "a device with submitted work runs it"};
        check.checked = all;
        check.found = much ? gaps : 0;
        check.effect = "idle time has the cause \"unrecorded work\"";
        if (unrecorded > 0)
            check.example = fmt::format("{} ({} % of the window) in {}{}", readable_duration(unrecorded),
                                        readable_percent(shares.effective_pct(unrecorded)),
                                        readable_count(static_cast<std::size_t>(gaps), "gap"), much ? turns() : "");
        if (trace_.api_call().rows == 0) {
            check.result = CheckResult::not_checked;
            check.example = "CUDA calls were not recorded";
        }
        add(std::move(check));
    }

    // Waits of one length are those for a turn: a device divides its time between processes in equal slices.
    std::string turns() const {
        if (complete_.without_work() > 0) return "";
        if (complete_[Submission::graph].calls > 0)
            return ", in a program that launches CUDA graphs, whose nodes may be missing";
        std::vector<DurNs> waits;
        DurNs of_others = 0;
        const std::map<std::int32_t, IntervalSet>& others = facts_.get<GpuTurns>().others;
        each_idle_span(facts_, [&](const IdleSpan& span) {
            if (span.cause != IdleCause::unrecorded_work) return;
            waits.push_back(span.dur);
            if (auto turns = others.find(span.device); turns != others.end())
                of_others += length_within(turns->second, {span.start, span.start + span.dur});
        });
        if (of_others > 0)
            return fmt::format(", of which other processes had the GPU for {}", readable_duration(of_others));
        if (waits.size() < kMinTurns) return "";
        std::sort(waits.begin(), waits.end());
        DurNs low = waits[waits.size() / 4], middle = waits[waits.size() / 2], high = waits[waits.size() * 3 / 4];
        if (middle < kMinTurn || static_cast<double>(high - low) > kMaxTurnSpread * static_cast<double>(middle))
            return "";
        return fmt::format(", half of them within {} of {}, as if the GPU divided its time with another process",
                           readable_duration(high - low), readable_duration(middle));
    }

    const Facts& facts_;
    const Trace& trace_;
    const Completeness& complete_;
    std::vector<RecordingCheck> checks_;
};

}  // namespace

std::string_view name_of(CheckResult result) {
    switch (result) {
        case CheckResult::holds: return "holds";
        case CheckResult::violated: return "violated";
        case CheckResult::not_checked: return "not checked";
    }
    return "";
}

bool Validity::violated() const {
    return std::any_of(checks.begin(), checks.end(),
                       [](const RecordingCheck& check) { return check.result == CheckResult::violated; });
}

std::string Validity::contradiction() const {
    std::string why = found_when_read;
    for (const RecordingCheck& check : checks)
        if (why.empty()) why = check.no_verdict;
    return why.empty() ? "" : "the recording contradicts itself: " + why;
}

std::string Validity::no_prediction() const {
    for (const RecordingCheck& check : checks)
        if (check.name == kIdleForAReason && check.result == CheckResult::violated)
            return "the GPU ran nothing that was recorded while it had work to do: " + check.example;
    return contradiction();
}

Validity Validity::make(const Facts& facts) {
    return {Checking(facts).all(), std::string(facts.trace().meta(meta_key::kContradiction))};
}

}  // namespace gpuprof::facts
