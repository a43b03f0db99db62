#include "measure/cuda_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/cuda_api.h"
#include "measure/cuda_block.h"

namespace gpuprof::measure {
namespace {

using namespace cuda;

// The queue of a stream holds about a thousand launches, and one call may need several. If a batch does not fit, the
// block times out and the batch is halved.
constexpr std::int64_t kMaxQueueDepth = 512;
constexpr DurNs kArrival = 5'000;       // a launch reaches an idle device within a few us
constexpr int kThreadLocalCapture = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads are unrestricted

class CudaTimer : public Timer {
public:
    CudaTimer(const CudaOptions& options, const HostClock& clock) : options_(options), clock_(clock) {}
    ~CudaTimer() override { close(); }
    Status open();

    std::string_view name() const override { return "cuda events"; }
    const HostClock& clock() const override { return clock_; }
    std::int64_t max_batch(const Work& work) const override {
        return options_.cold || work.prepare != nullptr ? 1 : kMaxQueueDepth;
    }
    DurNs min_sample_time() const override { return 100'000; }
    Status start() override { return make_current(); }
    Result<TimedSample> warm_up(const Work& work) override;
    Status set_up(const Work& work, std::int64_t batch) override;
    Result<TimedSample> sample(const Work& work, std::int64_t batch) override;
    std::int64_t usable_batch(std::int64_t batch) const override { return std::min(batch, limit_); }
    void finish() override;
    std::vector<std::string> notes() const override { return notes_; }
    bool flushes() const override { return flush_bytes_ > 0; }
    bool replays_graph() const override { return options_.graph; }
    bool blocks() const override { return blocking_; }
    std::string device_name() const override { return device_name_; }
    std::int32_t device() const override { return device_; }
    std::optional<Hardware> hardware() const override;
    Result<DeviceMemory> memory() override;

private:
    struct Captured {
        GraphExec exec = nullptr;
        std::int64_t batch = 0;
    };
    Status open_context();
    Status open_flush();
    Status make_current();
    Status capture(const Work& work, std::int64_t batch, Captured& to);
    Status enqueue(const Work& work, std::int64_t batch, bool hold, double& host_ns);
    Status call_or_launch(const Work& work, std::int64_t batch);
    Result<double> elapsed() const;
    DurNs timeout(std::int64_t batch) const;
    void give_in(std::int64_t batch);
    void close();

    CudaOptions options_;
    HostClock clock_;
    Api api_;
    Context context_ = nullptr;
    bool retained_ = false, made_current_ = false;
    Device device_ = -1;
    std::string device_name_;
    Stream stream_ = nullptr;
    Event begin_ = nullptr, end_ = nullptr;
    Block block_;
    bool blocking_ = false;
    int gave_up_ = 0;  // consecutive timeouts of the block with a batch of one call
    DevicePointer flush_ = 0;
    std::size_t flush_bytes_ = 0;
    double host_ns_ = 0;  // recent host time of one call in the warm-up, biased to long ones
    bool called_ = false;
    std::int64_t limit_ = 1 << 30;
    std::map<const Work*, Captured> graphs_;
    std::vector<std::string> notes_;
};

Status CudaTimer::open() {
    Result<Api> api = load_api();
    if (!api.ok()) return api.error();
    api_ = std::move(*api);
    if (Status ready = api_.init(0); !ready) return ready;
    if (Status ready = open_context(); !ready) return ready;
    stream_ = reinterpret_cast<Stream>(static_cast<std::uintptr_t>(options_.stream));
    if (Status made = api_.event_create(&begin_, 0); !made) return made;
    if (Status made = api_.event_create(&end_, 0); !made) return made;
    if (options_.cold)
        if (Status made = open_flush(); !made) return made;
    if (!options_.blocking) return {};
    Status made = block_.open(api_);
    blocking_ = made.ok();
    return made;
}

Status CudaTimer::open_context() {
    if (Status asked = api_.context_current(&context_); !asked) return asked;
    if (context_ == nullptr) {
        int count = 0;
        if (Status asked = api_.device_count(&count); !asked) return asked;
        if (count == 0) return explain("cuDeviceGetCount", 100);
        if (Status asked = api_.device_get(&device_, options_.device); !asked) return asked;
        if (Status made = api_.primary_retain(&context_, device_); !made) return made;
        retained_ = true;
        if (Status made = make_current(); !made) return made;
    } else if (Status asked = api_.context_device(&device_); !asked) {
        return asked;
    }
    char name[256] = "";
    if (Status asked = api_.device_name(name, sizeof name, device_); !asked) return asked;
    device_name_ = name;
    return {};
}

Status CudaTimer::open_flush() {
    int bytes = 0;
    if (Status asked = api_.device_attribute(&bytes, kL2CacheSize, device_); !asked) return asked;
    if (bytes <= 0) {
        notes_.push_back("the driver does not report the size of the L2 cache, so it is not flushed and times are hot");
        return {};
    }
    if (Status made = api_.memory_alloc(&flush_, static_cast<std::size_t>(bytes)); !made) return made;
    flush_bytes_ = static_cast<std::size_t>(bytes);
    return {};
}

std::optional<Hardware> CudaTimer::hardware() const {
    auto attribute = [&](int which) -> std::optional<int> {
        int value = 0;
        if (Status asked = api_.device_attribute(&value, which, device_); !asked) return std::nullopt;
        return value;
    };
    Hardware found{.name = device_name_,
                   .cc_major = attribute(kCapabilityMajor),
                   .cc_minor = attribute(kCapabilityMinor),
                   .num_sms = attribute(kMultiprocessorCount),
                   .memory_clock_khz = attribute(kMemoryClockRate),
                   .memory_bus_bits = attribute(kMemoryBusWidth)};
    std::size_t free = 0, total = 0;
    if (api_.memory_query(&free, &total)) found.memory_bytes = total;
    return found;
}

Status CudaTimer::make_current() {
    Context current = nullptr;
    if (Status asked = api_.context_current(&current); !asked) return asked;
    if (current == context_) return {};
    if (current != nullptr)
        return Error{
            ExitCode::usage,
            "the current CUDA context differs from that at the opening of the bench; open one bench per context"};
    made_current_ = true;
    return api_.context_set_current(context_);
}

// Timeout of the block: many times the host time of the calls in the warm-up.
DurNs CudaTimer::timeout(std::int64_t batch) const {
    constexpr double kMin_ns = 100e6, kMax_ns = 10e9;
    return static_cast<DurNs>(std::clamp(50 * host_ns_ * static_cast<double>(batch), kMin_ns, kMax_ns));
}

Status CudaTimer::call_or_launch(const Work& work, std::int64_t batch) {
    auto graph = graphs_.find(&work);
    if (graph != graphs_.end() && graph->second.batch == batch) return api_.graph_launch(graph->second.exec, stream_);
    for (std::int64_t i = 0; i < batch; ++i)
        if (Status done = call(work, work.call); !done) return done;
    return {};
}

Status CudaTimer::enqueue(const Work& work, std::int64_t batch, bool hold, double& host_ns) {
    if (Status prepared = call(work, work.prepare); !prepared) return prepared;
    if (hold)
        if (Status held = block_.hold(stream_, timeout(batch)); !held) return held;
    if (flush_bytes_ > 0)
        if (Status flushed = api_.memory_set(flush_, 0, flush_bytes_, stream_); !flushed) return flushed;
    if (Status marked = api_.event_record(begin_, stream_); !marked) return marked;
    TimeNs begun = clock_.now();
    if (Status called = call_or_launch(work, batch); !called) return called;
    host_ns = static_cast<double>(clock_.now() - begun) / static_cast<double>(batch);
    return api_.event_record(end_, stream_);
}

Result<double> CudaTimer::elapsed() const {
    if (Status waited = api_.event_synchronize(end_); !waited) return waited.error();
    float milliseconds = 0;
    if (Status asked = api_.event_elapsed(&milliseconds, begin_, end_); !asked) return asked.error();
    return static_cast<double>(milliseconds) * 1e6;
}

Result<TimedSample> CudaTimer::warm_up(const Work& work) {
    TimedSample shot;
    if (Status queued = enqueue(work, 1, false, shot.host_ns); !queued) return queued.error();
    Result<double> time = elapsed();
    if (!time.ok()) return time.error();
    TimeNs ended = clock_.now();
    if (Status waited = api_.context_synchronize(); !waited) return waited.error();
    shot.stray_ns = static_cast<double>(clock_.now() - ended);
    shot.ns = *time;
    // Older calls count less and less: the second call may have run a compiler.
    if (called_) host_ns_ = std::max(host_ns_ * 0.7, shot.host_ns);
    called_ = true;
    return shot;
}

Status CudaTimer::capture(const Work& work, std::int64_t batch, Captured& to) {
    if (Status begun = api_.begin_capture(stream_, kThreadLocalCapture); !begun) return begun;
    Status called;
    for (std::int64_t i = 0; i < batch && called; ++i) called = call(work, work.call);
    Graph graph = nullptr;
    Status ended = api_.end_capture(stream_, &graph);  // also after a failure, so that the stream becomes usable again
    if (!called) return called;
    if (!ended) return ended;
    std::size_t nodes = 0;
    Status made = api_.graph_nodes(graph, nullptr, &nodes);
    if (made && nodes == 0)
        made = Error{ExitCode::usage,
                     fmt::format("'{}' enqueued nothing on the stream during capture; check that it is the stream that "
                                 "the work uses",
                                 work.name)};
    if (made) made = api_.graph_instantiate(&to.exec, graph, 0);
    Status freed = api_.graph_destroy(graph);
    to.batch = batch;
    return made ? freed : made;
}

Status CudaTimer::set_up(const Work& work, std::int64_t batch) {
    if (!options_.graph) return {};
    Captured& graph = graphs_[&work];
    if (graph.exec != nullptr) (void)api_.graph_exec_destroy(graph.exec);
    graph = {};
    return capture(work, batch, graph);
}

// The block timed out: the work waits for the device, or the queue is full.
void CudaTimer::give_in(std::int64_t batch) {
    if (batch > 1) {
        limit_ = std::min(limit_, batch / 2);
        return;
    }
    // A single timeout may be chance: a pause of the host, or garbage collection.
    if (++gave_up_ < 2) return;
    blocking_ = false;
    notes_.push_back(
        "the function waits for the device or overflows the launch queue: timed without the blocking "
        "kernel, so times include gaps between launches");
}

Result<TimedSample> CudaTimer::sample(const Work& work, std::int64_t batch) {
    TimedSample shot;
    bool hold = blocking_;
    Status queued = enqueue(work, batch, hold, shot.host_ns);
    // The last enqueued work must arrive before the first of it starts, or it starts late.
    if (hold && queued) clock_.sleep(kArrival);
    block_.release();
    if (!queued) return queued.error();
    Result<double> time = elapsed();
    if (!time.ok()) return time.error();
    shot.ns = *time / static_cast<double>(batch);
    shot.valid = !hold || block_.held();
    if (!shot.valid)
        give_in(batch);
    else if (hold)
        gave_up_ = 0;
    return shot;
}

void CudaTimer::finish() {
    for (auto& [work, graph] : graphs_)
        if (graph.exec != nullptr) (void)api_.graph_exec_destroy(graph.exec);
    graphs_.clear();
}

Result<DeviceMemory> CudaTimer::memory() {
    if (Status current = make_current(); !current) return current.error();
    std::size_t free = 0, total = 0;
    if (Status asked = api_.memory_query(&free, &total); !asked) return asked.error();
    return DeviceMemory{free, total};
}

void CudaTimer::close() {
    // Failures cannot be reported here: the program continues, or the driver is already gone.
    if (context_ != nullptr) (void)make_current();
    finish();
    if (begin_ != nullptr) (void)api_.event_destroy(begin_);
    if (end_ != nullptr) (void)api_.event_destroy(end_);
    if (flush_ != 0) (void)api_.memory_free(flush_);
    block_.close();
    if (made_current_) (void)api_.context_set_current(nullptr);
    if (retained_) (void)api_.primary_release(device_);
}

}  // namespace

Result<std::unique_ptr<Timer>> make_cuda_timer(const CudaOptions& options, const HostClock& clock) {
    auto timer = std::make_unique<CudaTimer>(options, clock);
    if (Status opened = timer->open(); !opened) return opened.error();
    return std::unique_ptr<Timer>(std::move(timer));
}

}  // namespace gpuprof::measure
