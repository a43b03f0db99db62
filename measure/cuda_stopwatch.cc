#include "measure/cuda_stopwatch.h"

namespace gpuprof::measure {
namespace {

constexpr DurNs kBlockTimeout = 200'000'000, kLapArrival = 5'000;  // a launch reaches an idle device within a few us

}  // namespace

Result<CudaStopwatch> CudaStopwatch::open(const HostClock& clock) {
    Result<cuda::Api> api = cuda::load_api();
    if (!api.ok()) return api.error();
    CudaStopwatch made(clock);
    made.api_ = std::make_unique<cuda::Api>(std::move(*api));
    return made;
}

// Events belong to a context, and the current context may have changed.
Status CudaStopwatch::open_events() {
    cuda::Context current = nullptr;
    if (Status asked = api_->context_current(&current); !asked) return asked;
    if (current == nullptr) return cuda::explain("cuCtxGetCurrent", 201);
    if (current == context_) return {};
    begin_ = end_ = nullptr;  // the other context frees what belongs to it
    block_ = cuda::Block();
    if (Status made = api_->event_create(&begin_, 0); !made) return made;
    if (Status made = api_->event_create(&end_, 0); !made) return made;
    context_ = current;
    return {};
}

Status CudaStopwatch::start(std::uint64_t stream, bool hold) {
    if (Status opened = open_events(); !opened) return opened;
    if (hold && !block_.is_open())
        if (Status opened = block_.open(*api_); !opened) return opened;
    stream_ = reinterpret_cast<cuda::Stream>(static_cast<std::uintptr_t>(stream));
    lap_ = Lap{.held = hold};
    if (Status waited = api_->context_synchronize(); !waited) return waited;
    TimeNs idle = clock_.now();
    if (Status waited = api_->context_synchronize(); !waited) return waited;
    lap_.idle_wait_ns = static_cast<double>(clock_.now() - idle);
    if (hold)
        if (Status held = block_.hold(stream_, kBlockTimeout); !held) return held;
    return api_->event_record(begin_, stream_);
}

Status CudaStopwatch::stop() {
    Status marked = api_->event_record(end_, stream_);
    // The last enqueued work must arrive before the first of it starts.
    if (lap_.held) clock_.sleep(kLapArrival);
    block_.release();
    return marked;
}

Result<Lap> CudaStopwatch::read() {
    if (Status waited = api_->event_synchronize(end_); !waited) return waited.error();
    TimeNs ended = clock_.now();
    if (Status waited = api_->context_synchronize(); !waited) return waited.error();
    lap_.beyond_ns = static_cast<double>(clock_.now() - ended);
    float milliseconds = 0;
    if (Status asked = api_->event_elapsed(&milliseconds, begin_, end_); !asked) return asked.error();
    lap_.device_ns = static_cast<double>(milliseconds) * 1e6;
    lap_.held = lap_.held && block_.held();
    return lap_;
}

void CudaStopwatch::close() {
    if (!api_) return;  // moved from
    // Failures cannot be reported here: the program continues, or the driver is already gone.
    block_.release();
    if (begin_ != nullptr) (void)api_->event_destroy(begin_);
    if (end_ != nullptr) (void)api_->event_destroy(end_);
    block_.close();
    begin_ = end_ = nullptr;
}

}  // namespace gpuprof::measure
