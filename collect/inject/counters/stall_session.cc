#include "collect/inject/counters/stall_session.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace gpuprof::inject {
namespace {

constexpr std::size_t kMaxReasons = 512;  // of a chip; 41 on GH100
constexpr std::size_t kRoom = 4096;       // records of one call of GetData; it is called until no record is left
// CUPTI's default is 512 MB of the GPU's memory. At 2^14 cycles a busy H200 takes about 15 million samples a second; this
// buffer holds about two million, and CUPTI empties it every 20 ms.
constexpr std::size_t kHardwareBytes = std::size_t{64} << 20;
constexpr std::size_t kScratchBytes = std::size_t{8} << 20;  // of the host: about 45,000 instructions between two reads
constexpr std::uint32_t kWorkerMs = 20;
constexpr std::size_t kMaxFunctionName = 4096;  // longer names are cut, and do not resolve

}  // namespace

void SampledNames::add(char* name) noexcept {
    if (name == nullptr || (2 * count_ >= room_ && !grow())) return;
    std::size_t at = reinterpret_cast<std::uintptr_t>(name) / alignof(std::max_align_t);
    while (slots_[at &= room_ - 1] != nullptr && slots_[at] != name) ++at;
    count_ += slots_[at] == nullptr;
    slots_[at] = name;
}

bool SampledNames::grow() noexcept {
    SampledNames larger;
    larger.room_ = room_ == 0 ? 64 : 2 * room_;
    larger.slots_ = static_cast<char**>(std::calloc(larger.room_, sizeof *slots_));
    if (larger.slots_ == nullptr) return false;  // a string that is not kept is not freed
    for (std::size_t i = 0; i < room_; ++i) larger.add(slots_[i]);
    std::free(slots_);
    *this = larger;
    return true;
}

void SampledNames::free_all() noexcept {
    for (std::size_t i = 0; i < room_; ++i) std::free(slots_[i]);
    std::free(slots_);
    *this = {};
}

StallSession::Failure StallSession::open(const Cupti& cupti, std::uint32_t version, void* context, std::uint32_t device,
                                         std::uint32_t period) noexcept {
    forget();
    context_ = context;
    device_ = device;
    period_ = period;
    version_ = version;
    pcs::ContextParams enable;
    enable.context = context;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiPCSamplingEnable, enable)) return failure;
    Failure failure = read_reasons(cupti);
    if (!failure && !make_room()) failure = {"calloc", kOutOfMemory};
    if (!failure) failure = configure(cupti);
    open_ = !failure;
    if (!failure) return failure;
    pcs::ContextParams disable;
    disable.context = context;
    if (cupti.cuptiPCSamplingDisable != nullptr) cupti.cuptiPCSamplingDisable(&disable);
    return failure;
}

StallSession::Failure StallSession::read_reasons(const Cupti& cupti) noexcept {
    pcs::GetReasonCount count;
    count.context = context_;
    count.count = &reason_count_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiPCSamplingGetNumStallReasons, count)) return failure;
    if (reason_count_ == 0 || reason_count_ > kMaxReasons) return {"cuptiPCSamplingGetNumStallReasons", 0};
    indices_ = static_cast<std::uint32_t*>(std::calloc(reason_count_, sizeof *indices_));
    auto** names = static_cast<char**>(std::calloc(reason_count_, sizeof(char*) + pcs::kNameBytes));
    if (indices_ == nullptr || names == nullptr) {
        std::free(names);
        return {"calloc", kOutOfMemory};
    }
    auto* text = reinterpret_cast<char*>(names + reason_count_);
    for (std::size_t i = 0; i < reason_count_; ++i) names[i] = text + i * pcs::kNameBytes;
    pcs::GetReasons reasons;
    reasons.context = context_;
    reasons.count = reason_count_;
    reasons.indices = indices_;
    reasons.names = names;
    int code = cupti.cuptiPCSamplingGetStallReasons == nullptr ? kFunctionMissing
                                                               : cupti.cuptiPCSamplingGetStallReasons(&reasons);
    for (std::size_t i = 0; code == kCuptiSuccess && i < reason_count_; ++i) {
        reasons_.add(indices_[i]);
        reasons_.add_text({names[i], strnlen(names[i], pcs::kNameBytes)});
    }
    std::free(names);
    if (code != kCuptiSuccess) return {"cuptiPCSamplingGetStallReasons", code};
    return {};
}

bool StallSession::make_room() noexcept {
    std::size_t bytes = pcs::pc_record_bytes(version_);
    data_ = static_cast<pcs::PcData*>(std::calloc(1, sizeof *data_));
    records_ = static_cast<char*>(std::calloc(kRoom, bytes));
    counts_ = static_cast<pcs::StallCount*>(std::calloc(kRoom * reason_count_, sizeof *counts_));
    if (data_ == nullptr || records_ == nullptr || counts_ == nullptr) return false;
    empty_data();
    return true;
}

// Before each call that fills it.
void StallSession::empty_data() noexcept {
    std::size_t bytes = pcs::pc_record_bytes(version_);
    std::memset(static_cast<void*>(data_), 0, sizeof *data_);
    data_->size = pcs::pc_data_bytes(version_);
    data_->room = kRoom;
    data_->records = records_;
    for (std::size_t i = 0; i < kRoom; ++i) {
        pcs::PcRecord record;
        record.size = bytes;
        record.stalls = counts_ + i * reason_count_;
        std::memcpy(records_ + i * bytes, &record, bytes);
    }
}

