#include "collect/inject/counters/counter_sessions.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/format/spool.h"

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
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiProfilerInitialize, initialize)) return failure;
    if (cupti.cuptiGetDeviceId == nullptr || cupti.cuptiGetDeviceId(context, &device_) != kCuptiSuccess) device_ = 0;
    range::GetChipName name;
    name.device = device_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiDeviceGetChipName, name)) return failure;
    chip_ = name.chip != nullptr ? name.chip : "";
    return {};
}

RangeSession::Failure RangeSession::enable(const Cupti& cupti, CacheMode cache, std::uint32_t version) noexcept {
    if (version < range::kFirstVersionWithCache) {
        range::EnableRanges enable;
        enable.context = context_;
        if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerEnable, enable)) return failure;
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
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerCounterDataImageInitialize, empty)) return failure;
    range::SetRangeConfig config;
    config.object = object_;
    config.config_bytes = plan.config.size();
    config.config = reinterpret_cast<const std::uint8_t*>(plan.config.data());
    config.image_bytes = image_bytes_;
    config.image = image_;
    config.max_ranges = kRanges;
    if (range != nullptr) {
        config.range = range::kUserRange;
        config.replay = range::kUserReplay;
    }
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerSetConfig, config)) return failure;
    range::RangeParams start;
    start.object = object_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerStart, start)) return failure;
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
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerDecodeData, decode)) return failure;
    dropped_ = static_cast<std::uint32_t>(decode.dropped);
    return {};
}

RangeSession::Failure RangeSession::pop(const Cupti& cupti) noexcept {
    in_user_range_ = false;
    range::RangeParams object;
    object.object = object_;
    return GPUPROF_CUPTI_CALL(cuptiRangeProfilerPopRange, object);
}

RangeSession::Failure RangeSession::stop(const Cupti& cupti) noexcept {
    range::StopRanges object;
    object.object = object_;
    stuck_ = true;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiRangeProfilerStop, object)) return failure;
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

namespace {

constexpr std::size_t kMaxRecords = 1 << 20;  // instructions of one launch; more is not a kernel
constexpr std::size_t kMaxKernelName = 4096;
constexpr std::uint64_t kUnwritten = ~std::uint64_t{0};  // no metric's id

}  // namespace

CuptiFailure SassSession::find_metrics(const Cupti& cupti, const CounterPlan& plan) noexcept {
    char chip[64] = {};
    if (plan.chip.size() >= sizeof chip || plan.metrics.size() > kMaxMetrics) return {"plan", kOutOfMemory};
    std::memcpy(chip, plan.chip.data(), plan.chip.size());
    for (std::size_t i = 0; i < plan.metrics.size(); ++i) {
        sass::GetProperties properties;
        properties.chip = chip;
        properties.name = plan.metrics[i].name.data();
        if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiSassMetricsGetProperties, properties)) return failure;
        ids_[i] = properties.metric.id;
    }
    count_ = plan.metrics.size();
    return {};
}

CuptiFailure SassSession::begin(const Cupti& cupti, const CounterPlan& plan, void* context,
                                std::uint32_t device) noexcept {
    context_ = context;
    device_ = device;
    dropped_ = 0;
    if (count_ == 0)
        if (CuptiFailure failure = find_metrics(cupti, plan)) return failure;
    sass::Config configs[kMaxMetrics];
    for (std::size_t i = 0; i < count_; ++i) configs[i].id = ids_[i];
    sass::SetConfig set;
    set.count = count_;
    set.configs = configs;
    set.device = device;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiSassMetricsSetConfig, set)) return failure;
    sass::Enable enable;
    enable.context = context;
    int code = cupti.cuptiSassMetricsEnable == nullptr ? kFunctionMissing : cupti.cuptiSassMetricsEnable(&enable);
    if (code == kCuptiSuccess) return {};
    (void)unset(cupti);
    return {"cuptiSassMetricsEnable", code};
}

CuptiFailure SassSession::end(const Cupti& cupti, const CounterPlan& plan, Scratch& payload) noexcept {
    payload.clear();
    CuptiFailure flushed = flush(cupti, plan, payload), ended = disable(cupti);
    if (!ended) ended = unset(cupti);
    stuck_ = static_cast<bool>(ended);
    return flushed ? flushed : ended;
}

CuptiFailure SassSession::flush(const Cupti& cupti, const CounterPlan& plan, Scratch& payload) noexcept {
    sass::GetDataProperties size;
    size.context = context_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiSassMetricsGetDataProperties, size)) return failure;
    if (size.records == 0) return {};
    if (size.records > kMaxRecords || size.instances > kMaxMetrics)
        return {"cuptiSassMetricsGetDataProperties", kOutOfMemory};
    // Whether the instances of several metrics follow each other in one record is unknown; there is room for it.
    std::size_t values = (size.instances == 0 ? 1 : size.instances) * count_;
    auto* records = static_cast<sass::Record*>(std::calloc(size.records, sizeof(sass::Record)));
    auto* memory = static_cast<sass::Value*>(std::calloc(size.records * values, sizeof(sass::Value)));
    sass::FlushData flush;
    flush.context = context_;
    flush.records = size.records;
    flush.instances = size.instances;
    flush.data = records;
    int code = kOutOfMemory;
    if (records != nullptr && memory != nullptr) {
        for (std::size_t i = 0; i < size.records; ++i) {
            records[i] = sass::Record();
            records[i].values = memory + i * values;
            for (std::size_t j = 0; j < values; ++j) records[i].values[j].metric = kUnwritten;
        }
        code = cupti.cuptiSassMetricsFlushData == nullptr ? kFunctionMissing : cupti.cuptiSassMetricsFlushData(&flush);
    }
    if (code == kCuptiSuccess) {
        spool::SassCounts about{device_, static_cast<std::uint32_t>(count_)};
        payload.add(about);
        for (const PlannedMetric& metric : plan.metrics) payload.add_entry(metric.name, metric.unit);
        for (std::size_t i = 0; i < size.records; ++i) add_record(records[i], values, payload);
    }
    std::free(records);
    std::free(memory);
    if (code != kCuptiSuccess) return {"cuptiSassMetricsFlushData", code};
    return {};
}

void SassSession::add_record(const sass::Record& record, std::size_t values, Scratch& payload) noexcept {
    std::uint64_t sums[kMaxMetrics] = {};
    for (std::size_t i = 0; i < values; ++i)
        for (std::size_t metric = 0; metric < count_; ++metric)
            if (record.values[i].metric == ids_[metric]) sums[metric] += record.values[i].value;
    std::size_t before = payload.size();
    std::string_view name;
    if (record.name != nullptr) name = {record.name, strnlen(record.name, kMaxKernelName)};
    bool added = payload.add(std::uint64_t{record.cubin}) && payload.add(std::uint64_t{record.offset}) &&
                 payload.add_text(name) && payload.add(sums, count_ * sizeof sums[0]);
    if (!added) payload.cut(before);
}

CuptiFailure SassSession::disable(const Cupti& cupti) noexcept {
    sass::Disable disable;
    disable.context = context_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiSassMetricsDisable, disable)) return failure;
    dropped_ = static_cast<std::uint32_t>(disable.dropped);
    return {};
}

CuptiFailure SassSession::unset(const Cupti& cupti) noexcept {
    sass::UnsetConfig parameters;
    parameters.device = device_;
    return GPUPROF_CUPTI_CALL(cuptiSassMetricsUnsetConfig, parameters);
}

}  // namespace gpuprof::inject
