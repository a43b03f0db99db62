// NVTX: fills the function tables of the header-only client with functions that turn the client's data
// into annotations (annotations.h).
#include <cstddef>
#include <cstdint>
#include <cwchar>
#include <type_traits>

#include "collect/inject/collector.h"
#include "collect/inject/host/annotations.h"
#include "collect/inject/host/event_ring.h"

namespace gpuprof::inject {
namespace {

// The interface between NVTX's header-only client and an injected library: names of functions in its tables, event
// attributes, and the two export tables. Source: nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h, nvToolsExtCuda.h,
// nvToolsExtCudaRt.h, version 3.
namespace nvtx {

// Of the tables that are filled.
enum Core : unsigned {
    kMarkEx = 1,
    kMarkA,
    kMarkW,
    kRangeStartEx,
    kRangeStartA,
    kRangeStartW,
    kRangeEnd,
    kRangePushEx,
    kRangePushA,
    kRangePushW,
    kRangePop,
    kNameCategoryA,
    kNameCategoryW,
    kNameOsThreadA,
    kNameOsThreadW
};
enum Core2 : unsigned {
    kDomainMarkEx = 1,
    kDomainRangeStartEx,
    kDomainRangeEnd,
    kDomainRangePushEx,
    kDomainRangePop,
    kDomainResourceCreate,
    kDomainResourceDestroy,
    kDomainNameCategoryA,
    kDomainNameCategoryW,
    kDomainRegisterStringA,
    kDomainRegisterStringW,
    kDomainCreateA,
    kDomainCreateW,
    kDomainDestroy,
    kInitialize
};
enum CudaDriver : unsigned { kNameCuStreamA = 5, kNameCuStreamW };
enum CudaRuntime : unsigned { kNameCudaStreamA = 3, kNameCudaStreamW };
enum Module : int { kModuleCore = 1, kModuleCuda = 2, kModuleCudaRuntime = 4, kModuleCore2 = 5 };

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
struct EventAttributes {
    std::uint16_t version;
    std::uint16_t size;
    std::uint32_t category;
    std::int32_t color_type;
    std::uint32_t color;
    std::int32_t payload_type;
    std::int32_t reserved;
    std::uint64_t payload;
    std::int32_t message_type;
    union {
        const char* ascii;
        const wchar_t* unicode;
        const void* registered;
    } message;
};
static_assert(offsetof(EventAttributes, message) == 40);

// Pointers to the client's own function pointers.
using FunctionTable = void***;
struct CallbackTable {
    std::size_t bytes;
    int (*module_table)(int module, FunctionTable* table, unsigned* size);
};
using GetExportTable = const void* (*)(std::uint32_t id);
constexpr std::uint32_t kCallbacksTable = 1;

}  // namespace nvtx

using namespace nvtx;

// A text of the program in UTF-8: a narrow one unchanged, a wide one converted (invalid characters become '?').
class NvtxText {
public:
    explicit NvtxText(const char* text) noexcept
        : view_(text != nullptr ? std::string_view(text) : std::string_view()) {}
    explicit NvtxText(const wchar_t* text) noexcept { set(text); }
    NvtxText() noexcept = default;
    NvtxText(const NvtxText&) = delete;  // the view may refer to its own bytes
    NvtxText& operator=(const NvtxText&) = delete;
    std::string_view set(const wchar_t* text) noexcept {
        std::size_t at = 0;
        for (; text != nullptr && *text != 0 && at + 4 <= sizeof bytes_; ++text)
            at += encode(static_cast<std::uint32_t>(*text), bytes_ + at);
        return view_ = {bytes_, at};
    }
    std::string_view view() const noexcept { return view_; }

private:
    static std::size_t encode(std::uint32_t code, char* to) noexcept {
        auto put = [&](std::size_t i, std::uint32_t byte) { to[i] = static_cast<char>(byte); };
        if (code < 0x80) {
            put(0, code);
            return 1;
        }
        if (code < 0x800) {
            put(0, 0xC0 | code >> 6);
            put(1, 0x80 | (code & 0x3F));
            return 2;
        }
        if (code >= 0x110000 || (code >= 0xD800 && code < 0xE000)) {
            put(0, '?');
            return 1;
        }
        if (code < 0x10000) {
            put(0, 0xE0 | code >> 12);
            put(1, 0x80 | (code >> 6 & 0x3F));
            put(2, 0x80 | (code & 0x3F));
            return 3;
        }
        put(0, 0xF0 | code >> 18);
        put(1, 0x80 | (code >> 12 & 0x3F));
        put(2, 0x80 | (code >> 6 & 0x3F));
        put(3, 0x80 | (code & 0x3F));
        return 4;
    }
    char bytes_[4096];
    std::string_view view_;
};

// Those attributes of an event that the client's version has.
class Event {
public:
    explicit Event(const EventAttributes* from) noexcept {
        constexpr std::size_t kWithMessage = offsetof(EventAttributes, message) + sizeof(EventAttributes::message);
        if (from == nullptr || from->size < kWithMessage) return;
        annotation_.category = from->category;
        annotation_.payload_type = static_cast<std::uint16_t>(from->payload_type);
        annotation_.payload = from->payload_type != 0 ? from->payload : 0;
        switch (from->message_type) {
            case kAscii: annotation_.text = NvtxText(from->message.ascii).view(); break;
            case kUnicode: annotation_.text = wide_.set(from->message.unicode); break;
            case kRegistered: annotation_.registered = reinterpret_cast<std::uint64_t>(from->message.registered); break;
            default: break;
        }
    }
    const Annotation& operator*() const noexcept { return annotation_; }

private:
    Annotation annotation_;
    NvtxText wide_;
};

std::uint64_t number(const void* handle) noexcept { return reinterpret_cast<std::uint64_t>(handle); }
void* handle(std::uint64_t number) noexcept { return reinterpret_cast<void*>(number); }

// Whether nobody looks at it (annotations.h).
template <class Char>
bool is_unseen(const Char* text) noexcept {
    if (text == nullptr) return false;
    std::make_unsigned_t<Char> first = static_cast<std::make_unsigned_t<Char>>(*text);
    return first < 128 && inject::is_unseen(static_cast<unsigned char>(first));
}
bool is_unseen(const EventAttributes* e) noexcept {
    constexpr std::size_t kWithMessage = offsetof(EventAttributes, message) + sizeof(EventAttributes::message);
    if (e == nullptr || e->size < kWithMessage) return false;
    if (e->message_type == kRegistered) return inject::is_unseen(number(e->message.registered));
    return e->message_type == kAscii && is_unseen(e->message.ascii);
}

// The functions of the tables, for narrow and wide texts.
template <class Char>
void mark_text(const Char* text) noexcept {
    if (is_unseen(text)) return;
    NvtxText copy(text);
    mark(0, {.text = copy.view()});
}
template <class Char>
std::uint64_t start_text(const Char* text) noexcept {
    NvtxText copy(text);
    return start_range(0, {.text = copy.view()});
}
template <class Char>
int push_text(const Char* text) noexcept {
    if (EventRing* own = EventRing::own(); own != nullptr && is_unseen(text)) return own->depth++;
    NvtxText copy(text);
    return push_range(0, {.text = copy.view()});
}
template <class Char>
void name_thread_text(std::uint32_t thread, const Char* text) noexcept {
    name_thread(thread, NvtxText(text).view());
}
template <class Char>
void name_category_text(std::uint32_t category, const Char* text) noexcept {
    name_category(0, category, NvtxText(text).view());
}
template <class Char>
void* create_domain(const Char* text) noexcept {
    return handle(make_domain(NvtxText(text).view()));
}
template <class Char>
void* register_text(void* domain, const Char* text) noexcept {
    return handle(register_string(number(domain), NvtxText(text).view()));
}
template <class Char>
void name_domain_category(void* domain, std::uint32_t category, const Char* text) noexcept {
    name_category(number(domain), category, NvtxText(text).view());
}
template <class Char>
void name_stream_text(void* stream, const Char* text) noexcept {
    std::uint32_t id = 0;
    if (stream_id(stream, id)) name_stream(id, NvtxText(text).view());
}

void mark_event(std::uint64_t domain, const EventAttributes* e) noexcept {
    if (!is_unseen(e)) mark(domain, *Event(e));
}
int push_event(std::uint64_t domain, const EventAttributes* e) noexcept {
    if (EventRing* own = EventRing::own(); own != nullptr && is_unseen(e)) return own->depth++;
    return push_range(domain, *Event(e));
}

void mark_ex(const EventAttributes* e) noexcept { mark_event(0, e); }
std::uint64_t start_ex(const EventAttributes* e) noexcept { return start_range(0, *Event(e)); }
void range_end(std::uint64_t range) noexcept { end_range(0, range); }
int push_ex(const EventAttributes* e) noexcept { return push_event(0, e); }
int range_pop() noexcept { return pop_range(0); }
void domain_mark(void* domain, const EventAttributes* e) noexcept { mark_event(number(domain), e); }
std::uint64_t domain_start(void* domain, const EventAttributes* e) noexcept {
    return start_range(number(domain), *Event(e));
}
void domain_end(void* domain, std::uint64_t range) noexcept { end_range(number(domain), range); }
int domain_push(void* domain, const EventAttributes* e) noexcept { return push_event(number(domain), e); }
int domain_pop(void* domain) noexcept { return pop_range(number(domain)); }

// Sets entry `id` of a table to `function`, if the client's table has that entry.
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
    set(table, size, kNameCategoryA, &name_category_text<char>);
    set(table, size, kNameCategoryW, &name_category_text<wchar_t>);
    set(table, size, kNameOsThreadA, &name_thread_text<char>);
    set(table, size, kNameOsThreadW, &name_thread_text<wchar_t>);
}

void fill_core2(FunctionTable table, unsigned size) noexcept {
    set(table, size, kDomainMarkEx, &domain_mark);
    set(table, size, kDomainRangeStartEx, &domain_start);
    set(table, size, kDomainRangeEnd, &domain_end);
    set(table, size, kDomainRangePushEx, &domain_push);
    set(table, size, kDomainRangePop, &domain_pop);
    set(table, size, kDomainNameCategoryA, &name_domain_category<char>);
    set(table, size, kDomainNameCategoryW, &name_domain_category<wchar_t>);
    set(table, size, kDomainRegisterStringA, &register_text<char>);
    set(table, size, kDomainRegisterStringW, &register_text<wchar_t>);
    set(table, size, kDomainCreateA, &create_domain<char>);
    set(table, size, kDomainCreateW, &create_domain<wchar_t>);
}

void fill_streams(FunctionTable table, unsigned size, unsigned narrow, unsigned wide) noexcept {
    set(table, size, narrow, &name_stream_text<char>);
    set(table, size, wide, &name_stream_text<wchar_t>);
}

}  // namespace

}  // namespace gpuprof::inject

// Called at the first annotation by each library that uses NVTX. Returns 1: the tables were filled.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    gpuprof::inject::nvtx::GetExportTable get_table) {
    using namespace gpuprof::inject;
    if (get_table == nullptr || !start_collector()) return 0;
    auto* callbacks = static_cast<const nvtx::CallbackTable*>(get_table(nvtx::kCallbacksTable));
    if (callbacks == nullptr || callbacks->bytes < sizeof(nvtx::CallbackTable)) return 0;
    nvtx::FunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->module_table(nvtx::kModuleCore, &table, &size) != 0) fill_core(table, size);
    if (callbacks->module_table(nvtx::kModuleCore2, &table, &size) != 0) fill_core2(table, size);
    if (callbacks->module_table(nvtx::kModuleCuda, &table, &size) != 0)
        fill_streams(table, size, nvtx::kNameCuStreamA, nvtx::kNameCuStreamW);
    if (callbacks->module_table(nvtx::kModuleCudaRuntime, &table, &size) != 0)
        fill_streams(table, size, nvtx::kNameCudaStreamA, nvtx::kNameCudaStreamW);
    return 1;
}
