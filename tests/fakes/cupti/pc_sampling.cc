// PC sampling of the fake libcupti: strict about sizes of structures and records, and the order of calls, with samples by
// stall_script.h. Breaking the order counts as a breach, with which fake_program ends; the answer is that of CUPTI where
// it is known. Structures: core/format/pc_sampling.h, which is compared with CUPTI's headers. A rule for attributeN
// (tests/fakes/cupti/faults.h) refuses that setting.
#include "core/format/pc_sampling.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/stall_script.h"

extern "C" int cuptiGetVersion(std::uint32_t* version);

using namespace fake_cupti;
namespace pcs = gpuprof::pcs;

namespace {

constexpr int kSuccess = 0, kInvalidParameter = 1, kInvalidOperation = 7, kOutOfMemory = 8;

std::uint32_t version_now() {
    std::uint32_t version = 0;
    cuptiGetVersion(&version);
    return version;
}

struct Sampler {
    bool named = false, start_stop = false, running = false, stopped = false, stop_refused = false;
    pcs::PcData* data = nullptr;
    std::map<std::size_t, std::uint32_t> runs;  // of samples of the script, in the span
    std::vector<std::pair<std::size_t, std::uint32_t>> waiting;
    std::uint64_t total = 0;
};

std::mutex lock;
std::map<void*, Sampler> samplers;  // by context; destroyed as the process exits, as CUPTI may destroy its own

int breach(const char* function, const char* what, int code) {
    count_breach((std::string(function) + " " + what).c_str());
    return code;
}

Sampler* sampler_of(void* context) {
    auto found = samplers.find(context);
    return found == samplers.end() ? nullptr : &found->second;
}

// Fills records from what waits, all but `keep`.
bool fill(Sampler& sampler, pcs::PcData& data, std::size_t keep) {
    const StallScript& script = stall_script();
    std::size_t bytes = pcs::pc_record_bytes(version_now());
    data.pcs = 0;
    while (sampler.waiting.size() > keep && data.pcs < data.room && data.pcs < script.page) {
        auto [which, runs] = sampler.waiting.back();
        sampler.waiting.pop_back();
        const StallScript::Sample& sample = script.samples[which];
        char* at = static_cast<char*>(data.records) + data.pcs++ * bytes;
        pcs::PcRecord record;
        std::memcpy(&record, at, bytes);
        if (record.size != bytes || record.stalls == nullptr) return false;
        record.cubin = sample.module < script.modules.size() ? crc_of(script.modules[sample.module]) : sample.module;
        record.offset = sample.offset;
        record.name = sampled_name(sample.function);
        record.count = 0;
        for (auto [reason, count] : sample.counts) record.stalls[record.count++] = {reason, count * runs};
        std::memcpy(at, &record, bytes);
    }
    data.remaining = sampler.waiting.size() - keep;
    return true;
}

bool is_data(const pcs::PcData* data) {
    return data != nullptr && data->size == pcs::pc_data_bytes(version_now()) && data->room > 0 &&
           data->records != nullptr;
}

int apply(Sampler& sampler, const pcs::Setting& setting) {
    std::string name = "attribute" + std::to_string(static_cast<int>(setting.attribute));
    if (int failed = gate(name.c_str())) return failed;
    switch (setting.attribute) {
        case pcs::Attribute::period: return setting.number >= 5 && setting.number <= 31 ? kSuccess : kInvalidOperation;
        case pcs::Attribute::reasons:
            return setting.reasons.count == stall_script().reasons.size() ? kSuccess : kInvalidOperation;
        case pcs::Attribute::hardware_bytes:
            return setting.size < (std::size_t{512} << 20) ? kSuccess : kInvalidOperation;
        case pcs::Attribute::scratch_bytes: return kSuccess;
        case pcs::Attribute::mode: return setting.number == 1 || setting.number == 2 ? kSuccess : kInvalidOperation;
        case pcs::Attribute::start_stop: return sampler.start_stop = setting.number == 1, kSuccess;
        case pcs::Attribute::data:
            sampler.data = static_cast<pcs::PcData*>(setting.data);
            return is_data(sampler.data) ? kSuccess : kInvalidOperation;
        case pcs::Attribute::worker_ms:
            return version_now() >= pcs::kFirstVersionWithBufferFull ? kSuccess : kInvalidParameter;
    }
    return kInvalidParameter;
}

}  // namespace

void fake_cupti::sample_kernel(const char* name) {
    std::lock_guard<std::mutex> held(lock);
    for (auto& [context, sampler] : samplers) {
        if (!sampler.running) continue;
        const auto& samples = stall_script().samples;
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (std::strstr(name, samples[i].kernel.c_str()) != nullptr) ++sampler.runs[i];
        return;  // the first context's
    }
}

#define GATE()                                                                                           \
    if (int failed = gate(__func__)) return failed;                                                      \
    if (parameters == nullptr || parameters->size != std::remove_pointer_t<decltype(parameters)>{}.size) \
        return breach(__func__, "got a structure of the wrong size", kInvalidParameter);                 \
    if (parameters->reserved != nullptr || parameters->context == nullptr) std::abort();                 \
    std::lock_guard<std::mutex> held(lock);                                                              \
    Sampler* sampler = sampler_of(parameters->context);                                                  \
    if (sampler == nullptr) return breach(__func__, "is called before Enable", kInvalidOperation)

