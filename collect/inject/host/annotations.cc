#include "collect/inject/host/annotations.h"

#include <atomic>

#include "collect/inject/collector.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/settings.h"
#include "collect/inject/spool/name_log.h"
#include "core/base/clock.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inject {
namespace {

// A trailing number, as in "ProfilerStep#7", is ignored.
bool is_iteration(std::string_view text) noexcept {
    while (!text.empty() && (is_digit(text.back()) || text.back() == ' ' || text.back() == '#')) text.remove_suffix(1);
    return text == "step" || text == "Step" || text == "iteration" || text == "Iteration" || text == "ProfilerStep";
}

}  // namespace

AnnotationName::AnnotationName(std::string_view wanted, bool iterations) noexcept : iterations_(iterations) {
    std::size_t at = wanted.rfind('@');
    name_ = wanted.substr(0, at);
    if (at != std::string_view::npos) domain_ = wanted.substr(at + 1);
    for (char first : name_.empty() ? std::string_view("sSiIP") : name_.substr(0, 1))
        letters_.match[static_cast<unsigned char>(first)] = true;
}

bool AnnotationName::is_wanted(std::string_view text) const noexcept {
    return name_.empty() ? iterations_ && is_iteration(text) : text == name_;
}

std::uint64_t AnnotationName::domain_handle(std::uint64_t number, std::string_view name) const noexcept {
    return !domain_.empty() && name == domain_ ? number | kWanted : number;
}

std::uint64_t AnnotationName::text_handle(std::uint64_t number, std::string_view text) const noexcept {
    return is_wanted(text) ? number | kWanted : number;
}

bool AnnotationName::matches(std::string_view text, std::uint64_t domain, std::uint64_t registered) const noexcept {
    bool named = registered != 0 ? (registered & kWanted) != 0 : is_wanted(text);
    return named && (domain_.empty() || (domain & kWanted) != 0);
}

const AnnotationName& annotation_name() noexcept {
    static const AnnotationName name(settings().annotation, settings().range == CaptureRange::iterations ||
                                                                settings().keep_slow > 0 || settings().standby ||
                                                                settings().aggregate);
    return name;
}

namespace {

using spool::HostEventOp;
using spool::TextKind;

std::atomic<std::uint64_t> next_handle{1};

// Start/end ranges that hold the window open.
constexpr std::size_t kWindowRanges = 16;
std::atomic<std::uint64_t> window_ranges[kWindowRanges];

bool replace(std::uint64_t from, std::uint64_t to) noexcept {
    for (auto& each : window_ranges) {
        std::uint64_t expected = from;
        if (each.load(std::memory_order_relaxed) != from) continue;
        if (each.compare_exchange_strong(expected, to, std::memory_order_relaxed)) return true;
    }
    return false;
}

// A forked child begins its own recording at its first annotation.
EventRing* ring() noexcept { return recording() || start_collector() ? EventRing::of_this_thread() : nullptr; }

spool::HostEvent event_of(HostEventOp op, std::uint64_t domain, std::uint64_t range) noexcept {
    spool::HostEvent event{};
    event.op = op;
    event.time = static_cast<std::uint64_t>(realtime_ns());
    event.domain = domain;
    event.range = range;
    return event;
}

// Ranges that were open when the window closed ended with it.
void note_opening(EventRing& to) noexcept {
    std::uint32_t opening = window().openings();
    if (to.opening == opening) return;
    if (to.opening != 0) {
        spool::HostEvent event = event_of(HostEventOp::reset, 0, 0);
        event.time = static_cast<std::uint64_t>(window().closed_at());
        to.add(event, {});
    }
    to.opening = opening;
}

void add(EventRing& to, HostEventOp op, std::uint64_t domain, std::uint64_t range, const Annotation& what) noexcept {
    note_opening(to);
    if (what.category != 0 || what.payload_type != 0) {
        spool::HostEvent about = event_of(HostEventOp::attributes, domain, what.payload);
        about.detail = what.payload_type;
        about.text = what.category;
        to.add(about, {});
    }
    spool::HostEvent event = event_of(op, domain, range);
    if (what.registered != 0) {
        event.text_kind = TextKind::registered;
        event.text = what.registered;
        return to.add(event, {});
    }
    event.text_kind = what.text.empty() ? TextKind::none : TextKind::inline_text;
    to.add(event, what.text);
}

// Names are kept even while the window is closed.
void add_name(HostEventOp op, std::uint64_t domain, std::uint64_t id, std::string_view text) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return;
    spool::HostEvent event = event_of(op, domain, id);
    event.text_kind = TextKind::inline_text;
    to->add(event, text);
    name_log().add(event, text.substr(0, EventRing::kMaxTextBytes));
}

