// A second CUPTI client that behaves as Kineto, the library under torch.profiler, does: it calls libcupti through dynamic symbols,
// hands out buffers from a list of its own and refuses to take back what it did not hand out, registers a clock of its own,
// subscribes to callbacks about contexts, switches whole kinds on and some functions off, pushes external correlation ids, flushes only when a buffer is out, and
// finalizes CUPTI at the end. What it got is written as JSON. FAKE_KINETO, words between spaces, makes it another client:
//
//   dlsym     looks its functions up in libcupti itself, as XLA does
//   path      looks them up in the libcupti.so in the folder TRITON_CUPTI_LIB_PATH, as Proton does
//   v2        uses CUPTI's second interface, as XLA does
//   alone     does not allow other subscribers (v2)
//   forced    flushes with the flag that hands over unfinished records
//   push      pushes its external id before anything else, and asks for the time
//   contexts  switches its kinds on for one context
//
// Source of the behaviour: CuptiActivityApi.cpp, CuptiCallbackApi.cpp and CuptiActivityProfiler.cpp of pytorch/kineto.
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using RequestBuffer = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using CompleteBuffer = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using RequestBufferV2 = void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
using CompleteBufferV2 = void (*)(std::uint8_t*, std::size_t, std::size_t, void*);
using Callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);

#define FUNCTION(name, arguments) extern "C" int name arguments;
#include "tests/fakes/kineto/functions.def"
#undef FUNCTION

namespace {

constexpr std::uint32_t kMemcpy = 1, kMemset = 2, kDriver = 4, kRuntime = 5, kKernel = 10, kOverhead = 17,
                        kExternal = 39;
constexpr std::uint32_t kKinds[] = {kKernel, kMemcpy, kMemset, kRuntime, kDriver, kOverhead, kExternal};
constexpr std::uint32_t kRuntimeDomain = 2, kResourceDomain = 3, kContextCreated = 1, kCustom0 = 3,
                        kTimestampCallback = 22;
constexpr std::size_t kBytes = 256 * 1024;

// What it calls: linked, or looked up.
struct Functions {
#define FUNCTION(name, arguments) int(*name) arguments = ::name;
#include "tests/fakes/kineto/functions.def"
#undef FUNCTION
    bool dlsym = says("dlsym"), v2 = says("v2"), alone = says("alone"), forced = says("forced"), push = says("push"),
         contexts = says("contexts");
    void* subscriber = nullptr;

