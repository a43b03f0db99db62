#include "present/view/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "core/format/bytes.h"
#include "core/model/build/damage.h"
#include "core/model/select_interval.h"
#include "io/exporters/counter_points.h"
#include "present/view/view_parts.h"

namespace gpuprof::inline view {

struct ViewDocument::Parts {
    ViewParts parts;
    std::string manifest = {};
    mutable std::shared_mutex adding = {};  // the answer, while others read

    void describe(std::string_view version, TimeNs origin) { manifest = manifest_of(parts, version, origin); }
    void add_answer(AnswerJson answer, std::string_view version, TimeNs origin) {
        parts.wait();
        std::unique_lock lock(adding);
        parts.add_answer(std::move(answer));
        describe(version, origin);
    }
    template <class Read>
    auto read(Read&& value) const {
        std::shared_lock lock(adding);
        return value(parts);
    }
};

ViewDocument::ViewDocument(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
ViewDocument::~ViewDocument() = default;
ViewDocument::ViewDocument(const ViewDocument&) = default;
ViewDocument::ViewDocument(ViewDocument&&) noexcept = default;
ViewDocument& ViewDocument::operator=(ViewDocument&&) noexcept = default;

namespace {

// The window of events, or of samples if nothing else was recorded; empty for counters of kernels and instructions,
// which have no time, and for summaries of ranks, whose times are of several clocks.
std::optional<Interval> window_of(const Trace& trace) {
    if (trace.window().length() > 0) return trace.window();
    std::optional<Interval> window;
    for (const Counter& counter : counters_of(trace)) {
        if (counter.points.empty()) continue;
        TimeNs first = counter.points.front().first, last = counter.points.back().first;
        if (!window) window = {first, last + 1};
        window = {std::min(window->start, first), std::max(window->end, last + 1)};
    }
    const auto& tables = trace.tables();
    if (!window && tables.profiled_kernel.rows + tables.instruction_counter.rows + tables.rank.rows > 0)
        window = Interval{0, 0};
    return window;
}

}  // namespace

std::string_view name_of(ViewStage stage) {
    switch (stage) {
        case ViewStage::reading: return "reading";
        case ViewStage::analysing: return "analysing";
        case ViewStage::arranging: return "arranging";
    }
    return "";
}

Result<ViewDocument> ViewDocument::make(Trace trace, std::string_view version, const Options& options,
                                        StepDetail detail, const StageReport& on_stage, std::optional<Trace> timeline) {
    constexpr DurNs kMaxDuration = DurNs{1} << 53;  // ns; JavaScript integers are exact below this
    const std::string file = trace.origin().file;
    std::optional<Interval> window = window_of(timeline ? *timeline : trace);
    if (!window)
        return Error{
            ExitCode::empty,
            after_damage(trace, fmt::format("cannot show {}: {}; run gpu-profile report {} losses summary", file,
                                            trace.tables().call_node.rows > 0 ? "it holds sums, no timestamped events"
                                                                              : "no timestamped events",
                                            file))};
    TimeNs origin = window->start;
    if (span_between(window->start, window->end) >= kMaxDuration)
        return Error{ExitCode::usage, fmt::format("cannot show {}: the recording is longer than 104 days, the viewer's "
                                                  "limit; use gpu-profile report --from --to for a part of it",
                                                  file)};
    auto tell = [&](const ViewProgress& progress) {
        if (on_stage) on_stage(progress);
    };
    auto answer_of = [&](const Facts& facts, TimeNs zero) {
        tell({ViewStage::analysing});
        return answer_json(facts, version, zero, detail, [&](std::vector<std::string> known) {
            tell({ViewStage::analysing, std::move(known)});
        });
    };
    // About a window that the timeline does not have, the answer comes first.
    const bool is_timed = !timeline && trace.window().length() > 0;
    Options shown = options;
    shown.limit = kReportRows;
    std::optional<Result<AnswerJson>> answer;
    if (!is_timed) answer.emplace(answer_of(Facts(trace, shown), trace.zero()));
    if (is_timed) tell({ViewStage::arranging});
    std::optional<Trace> job;
    if (timeline) job = rebase_to_start(std::exchange(trace, std::move(*timeline)), {0, 0});
    std::shared_ptr<Parts> parts(
        new Parts{ViewParts(rebase_to_start(std::move(trace), *window), std::move(job), shown)});
    ViewDocument document(parts);
    if (is_timed && on_stage) {
        parts->describe(version, origin);
        on_stage({ViewStage::analysing, {}, &document});
    }
    parts->parts.start_stacks();  // behind a page that draws the timeline
    if (is_timed) answer.emplace(answer_of(*parts->parts.facts, origin));
    if (!answer->ok()) return answer->error();
    parts->add_answer(std::move(*answer).value(), version, origin);
    return document;
}

bool ViewDocument::timed() const {
    return parts_->read([](auto& parts) { return parts.trace.window().length() > 0 || !parts.lanes.empty(); });
}
const Trace& ViewDocument::trace() const { return parts_->parts.answered(); }
std::string ViewDocument::manifest() const {
    return parts_->read([&](auto&) { return parts_->manifest; });
}
std::size_t ViewDocument::blobs() const {
    return parts_->read([](auto& parts) { return parts.blobs.size(); });
}
std::size_t ViewDocument::early_blobs() const { return parts_->parts.early; }
std::string ViewDocument::blob(std::size_t id, EncodingGoal goal) const {
    return parts_->read([&](auto& parts) { return encode_blob(parts, id, goal); });
}

void append_framed(std::string& out, std::string_view blob) {
    put_u32(out, static_cast<std::uint32_t>(blob.size()));
    out += blob;
}

}  // namespace gpuprof::view
