// NVTX annotations, by filling the function tables of the header-only client (nvtx_abi.h). Each function copies its text
// into the calling thread's ring and returns; nothing here waits, allocates from the heap, or throws.
// Handles given to the program are numbers of our own, never addresses.
#include <unistd.h>

#include <atomic>
#include <cwchar>

#include "collect/inject/collector.h"
#include "collect/inject/event_ring.h"
#include "collect/inject/nvtx_abi.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

using namespace nvtx;
using spool::NvtxOp;
using spool::TextKind;

std::atomic<std::uint64_t> next_handle{1};

// A text of the program in UTF-8: narrow as it is, wide converted (what is no character becomes '?').
class Text {
public:
    explicit Text(const char* text) noexcept : view_(text != nullptr ? std::string_view(text) : std::string_view()) {}
    explicit Text(const wchar_t* text) noexcept {
        std::size_t at = 0;
        for (; text != nullptr && *text != 0 && at + 4 <= sizeof bytes_; ++text)
            at += encode(static_cast<std::uint32_t>(*text), bytes_ + at);
        view_ = {bytes_, at};
    }
    std::string_view view() const noexcept { return view_; }

private:
    static std::size_t encode(std::uint32_t code, char* to) noexcept {
        auto put = [&](std::size_t i, std::uint32_t byte) { to[i] = static_cast<char>(byte); };
        if (code < 0x80) return put(0, code), 1;
        if (code < 0x800) return put(0, 0xC0 | code >> 6), put(1, 0x80 | (code & 0x3F)), 2;
        if (code >= 0x110000 || (code >= 0xD800 && code < 0xE000)) return put(0, '?'), 1;
        if (code < 0x10000)
            return put(0, 0xE0 | code >> 12), put(1, 0x80 | (code >> 6 & 0x3F)), put(2, 0x80 | (code & 0x3F)), 3;
        put(0, 0xF0 | code >> 18), put(1, 0x80 | (code >> 12 & 0x3F));
        return put(2, 0x80 | (code >> 6 & 0x3F)), put(3, 0x80 | (code & 0x3F)), 4;
    }
    char bytes_[4096];
    std::string_view view_;
};

EventRing* ring() noexcept { return recording() ? EventRing::of_this_thread() : nullptr; }

void add(EventRing& to, NvtxOp op, std::uint64_t domain, std::uint64_t range, std::string_view text) noexcept {
    spool::NvtxEvent event{};
    event.op = op;
    event.text_kind = text.empty() ? TextKind::none : TextKind::inline_text;
    event.time = static_cast<std::uint64_t>(realtime_ns());
    event.domain = domain;
    event.range = range;
    to.add(event, text);
}

void add_event(EventRing& to, NvtxOp op, std::uint64_t domain, std::uint64_t range,
               const EventAttributes* attributes) noexcept {
    constexpr std::size_t kWithMessage = offsetof(EventAttributes, message) + sizeof(EventAttributes::message);
    if (attributes == nullptr || attributes->size < kWithMessage) return add(to, op, domain, range, {});
    switch (attributes->message_type) {
        case kAscii: return add(to, op, domain, range, Text(attributes->message.ascii).view());
        case kUnicode: return add(to, op, domain, range, Text(attributes->message.unicode).view());
        case kRegistered: {
            spool::NvtxEvent event{};
            event.op = op;
            event.text_kind = TextKind::registered;
            event.time = static_cast<std::uint64_t>(realtime_ns());
            event.domain = domain;
            event.range = range;
            event.text = reinterpret_cast<std::uint64_t>(attributes->message.registered);
            return to.add(event, {});
        }
        default: return add(to, op, domain, range, {});
    }
}

std::uint64_t number(const void* handle) noexcept { return reinterpret_cast<std::uint64_t>(handle); }
void* handle(std::uint64_t number) noexcept { return reinterpret_cast<void*>(number); }

// What a push answers: how deep it is, from 0.
template <class Add>
int push(Add&& add_to) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return 0;
    add_to(*to);
    return to->depth++;
}
int pop(std::uint64_t domain) noexcept {
    EventRing* to = ring();
    if (to == nullptr) return 0;
    add(*to, NvtxOp::pop, domain, 0, {});
    return to->depth > 0 ? --to->depth : -2;  // the client's "no push to match"
}
template <class Add>
std::uint64_t start(Add&& add_to) noexcept {
    std::uint64_t range = next_handle.fetch_add(1, std::memory_order_relaxed);
    if (EventRing* to = ring()) add_to(*to, range);
    return range;
}
template <class Char>
void mark_text(const Char* text) noexcept {
    if (EventRing* to = ring()) add(*to, NvtxOp::mark, 0, 0, Text(text).view());
}
template <class Char>
std::uint64_t start_text(const Char* text) noexcept {
    return start([&](EventRing& to, std::uint64_t range) { add(to, NvtxOp::start, 0, range, Text(text).view()); });
}
template <class Char>
int push_text(const Char* text) noexcept {
    return push([&](EventRing& to) { add(to, NvtxOp::push, 0, 0, Text(text).view()); });
}
template <class Char>
void name_thread(std::uint32_t thread, const Char* text) noexcept {
    if (EventRing* to = ring()) add(*to, NvtxOp::thread_name, 0, thread, Text(text).view());
}
template <class Char>
void* make_domain(const Char* text) noexcept {
    std::uint64_t domain = next_handle.fetch_add(1, std::memory_order_relaxed);
    if (EventRing* to = ring()) add(*to, NvtxOp::domain_name, 0, domain, Text(text).view());
    return handle(domain);
}
template <class Char>
void* register_string(void* domain, const Char* text) noexcept {
    std::uint64_t string = next_handle.fetch_add(1, std::memory_order_relaxed);
    if (EventRing* to = ring()) add(*to, NvtxOp::string_name, number(domain), string, Text(text).view());
    return handle(string);
}

