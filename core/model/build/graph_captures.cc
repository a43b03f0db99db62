#include "core/model/build/graph_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/base/text/readable.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline model {
namespace {

// A file of a capture also has the runs that warm it up: of three recordings, 2 kernels beside 544 captured launches, 99 beside 361, 0
// beside 421. A program that captures one graph runs for much longer than that.
constexpr std::size_t kMostDeviceOps = 2;  // for each captured launch

constexpr std::string_view kBeginsCapture = "StreamBeginCapture";

std::optional<std::int64_t> number_after(std::string_view text, std::string_view mark) {
    std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return {};
    std::int64_t number = 0;
    const char* begin = text.data() + at + mark.size();
    auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    bool whole = end == text.data() + text.size() || *end == '_' || *end == '.';
    return error == std::errc{} && whole && number > 0 ? std::optional(number) : std::nullopt;
}

// What was captured between a begin and its end on one thread, or in an annotation.
struct OpenCapture {
    bool any = false;
    std::vector<Row> calls;
    TimeNs end_of_last = 0;  // calls inside others (runtime and driver) are one
};

std::vector<std::uint8_t> calls_with_work(const Trace& trace) {
    std::vector<std::uint8_t> found(trace.api_call().rows);
    for (const PodVector<Row>* links :
         {&trace.links().kernel_launch, &trace.links().memcpy_launch, &trace.links().memset_launch})
        for (Row call : *links)
            if (call != kNoRow) found[call] = 1;
    return found;
}

// Whether any text is the name of a call that begins a capture: texts are fewer than calls.
bool names_begin_of_capture(const StringPool& strings) {
    for (std::size_t i = 0; i < strings.size(); ++i)
        if (bare_call_name(strings[static_cast<StringId>(i)]).starts_with(kBeginsCapture)) return true;
    return false;
}

struct Annotation {
    TimeNs start, end;
    StringId thread;
    std::string name;
    std::int64_t size;
};

std::vector<Annotation> annotations_of(const Trace& trace) {
    std::vector<Annotation> found;
    const RangeTable& ranges = trace.range();
    for (Row row = 0; row < ranges.rows; ++row) {
        std::string_view name = trace.text(ranges.name.value_or(row, kNoString));
        if (!name.starts_with("capture_")) continue;
        if (std::optional<std::int64_t> size = number_after(name, "capture_"))
            found.push_back({ranges.start[row], ranges.start[row] + ranges.dur[row],
                             ranges.thread.value_or(row, kNoString), std::string(name), *size});
    }
    return found;
}

}  // namespace

std::vector<GraphCapture> graph_captures_of(const Trace& trace, std::string_view file) {
    const ApiCallTable& calls = trace.api_call();
    std::vector<Annotation> annotations = annotations_of(trace);
    if (annotations.empty() && !names_begin_of_capture(trace.strings())) return {};
    std::vector<std::uint8_t> works;
    std::vector<GraphCapture> found(annotations.size() + 1);  // the last: in no annotation
    for (std::size_t i = 0; i < annotations.size(); ++i) {
        found[i].name = annotations[i].name;
        found[i].size = annotations[i].size;
    }
    found.back().size = number_after(file.substr(file.rfind('/') + 1), "bs_");
    std::map<StringId, OpenCapture> open;
    std::vector<OpenCapture> loose(annotations.size());  // launches of annotations that have no begin and end
    std::size_t captured = 0;
    for (Row row = 0; row < calls.rows; ++row) {
        std::string_view name = trace.text(calls.name.value_or(row, kNoString));
        std::string_view bare = bare_call_name(name);
        Submission submits = submission_of(name);
        if (submits == Submission::graph) return {};
        bool begins = bare.starts_with(kBeginsCapture), ends = bare.starts_with("StreamEndCapture");
        if (!begins && !ends && submits == Submission::none) continue;
        StringId thread = calls.thread.value_or(row, kNoString);
        std::size_t in = 0;
        while (in < annotations.size() &&
               !(annotations[in].thread == thread && annotations[in].start <= calls.start[row] &&
                 calls.start[row] < annotations[in].end))
            ++in;
        OpenCapture& capture = open[thread];
        if (begins) capture = {true, {}, 0};
        if (ends && capture.any && !capture.calls.empty()) found[in].graphs.push_back(std::move(capture.calls));
        if (ends) capture = {};
        OpenCapture* into = capture.any ? &capture : in < annotations.size() ? &loose[in] : nullptr;
        if (begins || ends || into == nullptr || calls.start[row] < into->end_of_last) continue;
        if (works.empty()) works = calls_with_work(trace);
        into->end_of_last = calls.start[row] + calls.dur[row];
        if (works[row]) continue;
        into->calls.push_back(row);
        captured += capture.any;
    }
    for (std::size_t i = 0; i < annotations.size(); ++i)
        if (found[i].graphs.empty() && !loose[i].calls.empty()) found[i].graphs.push_back(std::move(loose[i].calls));
    std::size_t ops = trace.kernel().rows + trace.memcpy().rows + trace.memset().rows;
    if (annotations.empty() && (captured == 0 || ops > kMostDeviceOps * captured)) return {};
    auto none = [](const GraphCapture& capture) { return capture.graphs.empty() && capture.name.empty(); };
    found.erase(std::remove_if(found.begin(), found.end(), none), found.end());
    return found;
}

namespace {

std::string text_of(const std::vector<GraphCapture>& captures) {
    std::string text;
    for (const GraphCapture& capture : captures) {
        std::size_t launches = 0;
        for (const std::vector<Row>& graph : capture.graphs) launches += graph.size();
        std::string name = !capture.name.empty() ? capture.name
                           : capture.size        ? fmt::format("size {}", *capture.size)
                                                 : "unknown size";
        text += fmt::format("{}{}: {} launch{} in {}", text.empty() ? "" : "; ", name,
                            readable_count(static_cast<std::int64_t>(launches)), launches == 1 ? "" : "es",
                            readable_count(capture.graphs.size(), "graph"));
        if (text.size() > 200 && &capture != &captures.back()) return text + "; ...";
    }
    return text;
}

}  // namespace

Trace note_captures(Trace trace, const std::vector<GraphCapture>& captures) {
    TraceBuilder builder(trace.origin());
    builder.append(batch_of(std::move(trace)));
    builder.set_meta(kGraphCapture, text_of(captures));
    return std::move(builder).finish();
}

}  // namespace gpuprof::model