extern "C" {

int cuptiPCSamplingEnable(pcs::ContextParams* parameters) {
    note_sampling_tried();
    if (int failed = gate(__func__)) return failed;
    if (parameters == nullptr || parameters->size != pcs::ContextParams{}.size)
        return breach(__func__, "got a structure of the wrong size", kInvalidParameter);
    if (parameters->context == nullptr) std::abort();
    if (int refused = check_sampling(__func__)) return refused;
    std::lock_guard<std::mutex> held(lock);
    if (!samplers.empty()) return breach(__func__, "is called for a second context of the GPU", kInvalidOperation);
    samplers[parameters->context];
    note_sampling(true);
    return kSuccess;
}

int cuptiPCSamplingDisable(pcs::ContextParams* parameters) {
    GATE();
    if (sampler->running && !sampler->stop_refused) breach(__func__, "is called before Stop", 0);
    if (sampler->data != nullptr && is_data(sampler->data)) fill(*sampler, *sampler->data, 0);
    samplers.erase(parameters->context);
    note_sampling(false);
    return kSuccess;
}

int cuptiPCSamplingGetNumStallReasons(pcs::GetReasonCount* parameters) {
    GATE();
    if (parameters->count == nullptr) return kInvalidParameter;
    *parameters->count = stall_script().reasons.size();
    return kSuccess;
}

int cuptiPCSamplingGetStallReasons(pcs::GetReasons* parameters) {
    GATE();
    if (parameters->count != stall_script().reasons.size()) return kInvalidParameter;
    std::size_t i = 0;
    for (const auto& [index, name] : stall_script().reasons) {
        parameters->indices[i] = index;
        std::strncpy(parameters->names[i++], name.c_str(), pcs::kNameBytes);
    }
    sampler->named = true;
    return kSuccess;
}

int cuptiPCSamplingSetConfigurationAttribute(pcs::Configure* parameters) {
    GATE();
    if (!sampler->named || sampler->running)
        return breach(__func__, "is called too early or too late", kInvalidOperation);
    bool sound = true;
    for (std::size_t i = 0; i < parameters->count; ++i) {
        pcs::Setting& setting = parameters->settings[i];
        setting.status = apply(*sampler, setting);
        sound = sound && setting.status == kSuccess;
    }
    return sound ? kSuccess : kInvalidOperation;
}

int cuptiPCSamplingStart(pcs::ContextParams* parameters) {
    Alone alone;
    GATE();
    if (!sampler->start_stop || sampler->data == nullptr || sampler->running)
        return breach(__func__, "is called twice, or without its configuration", kInvalidOperation);
    if (!sampler->waiting.empty()) breach(__func__, "is called before the last span was read", 0);
    sampler->running = true;
    sampler->stopped = false;
    sampler->runs.clear();
    return kSuccess;
}

int cuptiPCSamplingStop(pcs::ContextParams* parameters) {
    Alone alone;
    int refused = gate(__func__);
    if (refused != 0) {
        std::lock_guard<std::mutex> held(lock);
        if (Sampler* of = sampler_of(parameters->context)) of->stop_refused = true;
        return refused;
    }
    GATE();
    if (!sampler->running) return breach(__func__, "is called without Start", kInvalidOperation);
    const StallScript& script = stall_script();
    sampler->running = false;
    sampler->stopped = true;
    sampler->waiting.assign(sampler->runs.begin(), sampler->runs.end());
    sampler->total = script.dropped + script.others;
    for (auto [which, runs] : sampler->waiting)
        for (auto [reason, count] : script.samples[which].counts)
            if (script.reasons.at(reason).find("_not_issued") == std::string::npos)
                sampler->total += std::uint64_t{count} * runs;
    return kSuccess;
}

int cuptiPCSamplingGetData(pcs::GetData* parameters) {
    GATE();
    if (!sampler->stopped) return breach(__func__, "is called before Stop", kInvalidOperation);
    if (!is_data(parameters->data)) return breach(__func__, "got data of the wrong size", kInvalidParameter);
    const StallScript& script = stall_script();
    pcs::PcData& data = *parameters->data;
    data.total = sampler->total;
    data.dropped = script.dropped;
    data.others = script.others;
    data.range = 1;
    if (script.full) {
        sampler->waiting.clear();
        if (version_now() >= pcs::kFirstVersionWithBufferFull) data.buffer_full = 1;
        data.pcs = data.remaining = 0;
        return kOutOfMemory;
    }
    bool room = fill(*sampler, data, std::min(script.late, sampler->waiting.size()));
    return room ? kSuccess : breach(__func__, "got records of the wrong size", kInvalidParameter);
}

int cuptiGetCubinCrc(pcs::GetCubinCrc* parameters) {
    if (int failed = gate(__func__)) return failed;
    if (parameters == nullptr || parameters->size != pcs::GetCubinCrc{}.size || parameters->cubin == nullptr)
        return breach(__func__, "got a structure of the wrong size", kInvalidParameter);
    parameters->crc = crc_of(std::string(static_cast<const char*>(parameters->cubin), parameters->bytes));
    return kSuccess;
}
}
