#include "collect/inject/counters/sass_session.h"

#include <cstdlib>
#include <cstring>

#include "core/format/spool.h"

namespace gpuprof::inject {
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
        GPUPROF_CUPTI_CALL(cuptiSassMetricsGetProperties, properties);
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
    GPUPROF_CUPTI_CALL(cuptiSassMetricsSetConfig, set);
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
    GPUPROF_CUPTI_CALL(cuptiSassMetricsGetDataProperties, size);
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
        for (const PlannedMetric& metric : plan.metrics) payload.add_text(metric.name), payload.add_text(metric.unit);
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
    GPUPROF_CUPTI_CALL(cuptiSassMetricsDisable, disable);
    dropped_ = static_cast<std::uint32_t>(disable.dropped);
    return {};
}

CuptiFailure SassSession::unset(const Cupti& cupti) noexcept {
    sass::UnsetConfig parameters;
    parameters.device = device_;
    GPUPROF_CUPTI_CALL(cuptiSassMetricsUnsetConfig, parameters);
    return {};
}

}  // namespace gpuprof::inject