StallSession::Failure StallSession::configure(const Cupti& cupti) noexcept {
    constexpr std::size_t kSettings = 8;
    pcs::Setting settings[kSettings];
    constexpr const char* kNames[kSettings] = {"stall reasons",         "sampling period", "hardware buffer",
                                               "scratch buffer",        "sampling data",   "start and stop",
                                               "continuous collection", "worker's sleep"};
    settings[0].attribute = pcs::Attribute::reasons;
    settings[0].reasons = {reason_count_, indices_};
    settings[1].attribute = pcs::Attribute::period;
    settings[1].number = period_;
    settings[2].attribute = pcs::Attribute::hardware_bytes;
    settings[2].size = kHardwareBytes;
    settings[3].attribute = pcs::Attribute::scratch_bytes;
    settings[3].size = kScratchBytes;
    settings[4].attribute = pcs::Attribute::data;
    settings[4].data = data_;
    settings[5].attribute = pcs::Attribute::start_stop;
    settings[5].number = 1;
    settings[6].attribute = pcs::Attribute::mode;
    settings[6].number = pcs::kContinuous;
    settings[7].attribute = pcs::Attribute::worker_ms;
    settings[7].number = kWorkerMs;
    pcs::Configure configure;
    configure.context = context_;
    configure.count = version_ < pcs::kFirstVersionWithBufferFull ? kSettings - 1 : kSettings;
    configure.settings = settings;
    int code = cupti.cuptiPCSamplingSetConfigurationAttribute == nullptr
                   ? kFunctionMissing
                   : cupti.cuptiPCSamplingSetConfigurationAttribute(&configure);
    for (std::size_t i = 0; i < configure.count; ++i)
        if (settings[i].status != kCuptiSuccess) return {kNames[i], settings[i].status};
    if (code != kCuptiSuccess) return {"cuptiPCSamplingSetConfigurationAttribute", code};
    return {};
}

StallSession::Failure StallSession::start(const Cupti& cupti) noexcept {
    pcs::ContextParams parameters;
    parameters.context = context_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiPCSamplingStart, parameters)) return failure;
    running_ = true;
    ++span_;
    return {};
}

StallSession::Failure StallSession::stop(const Cupti& cupti) noexcept {
    pcs::ContextParams parameters;
    parameters.context = context_;
    running_ = false;
    Failure failure = GPUPROF_CUPTI_CALL(cuptiPCSamplingStop, parameters);
    more_ = !failure;
    return failure;
}

StallSession::Failure StallSession::read(const Cupti& cupti, Scratch& payload, SampledNames& names) noexcept {
    payload.clear();
    empty_data();
    pcs::GetData get;
    get.context = context_;
    get.data = data_;
    int code = cupti.cuptiPCSamplingGetData == nullptr ? kFunctionMissing : cupti.cuptiPCSamplingGetData(&get);
    // The GPU's buffer overflowed: there are totals, but no records.
    bool full = code == kOutOfMemory || data_->buffer_full != 0;
    more_ = code == kCuptiSuccess && data_->remaining > 0 && data_->pcs > 0;
    if (code != kCuptiSuccess && !full) return {"cuptiPCSamplingGetData", code};
    add_records(payload, names, full);
    return {};
}

void StallSession::add_records(Scratch& payload, SampledNames& names, bool full) noexcept {
    for (std::size_t i = 0; i < data_->pcs && i < kRoom; ++i) {
        pcs::PcRecord record;
        std::memcpy(&record, records_ + i * pcs::pc_record_bytes(version_), pcs::pc_record_bytes(version_));
        names.add(record.name);
    }
    spool::StallRead about{};
    about.span = span_;
    about.samples = data_->total;
    about.dropped = data_->dropped;
    about.others = data_->others;
    about.device = device_;
    about.period = period_;
    about.buffer_full = full;
    about.unread = data_->remaining > 0 && !more_;
    payload.add(about);
    std::size_t bytes = pcs::pc_record_bytes(version_);
    for (std::size_t i = 0; i < data_->pcs && i < kRoom; ++i) {
        pcs::PcRecord record;
        std::memcpy(&record, records_ + i * bytes, bytes);
        if (record.stalls == nullptr || record.count > reason_count_) continue;
        std::size_t before = payload.size();
        bool added = payload.add(record.cubin) && payload.add(record.offset) && payload.add(record.correlation) &&
                     payload.add_text(record.name == nullptr
                                          ? std::string_view()
                                          : std::string_view(record.name, strnlen(record.name, kMaxFunctionName))) &&
                     payload.add(static_cast<std::uint32_t>(record.count)) &&
                     payload.add(record.stalls, record.count * sizeof(pcs::StallCount));
        if (added) continue;
        payload.cut(before);
        return;
    }
}

StallSession::Failure StallSession::close(const Cupti& cupti, Scratch& payload, SampledNames& names) noexcept {
    payload.clear();
    if (!open_) return {};
    open_ = running_ = false;
    empty_data();
    pcs::ContextParams parameters;
    parameters.context = context_;
    if (CuptiFailure failure = GPUPROF_CUPTI_CALL(cuptiPCSamplingDisable, parameters)) return failure;
    if (data_->pcs > 0) add_records(payload, names, false);
    return {};
}

void StallSession::forget() noexcept {
    std::free(indices_);
    std::free(data_);
    std::free(records_);
    std::free(counts_);
    indices_ = nullptr;
    data_ = nullptr;
    records_ = nullptr;
    counts_ = nullptr;
    context_ = nullptr;
    open_ = running_ = more_ = false;
    span_ = 0;
    reason_count_ = 0;
    reasons_.clear();
}

}  // namespace gpuprof::inject
