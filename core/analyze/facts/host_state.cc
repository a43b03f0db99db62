#include "core/analyze/facts/host_state.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "core/analyze/knowledge/call_kind.h"
#include "core/analyze/knowledge/loader_name.h"

namespace gpuprof {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (std::string_view part : parts)
        if (text.find(part) != text.npos) return true;
    return false;
}

bool names_compilation(std::string_view text) {
    return contains_any(lower(text), {"_compile.compile", "compile_fx", "torch/_inductor", "dynamo_timed", "nvrtc",
                                      "triton/compiler", "jit_compile", "xla_compile", "backend_compile"});
}

bool names_communication_wait(std::string_view text) {
    std::string name = lower(text);
    return contains_any(name, {"nccl", "c10d", "rccl", "processgroup", "distributed"}) &&
           contains_any(name, {"wait", "barrier"});
}

// While spans are open: the cause in force and the span that decided it.
struct OpenSpan {
    TimeNs end;
    IdleCause cause;
    StringId name;
    bool working;
};

// Which spans submit device work, themselves or through spans they enclose; ranges pass nothing on, since a step's range
// always submits something.
std::vector<bool> submitting_spans(const HostThread& thread, const std::vector<bool>& submits) {
    std::vector<bool> result = submits;
    for (std::size_t i = thread.spans.size(); i-- > 0;) {
        std::uint32_t parent = thread.spans[i].parent;
        if (result[i] && parent != kNoSpan && thread.spans[parent].kind == HostKind::op) result[parent] = true;
    }
    return result;
}

class Flattener {
public:
    // Time up to `until` belongs to the innermost open span, or to nothing.
    void advance(TimeNs until) {
        while (!open_.empty() && open_.back().end <= until) {
            emit(open_.back().end);
            open_.pop_back();
        }
        emit(until);
    }
    void open(TimeNs start, OpenSpan span) {
        advance(start);
        open_.push_back(span);
        at_ = start;
    }
    // A record that begins where the next segment does.
    void count_record() { ++records_; }
    void finish() {
        while (!open_.empty()) advance(open_.back().end);
    }
    const OpenSpan* innermost() const { return open_.empty() ? nullptr : &open_.back(); }
    PodVector<HostSegment> segments;

private:
    void emit(TimeNs until) {
        if (until > at_ && !open_.empty()) {
            const OpenSpan& top = open_.back();
            bool same = !segments.empty() && segments.back().end == at_ && segments.back().cause == top.cause &&
                        segments.back().name == top.name && segments.back().working == top.working &&
                        segments.back().records + records_ <= kMostRecords;
            if (!same) segments.push_back({at_, at_, top.name, top.cause, top.working});
            segments.back().end = until;
            segments.back().records =
                static_cast<std::uint16_t>(segments.back().records + std::min(records_, kMostRecords));
            records_ = 0;
        }
        at_ = std::max(at_, until);
    }
    std::vector<OpenSpan> open_;
    static constexpr std::uint32_t kMostRecords = UINT16_MAX;

    TimeNs at_ = INT64_MIN;
    std::uint32_t records_ = 0;  // of the next segment
};

}  // namespace

HostMeaning::Meaning HostMeaning::meaning_of(const HostSpan& span) {
    bool is_call = span.kind == HostKind::api_call;
    if (span.name == kNoString) return Meaning::inherit;
    std::vector<Meaning>& known = by_name_[is_call];
    if (known.empty()) known.resize(trace_.strings().size(), Meaning::unknown_yet);
    Meaning& meaning = known[index_of(span.name)];
    if (meaning != Meaning::unknown_yet) return meaning;
    std::string_view name = trace_.text(span.name);
    if (!is_call) {
        return meaning = names_loader(name)               ? Meaning::input
                         : names_communication_wait(name) ? Meaning::communication
                         : names_compilation(name)        ? Meaning::compilation
                                                          : Meaning::inherit;
    }
    switch (kind_of_call(name)) {
        case CallKind::launch: return meaning = Meaning::launch_call;
        case CallKind::copy: return meaning = Meaning::copy;
        case CallKind::set: return meaning = Meaning::set;
        case CallKind::sync: return meaning = Meaning::sync;
        case CallKind::allocation: return meaning = Meaning::allocation;
        case CallKind::compilation: return meaning = Meaning::compilation;
        case CallKind::other: return meaning = Meaning::inherit;
    }
    return meaning;
}

PodVector<HostSegment> HostMeaning::segments(const HostThread& thread) {
    std::vector<bool> submits(thread.spans.size());
    for (std::size_t i = 0; i < thread.spans.size(); ++i) {
        const HostSpan& span = thread.spans[i];
        Meaning meaning = span.kind == HostKind::api_call ? meaning_of(span) : Meaning::inherit;
        submits[i] = meaning == Meaning::launch_call || meaning == Meaning::copy || meaning == Meaning::set;
    }
    submits = submitting_spans(thread, submits);

    Flattener flat;
    for (std::size_t i = 0; i < thread.spans.size(); ++i) {
        const HostSpan& span = thread.spans[i];
        if (span.kind == HostKind::overhead) continue;
        flat.advance(span.start);
        const OpenSpan* around = flat.innermost();
        bool in_input = around != nullptr && around->cause == IdleCause::input_pipeline;
        bool inherits_launch = around != nullptr && around->cause == IdleCause::launch;
        OpenSpan open{span.end, IdleCause::host_compute, span.name,
                      span.kind == HostKind::op || span.kind == HostKind::api_call};
        switch (meaning_of(span)) {
            case Meaning::input: open.cause = IdleCause::input_pipeline; break;
            case Meaning::communication: open.cause = IdleCause::communication_wait; break;
            case Meaning::compilation: open.cause = IdleCause::compilation; break;
            case Meaning::launch_call:
            case Meaning::set: open.cause = IdleCause::launch; break;
            case Meaning::copy: open.cause = IdleCause::host_memcpy; break;
            case Meaning::sync: open.cause = IdleCause::synchronisation; break;
            case Meaning::allocation: open.cause = IdleCause::allocation; break;
            case Meaning::unknown_yet:
            case Meaning::inherit:
                // An operator that submits work is the price of launching it; inside one, everything is, too. A range or
                // frame of its own ends what an operator around it meant.
                if (span.kind == HostKind::op && submits[i]) open.cause = IdleCause::launch;
                if (around != nullptr && (in_input || inherits_launch || span.kind == HostKind::api_call)) {
                    open.cause = around->cause;
                    open.name = around->name;
                }
                break;
        }
        open.working = open.working || (around != nullptr && around->working) || in_input;
        flat.open(span.start, open);
        if (span.kind == HostKind::op || span.kind == HostKind::api_call) flat.count_record();
    }
    flat.finish();
    for (HostSegment& segment : flat.segments)
        if (segment.cause == IdleCause::launch && segment.end - segment.start > kLongestLaunch)
            segment.cause = kind_of_call(trace_.text(segment.name)) == CallKind::launch ? IdleCause::compilation
                                                                                        : IdleCause::host_compute;
    return std::move(flat.segments);
}

}  // namespace gpuprof