void mark_ex(const EventAttributes* e) noexcept {
    if (EventRing* to = ring()) add_event(*to, NvtxOp::mark, 0, 0, e);
}
std::uint64_t start_ex(const EventAttributes* e) noexcept {
    return start([&](EventRing& to, std::uint64_t range) { add_event(to, NvtxOp::start, 0, range, e); });
}
void range_end(std::uint64_t range) noexcept {
    if (EventRing* to = ring()) add(*to, NvtxOp::end, 0, range, {});
}
int push_ex(const EventAttributes* e) noexcept {
    return push([&](EventRing& to) { add_event(to, NvtxOp::push, 0, 0, e); });
}
int range_pop() noexcept { return pop(0); }
void domain_mark(void* domain, const EventAttributes* e) noexcept {
    if (EventRing* to = ring()) add_event(*to, NvtxOp::mark, number(domain), 0, e);
}
std::uint64_t domain_start(void* domain, const EventAttributes* e) noexcept {
    return start([&](EventRing& to, std::uint64_t range) { add_event(to, NvtxOp::start, number(domain), range, e); });
}
void domain_end(void* domain, std::uint64_t range) noexcept {
    if (EventRing* to = ring()) add(*to, NvtxOp::end, number(domain), range, {});
}
int domain_push(void* domain, const EventAttributes* e) noexcept {
    return push([&](EventRing& to) { add_event(to, NvtxOp::push, number(domain), 0, e); });
}
int domain_pop(void* domain) noexcept { return pop(number(domain)); }

// Puts `function` behind entry `id` of a table, if the client's table has it.
template <class Function>
void set(FunctionTable table, unsigned size, unsigned id, Function function) noexcept {
    if (id < size && table[id] != nullptr) *table[id] = reinterpret_cast<void*>(function);
}

void fill_core(FunctionTable table, unsigned size) noexcept {
    set(table, size, kMarkEx, &mark_ex);
    set(table, size, kMarkA, &mark_text<char>);
    set(table, size, kMarkW, &mark_text<wchar_t>);
    set(table, size, kRangeStartEx, &start_ex);
    set(table, size, kRangeStartA, &start_text<char>);
    set(table, size, kRangeStartW, &start_text<wchar_t>);
    set(table, size, kRangeEnd, &range_end);
    set(table, size, kRangePushEx, &push_ex);
    set(table, size, kRangePushA, &push_text<char>);
    set(table, size, kRangePushW, &push_text<wchar_t>);
    set(table, size, kRangePop, &range_pop);
    set(table, size, kNameOsThreadA, &name_thread<char>);
    set(table, size, kNameOsThreadW, &name_thread<wchar_t>);
}

void fill_core2(FunctionTable table, unsigned size) noexcept {
    set(table, size, kDomainMarkEx, &domain_mark);
    set(table, size, kDomainRangeStartEx, &domain_start);
    set(table, size, kDomainRangeEnd, &domain_end);
    set(table, size, kDomainRangePushEx, &domain_push);
    set(table, size, kDomainRangePop, &domain_pop);
    set(table, size, kDomainRegisterStringA, &register_string<char>);
    set(table, size, kDomainRegisterStringW, &register_string<wchar_t>);
    set(table, size, kDomainCreateA, &make_domain<char>);
    set(table, size, kDomainCreateW, &make_domain<wchar_t>);
}

}  // namespace
}  // namespace gpuprof::inject

// Called by each library that uses NVTX, at its first annotation. 1: the tables were filled.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    gpuprof::inject::nvtx::GetExportTable get_table) {
    using namespace gpuprof::inject;
    if (get_table == nullptr || !start_collector()) return 0;
    auto* callbacks = static_cast<const nvtx::Callbacks*>(get_table(nvtx::kCallbacksTable));
    if (callbacks == nullptr || callbacks->bytes < sizeof(nvtx::Callbacks)) return 0;
    nvtx::FunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->module_table(nvtx::kModuleCore, &table, &size) != 0) fill_core(table, size);
    if (callbacks->module_table(nvtx::kModuleCore2, &table, &size) != 0) fill_core2(table, size);
    return 1;
}
