// The driver's functions that timing needs, over the simulated device of sim.h, and fake_cuda_*() by which tests steer it.
// One lock for all of it.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "tests/fakes/cuda/sim.h"
#include "tests/fakes/cupti/faults.h"

namespace {

using namespace fake_cuda;

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kNotFound = 500, kCaptureUnsupported = 900;
constexpr int kCaptureInvalidated = 901, kNotReady = 600, kInvalidHandle = 400;
constexpr int kL2CacheSize = 38;

std::mutex& lock() {
    static std::mutex& made = *new std::mutex;
    return made;
}

struct Function {
    std::string name;
};
struct Module {
    std::map<std::string, std::unique_ptr<Function>> functions;
};

int primary = 0;
thread_local void* current_context = nullptr;

// Begins a function: the lock, the count, the requested failure.
#define BEGIN_CALL(name, launches)             \
    fake_cuda_tell(name);                      \
    std::lock_guard<std::mutex> guard(lock()); \
    if (int code = sim().enter(name, launches)) return code
#define BEGIN(name) BEGIN_CALL(name, false)
#define BEGIN_LAUNCH(name) BEGIN_CALL(name, true)

int put(void* handle, Op op) {
    Stream& stream = sim().stream(handle);
    if (stream.capturing != nullptr) {
        if (op.kind == Op::record) return kCaptureUnsupported;
        stream.capturing->ops.push_back(op);
    } else {
        sim().submit(stream, op);
    }
    return 0;
}

// What waits for a stream that is being captured spoils the capture, as with the driver.
bool spoils(Stream& stream) {
    if (stream.capturing == nullptr) return false;
    return stream.spoilt = true;
}

}  // namespace

int fake_cuda_enter(const char* function) {
    BEGIN(function);
    return 0;
}

std::string fake_cuda_name() {
    std::lock_guard<std::mutex> guard(lock());
    return sim().name.empty() ? "Fake GPU" : sim().name;
}

#pragma GCC visibility push(default)
extern "C" {

int cuCtxGetCurrent(void** context) {
    BEGIN("cuCtxGetCurrent");
    *context = current_context != nullptr ? current_context : sim().current ? &primary : nullptr;
    return 0;
}
int cuCtxSetCurrent(void* context) {
    BEGIN("cuCtxSetCurrent");
    current_context = context;
    return 0;
}
int cuCtxGetDevice(int* device) {
    BEGIN("cuCtxGetDevice");
    if (current_context == nullptr && !sim().current) return kInvalidContext;
    *device = 0;
    return 0;
}
int cuCtxSynchronize() {
    BEGIN("cuCtxSynchronize");
    sim().wait_all();
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    BEGIN("cuDevicePrimaryCtxRetain");
    *context = &primary;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    BEGIN("cuDevicePrimaryCtxRelease_v2");
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    BEGIN("cuDeviceGetAttribute");
    auto found = sim().attributes.find(attribute);
    if (attribute != kL2CacheSize && found == sim().attributes.end()) return kInvalidValue;
    *value = attribute == kL2CacheSize ? static_cast<int>(sim().l2) : found->second;
    return 0;
}

int cuEventCreate(void** event, unsigned) {
    BEGIN("cuEventCreate");
    *event = new Event;
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<Event*>(event);  // also when it is to fail: nothing leaks in tests of failures
    BEGIN("cuEventDestroy_v2");
    return 0;
}
int cuEventRecord(void* event, void* stream) {
    BEGIN("cuEventRecord");
    Op op{Op::record};
    op.event = static_cast<Event*>(event);
    return put(stream, op);
}
// Events are of few streams in tests: waits for whichever holds them up.
int cuEventSynchronize(void* handle) {
    BEGIN("cuEventSynchronize");
    auto* event = static_cast<Event*>(handle);
    if (!event->recorded) sim().wait_all();
    sim().wait_until(event->time);
    return 0;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    BEGIN("cuEventElapsedTime");
    auto *from = static_cast<Event*>(begin), *to = static_cast<Event*>(end);
    if (!from->recorded || !to->recorded) return kNotReady;
    *milliseconds = static_cast<float>((to->time - from->time) / 1e6);
    return 0;
}
int cuStreamSynchronize(void* handle) {
    BEGIN("cuStreamSynchronize");
    Stream& stream = sim().stream(handle);
    if (spoils(stream)) return kCaptureUnsupported;
    sim().wait(stream);
    return 0;
}

int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
    BEGIN("cuMemAlloc_v2");
    if (sim().used + bytes > sim().memory) return kOutOfMemory;
    static std::uint64_t next = 0x7f0000000000;
    *pointer = next;
    next += bytes + 4096;
    sim().allocations[*pointer] = bytes;
    sim().used += bytes;
    return 0;
}
int cuMemFree_v2(std::uint64_t pointer) {
    BEGIN("cuMemFree_v2");
    auto found = sim().allocations.find(pointer);
    if (found == sim().allocations.end()) return kInvalidValue;
    sim().used -= found->second;
    sim().allocations.erase(found);
    return 0;
}
int cuMemsetD8Async(std::uint64_t, unsigned char, std::size_t bytes, void* stream) {
    BEGIN("cuMemsetD8Async");
    Op op{Op::memset};
    op.bytes = bytes;
    return put(stream, op);
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    BEGIN("cuMemGetInfo_v2");
    *total = sim().memory;
    *free = sim().memory - sim().used;
    return 0;
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    BEGIN("cuMemHostAlloc");
    *pointer = std::calloc(1, bytes);
    return 0;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* device, void* host, unsigned) {
    BEGIN("cuMemHostGetDevicePointer_v2");
    *device = reinterpret_cast<std::uint64_t>(host);
    return 0;
}
int cuMemFreeHost(void* pointer) {
    std::free(pointer);
    BEGIN("cuMemFreeHost");
    return 0;
}

