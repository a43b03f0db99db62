// A second CUPTI client that behaves as Kineto, the library under torch.profiler, does: it calls libcupti through dynamic symbols,
// hands out buffers from a list of its own and refuses to take back what it did not hand out, registers a clock of its own,
// subscribes to callbacks about contexts, switches whole kinds on and some functions off, pushes external correlation ids, flushes only when a buffer is out, and
// finalizes CUPTI at the end. What it got is written as JSON.
// Source of the behaviour: CuptiActivityApi.cpp, CuptiCallbackApi.cpp and CuptiActivityProfiler.cpp of pytorch/kineto.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

extern "C" {
int cuptiActivityRegisterCallbacks(void (*)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t));
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*)());
int cuptiActivityEnable(std::uint32_t);
int cuptiActivityDisable(std::uint32_t);
int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t);
int cuptiActivityFlushAll(std::uint32_t);
int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, std::uint8_t**);
int cuptiActivityPushExternalCorrelationId(std::uint32_t, std::uint64_t);
int cuptiActivityPopExternalCorrelationId(std::uint32_t, std::uint64_t*);
int cuptiGetCallbackName(std::uint32_t, std::uint32_t, const char**);
int cuptiSubscribe(void**, void (*)(void*, std::uint32_t, std::uint32_t, const void*), void*);
int cuptiEnableCallback(std::uint32_t, void*, std::uint32_t, std::uint32_t);
int cuptiFinalize();
}

namespace {

constexpr std::uint32_t kMemcpy = 1, kMemset = 2, kDriver = 4, kRuntime = 5, kKernel = 10, kOverhead = 17,
                        kExternal = 39;
constexpr std::uint32_t kKinds[] = {kKernel, kMemcpy, kMemset, kRuntime, kDriver, kOverhead, kExternal};
constexpr std::uint32_t kRuntimeDomain = 2, kResourceDomain = 3, kContextCreated = 1, kCustom0 = 3;
constexpr std::size_t kBytes = 256 * 1024;

struct Got {
    std::mutex lock;
    std::map<std::uint8_t*, std::size_t> out, ready;  // handed out; back, with how much is valid
    std::size_t unknown = 0, buffers = 0;
    int refused = 0;  // the first code that was not success
    std::map<std::uint32_t, std::size_t> records;
    std::uint64_t kernel_ticks = 0, first_tick = ~std::uint64_t{0}, last_tick = 0, begun = 0, ended = 0;
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

void called_back(void*, std::uint32_t, std::uint32_t, const void*) {}

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
    while (cuptiActivityGetNextRecord(bytes, valid, &record) == 0 && record != nullptr) {
        auto kind = field<std::uint32_t>(record, 0);
        ++got().records[kind];
        if (kind != kKernel) continue;
        auto start = field<std::uint64_t>(record, 16), end = field<std::uint64_t>(record, 24);
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
    std::fprintf(file, "\"times_inside\": %s, \"records\": {", inside ? "true" : "false");
    const char* between = "";
    for (auto [kind, count] : got().records) {
        std::fprintf(file, "%s\"%u\": %zu", between, kind, count);
        between = ", ";
    }
    std::fputs("}}\n", file);
    std::fclose(file);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void fake_kineto_start(const char* file) {
    got().file = file;
    got().begun = ticks();
    void* subscriber = nullptr;
    int code = cuptiSubscribe(&subscriber, called_back, nullptr);
    check(code);
    if (code == 0) check(cuptiEnableCallback(1, subscriber, kResourceDomain, kContextCreated));
    check(cuptiActivityRegisterTimestampCallback(ticks));
    check(cuptiActivityRegisterCallbacks(request, complete));
    for (std::uint32_t kind : kKinds) check(cuptiActivityEnable(kind));
    for (std::uint32_t cbid = 1; cbid < 2000; ++cbid) {
        const char* name = nullptr;
        if (cuptiGetCallbackName(kRuntimeDomain, cbid, &name) != 0 || name == nullptr) continue;
        if (std::strncmp(name, "cudaGetDevice", 13) == 0 || std::strncmp(name, "cudaGetLastError", 16) == 0)
            check(cuptiActivityEnableRuntimeApi(cbid, 0));
    }
    cuptiActivityPushExternalCorrelationId(kCustom0, 4711);
}

__attribute__((visibility("default"))) void fake_kineto_stop() {
    std::uint64_t last = 0;
    cuptiActivityPopExternalCorrelationId(kCustom0, &last);
    for (std::uint32_t kind : kKinds) check(cuptiActivityDisable(kind));
    bool any = false;
    {
        std::lock_guard<std::mutex> held(got().lock);
        any = !got().out.empty() || !got().ready.empty();
    }
    if (any) check(cuptiActivityFlushAll(0));
    got().ended = ticks();
    for (auto [bytes, valid] : got().ready) {
        ++got().buffers;
        read_buffer(bytes, valid);
    }
    cuptiFinalize();
    write_answer();
}
}
