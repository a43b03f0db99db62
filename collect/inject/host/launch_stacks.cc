#include "collect/inject/host/launch_stacks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>

#include "collect/inject/collector.h"
#include "collect/inject/host/api_call.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/settings.h"
#include "collect/inject/spool/name_log.h"
#include "collect/python/debug_offsets.h"
#include "collect/python/process_memory.h"
#include "collect/python/stack_reader.h"
#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

constinit std::atomic<const char*> refusal{""};

python::Address symbol(const char* name) noexcept {
    return reinterpret_cast<python::Address>(dlsym(RTLD_DEFAULT, name));
}

// Of Python 3.minor; 0 if unknown. Py_Version exists since 3.11; 0x030B07F0 is 3.11.7.
std::uint32_t minor_version() noexcept {
    if (const auto* version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version")))
        return *version >> 24 == 3 ? static_cast<std::uint32_t>(*version >> 16 & 0xFF) : 0;
    auto* text = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
    const char* version = text != nullptr ? text() : "";
    return std::strncmp(version, "3.", 2) == 0 ? static_cast<std::uint32_t>(std::strtoul(version + 2, nullptr, 10)) : 0;
}

// The Python stack of the calling thread, in a process with CPython: read from the process's own memory, with the same
// reader and the same layouts as `record --python` uses from outside. It works whether or not the thread holds the GIL,
// because a thread's frames do not change while it is in a call. Memory is read by process_vm_readv(2), which fails
// where a load would end the program.
//
// One per thread; it caches names.
class PythonStack {
public:
    // Null: the process has no CPython that can be read, or memory ran out.
    static PythonStack* make() noexcept;
    // Frames as in stack_sample, outermost first; "" if the thread runs no Python code. Valid until the next call.
    std::string_view read() noexcept;

private:
    PythonStack(const python::Layout& layout, python::RuntimeAddresses addresses);

    python::ProcessMemory memory_;
    python::StackReader reader_;
};

PythonStack::PythonStack(const python::Layout& layout, python::RuntimeAddresses addresses)
    : memory_(getpid()), reader_(memory_, layout, addresses, static_cast<int>(settings().stack_depth)) {}

PythonStack* PythonStack::make() noexcept {
    python::RuntimeAddresses addresses{symbol("_PyRuntime"), symbol("PyCode_Type"), symbol("PyUnicode_Type"),
                                       symbol("PyBytes_Type")};
    if (addresses.runtime == 0) return nullptr;
    python::ProcessMemory memory(getpid());
    if (!memory.pointer(addresses.runtime)) {
        refusal.store("the system does not allow process_vm_readv", std::memory_order_relaxed);
        return nullptr;
    }
    std::uint32_t minor = minor_version();
    std::optional<python::Layout> layout =
        minor >= 13 ? python::read_layout(memory, addresses.runtime) : python::layout_of(minor);
    if (!layout) {
        refusal.store("this version of Python is unknown", std::memory_order_relaxed);
        return nullptr;
    }
    return new (std::nothrow) PythonStack(*layout, addresses);
}

std::string_view PythonStack::read() noexcept {
    const python::ThreadStack* stack = reader_.read_thread(static_cast<std::uint64_t>(pthread_self()));
    return stack == nullptr ? std::string_view() : std::string_view(stack->frames);
}

constexpr int kMaxNativeFrames = 64;  // the innermost ones
constexpr std::size_t kMaxPythonBytes = 10 << 10, kMaxPathBytes = 1024;
constexpr std::size_t kStacks = 1 << 14, kProbes = 16;

// Ids of stacks that were written.
constinit std::atomic<std::uint64_t> written[kStacks] = {};
constinit std::atomic<std::uint64_t> without_stack{0};

thread_local OuterCall entered_launch __attribute__((tls_model("initial-exec")));

// Without "cuda" and "cu".
constexpr const char* kNames[] = {"LaunchKernel",
                                  "LaunchKernelEx",
                                  "LaunchKernelExC",
                                  "Launch",
                                  "LaunchGrid",
                                  "LaunchGridAsync",
                                  "GraphLaunch",
                                  "LaunchCooperativeKernel",
                                  "LaunchCooperativeKernelMultiDevice"};

// FrameText with an end: what does not fit is omitted.
class FrameText {
public:
    bool add(std::string_view more) noexcept {
        if (more.size() > sizeof bytes_ - size_) return false;
        std::memcpy(bytes_ + size_, more.data(), more.size());
        size_ += more.size();
        return true;
    }
    void cut(std::size_t size) noexcept { size_ = size; }
    void clear() noexcept { size_ = 0; }
    std::string_view view() const noexcept { return {bytes_, size_}; }

private:
    std::size_t size_ = 0;
    char bytes_[EventRing::kMaxTextBytes];
};

std::string_view innermost_part(std::string_view frames) noexcept {
    if (frames.size() <= kMaxPythonBytes) return frames;
    frames.remove_prefix(frames.size() - kMaxPythonBytes);
    return frames.substr(frames.find(';') + 1);
}

// The file that holds an address, and how far from its own addresses it was loaded. The loader's lock that this takes is
// not held while constructors of a library run, unlike that of dladdr().
struct Place {
    std::uint64_t address;
    std::string_view path;  // "": the program itself
    std::uint64_t bias = 0;
    bool found = false;
};
int look_for(dl_phdr_info* library, std::size_t, void* about) noexcept {
    auto& place = *static_cast<Place*>(about);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = library->dlpi_phdr[i];
        std::uint64_t begin = library->dlpi_addr + segment.p_vaddr;
        if (segment.p_type != PT_LOAD || place.address < begin || place.address - begin >= segment.p_memsz) continue;
        place.path = library->dlpi_name != nullptr ? library->dlpi_name : "";
        place.bias = library->dlpi_addr;
        return place.found = true;
    }
    return 0;
}