int cuModuleLoadData(void** module, const void* image) {
    BEGIN("cuModuleLoadData");
    if (std::strncmp(static_cast<const char*>(image), ".version", 8) != 0) return kInvalidValue;
    *module = new Module;
    return 0;
}
int cuModuleUnload(void* module) {
    delete static_cast<Module*>(module);
    BEGIN("cuModuleUnload");
    return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    BEGIN("cuModuleGetFunction");
    if (std::strncmp(name, "kernel_", 7) != 0 && std::strcmp(name, "gpuprof_hold") != 0) return kNotFound;
    auto& made = static_cast<Module*>(module)->functions[name];
    if (!made) made = std::make_unique<Function>(Function{name});
    *function = made.get();
    return 0;
}
int cuLaunchKernel(void* handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** parameters, void**) {
    BEGIN_LAUNCH("cuLaunchKernel");
    const std::string& name = static_cast<Function*>(handle)->name;
    if (name != "gpuprof_hold") {
        Op op{Op::kernel};
        op.number = std::atoi(name.c_str() + 7);
        return put(stream, op);
    }
    Op op{Op::hold};
    op.words = reinterpret_cast<volatile std::uint32_t*>(*static_cast<std::uint64_t*>(parameters[0]));
    op.timeout = static_cast<double>(*static_cast<std::uint64_t*>(parameters[1]));
    return put(stream, op);
}

int cuStreamBeginCapture_v2(void* handle, int) {
    BEGIN("cuStreamBeginCapture_v2");
    if (handle == nullptr) return kCaptureUnsupported;
    Stream& stream = sim().stream(handle);
    stream.capturing = std::make_unique<Graph>();
    stream.spoilt = false;
    return 0;
}
int cuStreamIsCapturing(void* handle, int* status) {
    fake_cuda_tell("cuStreamIsCapturing");
    if (int code = fake_cupti::gate("cuStreamIsCapturing")) return code;
    std::lock_guard<std::mutex> guard(lock());
    *status = sim().stream(handle).capturing != nullptr ? 1 : 0;
    return 0;
}
int cuStreamEndCapture(void* handle, void** graph) {
    BEGIN("cuStreamEndCapture");
    Stream& stream = sim().stream(handle);
    if (stream.capturing == nullptr) return kInvalidHandle;
    std::unique_ptr<Graph> captured = std::move(stream.capturing);
    if (stream.spoilt) return kCaptureInvalidated;
    *graph = captured.release();
    return 0;
}
int cuGraphGetNodes(void* graph, void**, std::size_t* count) {
    BEGIN("cuGraphGetNodes");
    *count = static_cast<Graph*>(graph)->ops.size();
    return 0;
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
    BEGIN("cuGraphInstantiateWithFlags");
    *exec = new Graph(*static_cast<Graph*>(graph));
    return 0;
}
int cuGraphLaunch(void* exec, void* stream) {
    BEGIN_LAUNCH("cuGraphLaunch");
    for (const Op& op : static_cast<Graph*>(exec)->ops) put(stream, op);
    return 0;
}
int cuGraphExecDestroy(void* exec) {
    delete static_cast<Graph*>(exec);
    BEGIN("cuGraphExecDestroy");
    return 0;
}
int cuGraphDestroy(void* graph) {
    delete static_cast<Graph*>(graph);
    BEGIN("cuGraphDestroy");
    return 0;
}

// Statements of sim.h; with `anew` after forgetting everything but what was allocated. 0: understood.
int fake_cuda_set(const char* lines, int anew) {
    std::lock_guard<std::mutex> guard(lock());
    if (anew != 0) sim() = Sim(), current_context = nullptr;
    return sim().set(lines) ? 0 : 1;
}
// What cuLaunchKernel of "kernel_N" does.
int fake_cuda_launch(int number, void* stream) {
    BEGIN_LAUNCH("cuLaunchKernel");
    Op op{Op::kernel};
    op.number = number;
    return put(stream, op);
}
// The simulated host's clock, and work and sleep of the host.
std::int64_t fake_cuda_now() {
    std::lock_guard<std::mutex> guard(lock());
    return static_cast<std::int64_t>(sim().host);
}
void fake_cuda_spend(std::int64_t ns) {
    std::lock_guard<std::mutex> guard(lock());
    sim().host += static_cast<double>(ns);
}
// Whether `throttle` is on now.
int fake_cuda_throttled() {
    std::lock_guard<std::mutex> guard(lock());
    return sim().host >= sim().throttle_from && sim().host < sim().throttle_to;
}
// How often a function of the driver was called.
std::int64_t fake_cuda_calls(const char* function) {
    std::lock_guard<std::mutex> guard(lock());
    return sim().calls[function];
}
// Bytes of device memory that are allocated.
std::size_t fake_cuda_allocated() {
    std::lock_guard<std::mutex> guard(lock());
    return sim().used;
}
}
#pragma GCC visibility pop
