#include "collect/inject/counters/range_session.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpuprof::inject {
namespace {

constexpr std::size_t kRanges = 8;  // of one measurement: one is expected, more mean that launches mixed

}  // namespace

// CUPTI looks for these by bare name, and the loader may not search their folder.
void load_range_libraries(const char* cupti) noexcept {
    const char* end = std::strrchr(cupti, '/');
    if (end == nullptr) return;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
        char path[1024];
        std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(end - cupti), cupti, name);
        dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
    }
}

RangeSession::Failure RangeSession::find_device(const Cupti& cupti, void* context) noexcept {
    context_ = context;
    range::ProfilerInitialize initialize;
    GPUPROF_CUPTI_CALL(cuptiProfilerInitialize, initialize);
    if (cupti.cuptiGetDeviceId == nullptr || cupti.cuptiGetDeviceId(context, &device_) != kCuptiSuccess) device_ = 0;
    range::GetChipName name;
    name.device = device_;
    GPUPROF_CUPTI_CALL(cuptiDeviceGetChipName, name);
    chip_ = name.chip != nullptr ? name.chip : "";
    return {};
}

RangeSession::Failure RangeSession::enable(const Cupti& cupti, CacheMode cache, std::uint32_t version) noexcept {
    if (version < range::kFirstVersionWithCache) {
        range::EnableRanges enable;
        enable.context = context_;
        GPUPROF_CUPTI_CALL(cuptiRangeProfilerEnable, enable);
        object_ = enable.object;
        return {};
    }
    range::EnableRangesWithCache enable;
    enable.context = context_;
    enable.cache = cache == CacheMode::flush ? enable.kFlushAll : enable.kNone;
    // The structure begins with that of older versions.
    auto* as_older = reinterpret_cast<range::EnableRanges*>(&enable);
    int code = cupti.cuptiRangeProfilerEnable == nullptr ? kFunctionMissing : cupti.cuptiRangeProfilerEnable(as_older);
    if (code != kCuptiSuccess) return {"cuptiRangeProfilerEnable", code};
    object_ = enable.object;
    return {};
}

RangeSession::Failure RangeSession::make_image(const Cupti& cupti, const CounterPlan& plan) noexcept {
    auto* names = static_cast<const char**>(std::calloc(plan.metrics.size(), sizeof(const char*)));
    if (names == nullptr) return {"calloc", kOutOfMemory};
    for (std::size_t i = 0; i < plan.metrics.size(); ++i) names[i] = plan.metrics[i].name.data();
    range::GetRangeDataSize size;
    size.object = object_;
    size.names = names;
    size.count = plan.metrics.size();
    size.max_ranges = kRanges;
    size.max_nodes = kRanges;
    int code = cupti.cuptiRangeProfilerGetCounterDataSize == nullptr
                   ? kFunctionMissing
                   : cupti.cuptiRangeProfilerGetCounterDataSize(&size);
    std::free(names);
    if (code != kCuptiSuccess) return {"cuptiRangeProfilerGetCounterDataSize", code};
    image_ = static_cast<std::uint8_t*>(std::calloc(1, size.bytes));
    if (image_ == nullptr) return {"calloc", kOutOfMemory};
    image_bytes_ = size.bytes;
    return {};
}

RangeSession::Failure RangeSession::open(const Cupti& cupti, const CounterPlan& plan, std::uint32_t version) noexcept {
    if (Failure failure = enable(cupti, plan.cache, version)) return failure;
    Failure failure = make_image(cupti, plan);
    if (failure) close(cupti);
    return failure;
}

RangeSession::Failure RangeSession::begin(const Cupti& cupti, const CounterPlan& plan, const char* range) noexcept {
    range::InitializeRangeImage empty;
    empty.object = object_;
    empty.bytes = image_bytes_;
    empty.image = image_;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerCounterDataImageInitialize, empty);
    range::SetRangeConfig config;
    config.object = object_;
    config.config_bytes = plan.config.size();
    config.config = reinterpret_cast<const std::uint8_t*>(plan.config.data());
    config.image_bytes = image_bytes_;
    config.image = image_;
    config.max_ranges = kRanges;
    if (range != nullptr) config.range = range::kUserRange, config.replay = range::kUserReplay;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerSetConfig, config);
    range::RangeParams start;
    start.object = object_;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerStart, start);
    if (range == nullptr) return {};
    range::PushRange push;
    push.object = object_;
    push.name = range;
    int code =
        cupti.cuptiRangeProfilerPushRange == nullptr ? kFunctionMissing : cupti.cuptiRangeProfilerPushRange(&push);
    in_user_range_ = code == kCuptiSuccess;
    if (in_user_range_) return {};
    (void)stop(cupti);
    return {"cuptiRangeProfilerPushRange", code};
}

// Every step is tried, so that a failing one does not leave the session running.
RangeSession::Failure RangeSession::end(const Cupti& cupti) noexcept {
    Failure popped = in_user_range_ ? pop(cupti) : Failure();
    Failure stopped = stop(cupti);
    if (popped || stopped) return popped ? popped : stopped;
    range::DecodeRanges decode;
    decode.object = object_;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerDecodeData, decode);
    dropped_ = static_cast<std::uint32_t>(decode.dropped);
    return {};
}

RangeSession::Failure RangeSession::pop(const Cupti& cupti) noexcept {
    in_user_range_ = false;
    range::RangeParams object;
    object.object = object_;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerPopRange, object);
    return {};
}

RangeSession::Failure RangeSession::stop(const Cupti& cupti) noexcept {
    range::StopRanges object;
    object.object = object_;
    stuck_ = true;
    GPUPROF_CUPTI_CALL(cuptiRangeProfilerStop, object);
    stuck_ = false;
    return {};
}

void RangeSession::close(const Cupti& cupti) noexcept {
    range::RangeParams object;
    object.object = object_;
    if (object_ != nullptr && cupti.cuptiRangeProfilerDisable != nullptr) cupti.cuptiRangeProfilerDisable(&object);
    std::free(image_);
    *this = RangeSession();
}

}  // namespace gpuprof::inject