void add_native(FrameText& text, void* const* frames, int count) noexcept {
    char program[kMaxPathBytes];
    Place last{};
    for (int i = 0; i < count; ++i) {
        Place place{reinterpret_cast<std::uint64_t>(frames[i]), {}};
        dl_iterate_phdr(look_for, &place);
        if (place.found && place.path.empty()) {
            ssize_t size = readlink("/proc/self/exe", program, sizeof program);
            if (size > 0) place.path = {program, static_cast<std::size_t>(size)};
        }
        char offset[32];
        int size = std::snprintf(offset, sizeof offset, "+0x%llx",
                                 static_cast<unsigned long long>(place.address - place.bias));
        bool same = i > 0 && place.found == last.found && place.bias == last.bias;
        std::size_t before = text.view().size();
        bool whole =
            text.add("\n") && (same || text.add(place.path)) && text.add({offset, static_cast<std::size_t>(size)});
        if (!whole) return text.cut(before);
        last = place;
    }
}

// Eight bytes at a time: a stack has thousands.
std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash) noexcept {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        std::size_t size = std::min(bytes.size(), sizeof word);
        std::memcpy(&word, bytes.data(), size);
        bytes.remove_prefix(size);
        hash = std::rotl((hash ^ word) * kOdd, 29);
    }
    return hash;
}

// Whether a stack is new; false as well if there is no room for another one, and then `id` becomes 0.
bool is_new(std::uint64_t& id, std::atomic<std::uint64_t>*& slot) noexcept {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
        slot = &written[(id + probe) % kStacks];
        std::uint64_t known = 0;
        if (slot->compare_exchange_strong(known, id, std::memory_order_relaxed)) return true;
        if (known == id) return false;
    }
    id = 0;
    return false;
}

spool::HostEvent event_of(spool::HostEventOp op, std::uint64_t stack) noexcept {
    spool::HostEvent event{};
    event.op = op;
    event.time = static_cast<std::uint64_t>(realtime_ns());
    event.range = stack;
    return event;
}

}  // namespace

const char* python_refusal() noexcept { return refusal.load(std::memory_order_relaxed); }

struct LaunchReader {
    PythonStack* python = nullptr;
    FrameText text;

    // The id of the thread's stack, which is written if it is new; 0 if there is none.
    std::uint64_t read(EventRing& ring) noexcept {
        void* native[kMaxNativeFrames];
        int count = backtrace(native, kMaxNativeFrames);
        std::string_view frames = python != nullptr ? innermost_part(python->read()) : std::string_view();
        std::uint64_t id = hash_of(frames, frames.size());
        id = hash_of({reinterpret_cast<const char*>(native), sizeof native[0] * static_cast<std::size_t>(count)}, id);
        id += id == 0;
        std::atomic<std::uint64_t>* slot = nullptr;
        if (!is_new(id, slot)) return id;
        if (python == nullptr && (python = PythonStack::make()) != nullptr) {  // Python has been loaded
            slot->store(0, std::memory_order_relaxed);
            return read(ring);
        }
        text.clear();
        text.add(frames);
        add_native(text, native, count);
        spool::HostEvent event = event_of(spool::HostEventOp::stack_name, id);
        event.text_kind = spool::TextKind::inline_text;
        std::uint64_t dropped = ring.dropped();
        ring.add(event, text.view());
        name_log().add(event, text.view());
        if (ring.dropped() != dropped) slot->store(0, std::memory_order_relaxed);  // the next one writes it
        return id;
    }
};

bool is_launch_function(const char* name) noexcept {
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [name](const char* each) { return end_of_function(name, each) != nullptr; });
}

void prepare_launch_stacks() noexcept {
    void* frame = nullptr;
    backtrace(&frame, 1);  // the C library loads the unwinder now
}

std::uint64_t stack_of_this_thread(EventRing& ring) noexcept {
    if (ring.launches == nullptr) ring.launches = new (std::nothrow) LaunchReader;
    std::uint64_t stack = ring.launches != nullptr ? ring.launches->read(ring) : 0;
    if (stack == 0) without_stack.fetch_add(1, std::memory_order_relaxed);
    return stack;
}

void enter_launch(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept {
    if (!entered_launch.enter(call, domain, opening) || !window().open()) return;
    EventRing* ring = EventRing::of_this_thread();
    if (ring == nullptr) return;
    OverheadTimer timed;
    std::uint64_t stack = stack_of_this_thread(*ring);
    if (stack == 0) return;
    spool::HostEvent event = event_of(spool::HostEventOp::launch_stack, stack);
    event.domain = call.correlation;
    ring->add(event, {});
}

void leave_launch(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept {
    entered_launch.leave(call, domain, opening);
}

std::uint64_t launches_without_stack() noexcept { return without_stack.load(std::memory_order_relaxed); }

}  // namespace gpuprof::inject