bool opens_window(std::uint64_t domain, const Annotation& what, Window& window) noexcept {
    return window.watches_annotations() && window.begin(what.text, domain, what.registered);
}
bool opens_window(std::uint64_t domain, const Annotation& what) noexcept {
    return opens_window(domain, what, window());
}

// Whether the annotation belongs to the steps of --keep-slow or --aggregate.
bool is_step(std::uint64_t domain, const Annotation& what) noexcept {
    return step_watch().wanted() && window().open() && annotation_name().matches(what.text, domain, what.registered);
}

std::uint32_t thread_of(const EventRing& ring) noexcept { return static_cast<std::uint32_t>(ring.thread()); }

}  // namespace

int push_range(std::uint64_t domain, const Annotation& what) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return 0;
    Window& now = window();
    SampledOverheadTimer timed(to->calls, !now.dormant());
    if (to->window_depth < 0 && opens_window(domain, what, now)) to->window_depth = to->depth;
    if (!now.dormant() && is_step(domain, what)) step_watch().push(to->step, thread_of(*to), to->depth);
    if (now.open()) add(*to, HostEventOp::push, domain, 0, what);
    return to->depth++;
}

int pop_range(std::uint64_t domain) noexcept {
    if (EventRing* own = EventRing::own(); own != nullptr && unseen.load(std::memory_order_relaxed) != nullptr)
        if (own->depth > 0 && own->depth - 1 != own->window_depth) return --own->depth;
    EventRing* to = ring();
    if (to == nullptr) return 0;
    Window& now = window();
    SampledOverheadTimer timed(to->calls, !now.dormant());
    if (now.open()) add(*to, HostEventOp::pop, domain, 0, {});
    if (to->depth == 0) return -2;  // NVTX's return value for a pop without a push
    if (--to->depth == to->window_depth) {
        to->window_depth = -1;
        now.end();
    }
    if (step_watch().wanted()) step_watch().pop(to->step, thread_of(*to), to->depth, now.open());
    return to->depth;
}

std::uint64_t start_range(std::uint64_t domain, const Annotation& what) noexcept {
    std::uint64_t range = next_handle.fetch_add(1, std::memory_order_relaxed);
    EventRing* to = ring();
    if (to == nullptr) return range;
    SampledOverheadTimer timed(to->calls, !window().dormant());
    if (opens_window(domain, what)) replace(0, range);
    if (is_step(domain, what)) step_watch().begin_range(to->step, thread_of(*to), range);
    if (window().open()) add(*to, HostEventOp::start, domain, range, what);
    return range;
}

void end_range(std::uint64_t domain, std::uint64_t range) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return;
    SampledOverheadTimer timed(to->calls, !window().dormant());
    if (window().open()) add(*to, HostEventOp::end, domain, range, {});
    if (window().watches_annotations() && range != 0 && replace(range, 0)) window().end();
    if (step_watch().wanted()) step_watch().end_range(to->step, range, window().open());
}

void mark(std::uint64_t domain, const Annotation& what) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return;
    SampledOverheadTimer timed(to->calls, !window().dormant());
    if (opens_window(domain, what)) window().end();  // a mark has no duration; it may be an iteration
    if (is_step(domain, what)) step_watch().mark(to->step, thread_of(*to));
    if (window().open()) add(*to, HostEventOp::mark, domain, 0, what);
}

void step() noexcept {
    window().step();
    EventRing* to = step_watch().wanted() && window().open() ? ring() : nullptr;
    if (to != nullptr) step_watch().mark(to->step, thread_of(*to));
}

std::uint64_t make_domain(std::string_view name) noexcept {
    std::uint64_t domain = annotation_name().domain_handle(next_handle.fetch_add(1, std::memory_order_relaxed), name);
    add_name(HostEventOp::domain_name, 0, domain, name);
    return domain;
}

std::uint64_t register_string(std::uint64_t domain, std::string_view text) noexcept {
    std::uint64_t string = annotation_name().text_handle(next_handle.fetch_add(1, std::memory_order_relaxed), text);
    add_name(HostEventOp::string_name, domain, string, text);
    return string;
}

void name_thread(std::uint32_t thread, std::string_view name) noexcept {
    add_name(HostEventOp::thread_name, 0, thread, name);
}
void name_category(std::uint64_t domain, std::uint32_t category, std::string_view name) noexcept {
    add_name(HostEventOp::category_name, domain, category, name);
}
void name_stream(std::uint32_t stream, std::string_view name) noexcept {
    add_name(HostEventOp::stream_name, 0, stream, name);
}

}  // namespace gpuprof::inject