    Functions() {
        void* library = dlsym ? dlopen("libcupti.so.13", RTLD_NOW) : nullptr;
        const char* folder = std::getenv("TRITON_CUPTI_LIB_PATH");
        if (says("path") && folder != nullptr)
            library = dlopen((std::string(folder) + "/libcupti.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return;
#define FUNCTION(name, arguments) name = reinterpret_cast<int(*) arguments>(::dlsym(library, #name));
#include "tests/fakes/kineto/functions.def"
#undef FUNCTION
    }
    static bool says(const char* word) {
        const char* words = std::getenv("FAKE_KINETO");
        return words != nullptr &&
               (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
    }
};
Functions& cupti() {
    static Functions& made = *new Functions;
    return made;
}

struct Got {
    std::mutex lock;
    std::map<std::uint8_t*, std::size_t> out, ready;  // handed out; back, with how much is valid
    std::size_t unknown = 0, buffers = 0;
    int refused = 0;  // the first code that was not success
    std::map<std::uint32_t, std::size_t> records;
    std::uint64_t kernel_ticks = 0, first_tick = ~std::uint64_t{0}, last_tick = 0, begun = 0, ended = 0, last_id = 0;
    std::size_t dropped = 0, unfinished = 0;
    std::atomic<std::size_t> callbacks{0};
    std::string file;
};
Got& got() {
    static Got& made = *new Got;
    return made;
}

// Two ticks a nanosecond since the machine began, like a CPU's time-stamp counter.
std::uint64_t ticks() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return 2 * (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec));
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
    std::memset(*buffer, 0, kBytes);
    *size = kBytes;
    *max_records = 0;
    std::lock_guard<std::mutex> held(got().lock);
    got().out[*buffer] = 0;
}

void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    std::lock_guard<std::mutex> held(got().lock);
    if (got().out.erase(buffer) == 0) {
        ++got().unknown;
        std::fprintf(stderr, "fake kineto: bufferCompleted called with unknown buffer\n");
        return;
    }
    got().ready[buffer] = valid;
}

void request_v2(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*) {
    request(buffer, size, max_records);
}
void complete_v2(std::uint8_t* buffer, std::size_t size, std::size_t valid, void*) {
    complete(nullptr, 0, buffer, size, valid);
}

void called_back(void*, std::uint32_t, std::uint32_t, const void*) { ++got().callbacks; }

void check(int code) {
    if (code != 0 && got().refused == 0) got().refused = code;
}

template <class T>
T field(const std::uint8_t* record, std::size_t offset) {
    T value{};
    std::memcpy(&value, record + offset, sizeof value);
    return value;
}

void read_buffer(std::uint8_t* bytes, std::size_t valid) {
    std::uint8_t* record = nullptr;
    auto next = [&] {
        return cupti().v2 ? cupti().cuptiActivityGetNextRecord_v2(cupti().subscriber, bytes, valid, &record)
                          : cupti().cuptiActivityGetNextRecord(bytes, valid, &record);
    };
    while (next() == 0 && record != nullptr) {
        auto kind = field<std::uint32_t>(record, 0);
        ++got().records[kind];
        if (kind == kExternal) got().last_id = field<std::uint64_t>(record, 8);
        if (kind != kKernel) continue;
        auto start = field<std::uint64_t>(record, 16), end = field<std::uint64_t>(record, 24);
        got().unfinished += end == 0;
        got().kernel_ticks += end - start;
        if (start < got().first_tick) got().first_tick = start;
        if (end > got().last_tick) got().last_tick = end;
    }
}

void write_answer() {
    std::FILE* file = std::fopen(got().file.c_str(), "w");
    if (file == nullptr) return;
    std::fprintf(file, "{\"refused\": %d, \"unknown\": %zu, \"buffers\": %zu, \"kernel_ns\": %llu, ", got().refused,
                 got().unknown, got().buffers, static_cast<unsigned long long>(got().kernel_ticks / 2));
    bool inside = got().first_tick >= got().begun && got().last_tick <= got().ended + 2'000'000'000;
    std::fprintf(file, "\"dropped\": %zu, \"unfinished\": %zu, \"last_id\": %llu, \"callbacks\": %zu, ", got().dropped,
                 got().unfinished, static_cast<unsigned long long>(got().last_id), got().callbacks.load());
    std::fprintf(file, "\"times_inside\": %s, \"records\": {", inside ? "true" : "false");
    const char* between = "";
    for (auto [kind, count] : got().records) {
        std::fprintf(file, "%s\"%u\": %zu", between, kind, count);
        between = ", ";
    }
    std::fputs("}}\n", file);
    std::fclose(file);
}

void start_v1() {
    Functions& c = cupti();
    if (c.push) {
        std::uint64_t now = 0;
        check(c.cuptiActivityPushExternalCorrelationId(kCustom0, 4711));
        check(c.cuptiGetTimestamp(&now));
    }
    int code = c.cuptiSubscribe(&c.subscriber, called_back, nullptr);
    check(code);
    if (code == 0) check(c.cuptiEnableCallback(1, c.subscriber, kResourceDomain, kContextCreated));
    check(c.cuptiActivityRegisterTimestampCallback(ticks));
    check(c.cuptiActivityRegisterCallbacks(request, complete));
    for (std::uint32_t kind : kKinds)
        check(c.contexts ? c.cuptiActivityEnableContext(&got(), kind) : c.cuptiActivityEnable(kind));
    for (std::uint32_t cbid = 1; cbid < 2000; ++cbid) {
        const char* name = nullptr;
        if (c.cuptiGetCallbackName(kRuntimeDomain, cbid, &name) != 0 || name == nullptr) continue;
        if (std::strncmp(name, "cudaGetDevice", 13) == 0 || std::strncmp(name, "cudaGetLastError", 16) == 0)
            check(c.cuptiActivityEnableRuntimeApi(cbid, 0));
    }
    if (!c.push) c.cuptiActivityPushExternalCorrelationId(kCustom0, 4711);
}

void start_v2() {
    Functions& c = cupti();
    char holder[64] = {};
    struct {
        std::size_t bytes;
        const char* name;
        char* old_name;
        std::size_t old_name_bytes;
        std::uint8_t allow_others, padding[7];
    } params{sizeof params, "fake XLA", holder, sizeof holder, static_cast<std::uint8_t>(!c.alone), {}};
    check(c.cuptiSubscribe_v2(&c.subscriber, called_back, nullptr, &params));
    check(c.cuptiEnableCallback(1, c.subscriber, kResourceDomain, kContextCreated));
    auto clock = ticks;
    std::size_t bytes = sizeof clock;
    check(c.cuptiActivitySetAttribute_v2(c.subscriber, kTimestampCallback, &bytes, &clock));
    check(c.cuptiActivityRegisterCallbacks_v2(c.subscriber, request_v2, complete_v2));
    for (std::uint32_t kind : kKinds) check(c.cuptiActivityEnable_v2(c.subscriber, kind, nullptr));
    for (std::uint32_t cbid = 1; cbid < 2000; ++cbid) {
        const char* name = nullptr;
        if (c.cuptiGetCallbackName(kRuntimeDomain, cbid, &name) != 0 || name == nullptr) continue;
        if (std::strncmp(name, "cudaGetDevice", 13) == 0 || std::strncmp(name, "cudaGetLastError", 16) == 0)
            check(c.cuptiActivityEnableRuntimeApi_v2(c.subscriber, cbid, 0));
    }
    c.cuptiActivityPushExternalCorrelationId_v2(c.subscriber, kCustom0, 4711);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void fake_kineto_start(const char* file) {
    got().file = file;
    got().begun = ticks();
    cupti().v2 ? start_v2() : start_v1();
}

__attribute__((visibility("default"))) void fake_kineto_stop() {
    Functions& c = cupti();
    std::uint64_t last = 0;
    if (c.v2)
        c.cuptiActivityPopExternalCorrelationId_v2(c.subscriber, kCustom0, &last);
    else
        c.cuptiActivityPopExternalCorrelationId(kCustom0, &last);
    for (std::uint32_t kind : kKinds)
        check(c.v2         ? c.cuptiActivityDisable_v2(c.subscriber, kind, nullptr)
              : c.contexts ? c.cuptiActivityDisableContext(&got(), kind)
                           : c.cuptiActivityDisable(kind));
    bool any = false;
    {
        std::lock_guard<std::mutex> held(got().lock);
        any = !got().out.empty() || !got().ready.empty();
    }
    if (any) check(c.cuptiActivityFlushAll(c.forced ? 1 : 0));
    got().ended = ticks();
    for (auto [bytes, valid] : got().ready) {
        ++got().buffers;
        read_buffer(bytes, valid);
    }
    if (c.v2) {
        check(c.cuptiActivityGetNumDroppedRecords_v2(c.subscriber, nullptr, 0, &got().dropped));
        check(c.cuptiUnsubscribe(c.subscriber));
    } else {
        check(c.cuptiActivityGetNumDroppedRecords(nullptr, 0, &got().dropped));
        if (!c.dlsym || got().refused == 0) c.cuptiFinalize();
    }
    write_answer();
}
}
