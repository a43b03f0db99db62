// PM sampling of the fake libcupti: counters of a recorded series (pm_series.h) as if the GPU took them now, through the
// functions of the real interface and as strict as they: sizes of structures, one pass, at most 1024 samples of a decoding,
// an object that one unknown name has spoiled for good. The first sample after a start reaches back to when sampling was
// configured, as on a real GPU. Structures: collect/pm/pm_abi.h, which is compared with CUPTI's headers.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collect/pm/pm_abi.h"
#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/counter_script.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/host_object.h"
#include "tests/fakes/cupti/pm_series.h"

using namespace fake_cupti;
namespace pm = gpuprof::pm;

namespace gpuprof::pm {

struct SamplingObject {
    std::size_t device = 0;
    bool running = false;
    std::vector<std::string> names;
    std::uint64_t interval = 0, configured = 0, began = 0, end = 0;
    std::uint64_t next = 0;   // of the samples since the start, not decoded yet
    std::uint64_t total = 0;  // decoded before the start
    bool ran_over = false, lapped = false;
};

}  // namespace gpuprof::pm

namespace {

constexpr int kInvalidDevice = 2, kInvalidOperation = 7, kInvalidName = 17, kInvalidChip = 46, kUnknown = 999;
constexpr std::uint32_t kMaxSamples = 1024;

struct ImageHead {
    char mark[8];
    std::uint64_t most, count;
};
struct ImageSample {
    std::uint64_t start, end, row;
};

std::mutex lock;
std::set<std::size_t> enabled_devices;
bool initialized = false;

template <class Parameters>
bool sound(const Parameters* parameters) {
    return parameters != nullptr && parameters->size == Parameters{}.size && parameters->reserved == nullptr;
}

std::vector<std::string> names_of(const char** names, std::size_t count) {
    return std::vector<std::string>(names, names + count);
}

// The image of a configuration: passes and names as text.
std::string config_of(const pm::HostObject& host) {
    std::string text = (host.of_ranges ? "RGCONFIG " : "PMCONFIG ") + std::to_string(host.passes);
    for (const std::string& name : host.names) text += " " + name;
    return text;
}

const std::string& chip_of(bool of_ranges) { return of_ranges ? counter_script().chip : pm_series().chip; }

std::uint64_t samples_until(const pm::SamplingObject& object, std::uint64_t now) {
    return now <= object.began ? 0 : (now - object.began) / object.interval;
}

// Sample 0 is the one that reaches back.
ImageSample sample_of(const pm::SamplingObject& object, std::uint64_t number) {
    std::uint64_t start = object.began + (number == 0 ? 0 : number - 1) * object.interval;
    if (number == 0) return {object.configured, start, object.total};
    return {start, start + object.interval, object.total + number};
}

void write_log(const pm::SamplingObject& object) {
    if (pm_series().log.empty()) return;
    if (std::FILE* file = std::fopen(pm_series().log.c_str(), "a")) {
        std::fprintf(file, "%zu %llu %llu %llu\n", object.device, static_cast<unsigned long long>(object.began),
                     static_cast<unsigned long long>(object.interval),
                     static_cast<unsigned long long>(samples_until(object, object.end)));
        std::fclose(file);
    }
}

int decode(pm::SamplingObject& object, pm::DecodeData& to) {
    const PmSeries& series = pm_series();
    auto* head = reinterpret_cast<ImageHead*>(to.image);
    if (std::memcmp(head->mark, "PMIMAGE", 8) != 0) return pm::kInvalidParameter;
    std::uint64_t ready = samples_until(object, object.running ? now_ns() : object.end) + 1;
    if (!object.ran_over && object.total + ready > series.oom) return pm::kOutOfMemory;
    to.overflow = 0;
    auto* samples = reinterpret_cast<ImageSample*>(head + 1);
    while (object.next < ready && head->count < head->most) {
        if (!object.lapped && object.total + object.next == series.lap) {
            if (ready < object.next + series.lap_length) break;
            object.next += series.lap_length;
            object.lapped = true;
            to.overflow = 1;
            continue;
        }
        samples[head->count++] = sample_of(object, object.next++);
    }
    to.reason = head->count == head->most ? 1 : pm::kEndOfRecords;
    return pm::kSuccess;
}

}  // namespace

#define GATE()                                      \
    if (int failed = gate(__func__)) return failed; \
    if (!sound(parameters)) return pm::kInvalidParameter

extern "C" {

int cuptiProfilerInitialize(pm::ProfilerInitialize* parameters) {
    GATE();
    if (!driver_started) return kUnknown;
    initialized = true;
    return pm::kSuccess;
}

int cuptiDeviceGetChipName(pm::GetChipName* parameters) {
    GATE();
    if (!initialized) return kUnknown;
    if (parameters->device >= faults().devices) return kInvalidDevice;
    parameters->chip = chip_of(std::getenv("GPUPROF_FAKE_COUNTERS") != nullptr).c_str();
    return pm::kSuccess;
}

int cuptiPmSamplingGetCounterAvailability(pm::GetCounterAvailability* parameters) {
    GATE();
    return tell_availability(*parameters);
}

int cuptiProfilerHostInitialize(pm::HostInitialize* parameters) {
    GATE();
    bool of_ranges = parameters->type == gpuprof::range::kRangeProfiler;
    if (!of_ranges && parameters->type != pm::kPmSampling) return pm::kInvalidParameter;
    if (parameters->chip == nullptr || chip_of(of_ranges) != parameters->chip) return kInvalidChip;
    if (parameters->availability && parameters->availability[kAvailabilityBytes - 1] != 7) return pm::kInvalidParameter;
    parameters->host = new pm::HostObject;
    parameters->host->of_ranges = of_ranges;
    return pm::kSuccess;
}

int cuptiProfilerHostDeinitialize(pm::HostDeinitialize* parameters) {
    GATE();
    delete parameters->host;
    return pm::kSuccess;
}

int cuptiProfilerHostConfigAddMetrics(pm::HostAddMetrics* parameters) {
    GATE();
    pm::HostObject& host = *parameters->host;
    if (host.spoiled) return kUnknown;
    for (const std::string& name : names_of(parameters->names, parameters->count)) {
        if (host.of_ranges ? !knows_metric(name) : pm_series().columns.count(name) == 0) {
            host.spoiled = true;
            return host.of_ranges ? int{pm::kInvalidParameter} : kInvalidName;
        }
        host.names.push_back(name);
    }
    std::size_t per_pass = host.of_ranges ? counter_script().per_pass : pm_series().per_pass;
    host.passes += (parameters->count + per_pass - 1) / per_pass;
    return pm::kSuccess;
}

int cuptiProfilerHostGetConfigImageSize(pm::HostGetConfigSize* parameters) {
    GATE();
    if (parameters->host->spoiled) return kUnknown;
    parameters->bytes = config_of(*parameters->host).size();
    return pm::kSuccess;
}

int cuptiProfilerHostGetConfigImage(pm::HostGetConfig* parameters) {
    GATE();
    std::string config = config_of(*parameters->host);
    if (parameters->host->spoiled) return kUnknown;
    if (parameters->bytes < config.size()) return pm::kInvalidParameter;
    std::memcpy(parameters->image, config.data(), config.size());
    return pm::kSuccess;
}

int cuptiProfilerHostGetNumOfPasses(pm::HostGetPasses* parameters) {
    GATE();
    std::istringstream words(std::string(reinterpret_cast<char*>(parameters->image), parameters->bytes));
    std::string mark;
    return words >> mark >> parameters->passes && (mark == "PMCONFIG" || mark == "RGCONFIG") ? pm::kSuccess
                                                                                             : pm::kInvalidParameter;
}

int cuptiProfilerHostEvaluateToGpuValues(pm::HostEvaluate* parameters) {
    GATE();
    if (parameters->host->spoiled) return kUnknown;
    if (parameters->host->of_ranges) return evaluate_range(*parameters);
    const PmSeries& series = pm_series();
    auto* head = reinterpret_cast<const ImageHead*>(parameters->image);
    if (parameters->sample >= head->count) return pm::kInvalidParameter;
    std::uint64_t row = reinterpret_cast<const ImageSample*>(head + 1)[parameters->sample].row % series.rows.size();
    for (std::size_t i = 0; i < parameters->count; ++i) {
        auto column = series.columns.find(parameters->names[i]);
        if (column == series.columns.end()) return kInvalidName;
        parameters->values[i] = series.rows[row][column->second];
    }
    if (series.evaluate_us > 0) usleep(series.evaluate_us);
    return pm::kSuccess;
}

int cuptiPmSamplingEnable(pm::Enable* parameters) {
    GATE();
    if (!initialized) return kUnknown;
    if (parameters->device >= faults().devices) return kInvalidDevice;
    std::lock_guard<std::mutex> held(lock);
    if (!enabled_devices.insert(parameters->device).second) return kInvalidOperation;
    parameters->object = new pm::SamplingObject;
    parameters->object->device = parameters->device;
    return pm::kSuccess;
}

int cuptiPmSamplingDisable(pm::ObjectParams* parameters) {
    GATE();
    std::lock_guard<std::mutex> held(lock);
    enabled_devices.erase(parameters->object->device);
    delete parameters->object;
    return pm::kSuccess;
}

int cuptiPmSamplingSetConfig(pm::SetConfig* parameters) {
    if (int failed = gate(__func__)) return failed;
    if (parameters == nullptr || parameters->size != pm_series().config) return pm::kInvalidParameter;
    if (parameters->interval == 0 || parameters->hardware_buffer == 0) return pm::kInvalidParameter;
    if (parameters->trigger == pm::kTimeInterval && !pm_series().by_time) return pm::kNotSupported;
    std::istringstream words(std::string(reinterpret_cast<const char*>(parameters->image), parameters->bytes));
    std::string mark;
    std::size_t passes = 0;
    if (!(words >> mark >> passes) || mark != "PMCONFIG") return pm::kInvalidParameter;
    if (passes != 1) return pm::kNotSupported;
    pm::SamplingObject& object = *parameters->object;
    object.names.clear();
    for (std::string name; words >> name;) object.names.push_back(name);
    object.interval = parameters->interval;
    object.configured = now_ns();
    return pm::kSuccess;
}

int cuptiPmSamplingGetCounterDataSize(pm::GetCounterDataSize* parameters) {
    GATE();
    if (parameters->max_samples == 0 || parameters->max_samples > kMaxSamples) return pm::kInvalidParameter;
    if (names_of(parameters->names, parameters->count) != parameters->object->names) return pm::kInvalidParameter;
    parameters->bytes = sizeof(ImageHead) + parameters->max_samples * sizeof(ImageSample);
    return pm::kSuccess;
}

int cuptiPmSamplingCounterDataImageInitialize(pm::InitializeImage* parameters) {
    GATE();
    if (parameters->bytes < sizeof(ImageHead)) return pm::kInvalidParameter;
    ImageHead head{"PMIMAGE", (parameters->bytes - sizeof(ImageHead)) / sizeof(ImageSample), 0};
    std::memcpy(parameters->image, &head, sizeof head);
    return pm::kSuccess;
}

int cuptiPmSamplingStart(pm::ObjectParams* parameters) {
    GATE();
    pm::SamplingObject& object = *parameters->object;
    if (object.running || object.interval == 0) return kInvalidOperation;
    if (object.began != 0) object.total += samples_until(object, object.end) + 1;
    object.running = true;
    object.began = now_ns();
    object.next = 0;
    return pm::kSuccess;
}

int cuptiPmSamplingStop(pm::ObjectParams* parameters) {
    GATE();
    pm::SamplingObject& object = *parameters->object;
    if (!object.running) return kInvalidOperation;
    object.running = false;
    object.end = now_ns();
    write_log(object);
    if (object.total + samples_until(object, object.end) + 1 > pm_series().oom) object.ran_over = true;
    return pm::kSuccess;
}

int cuptiPmSamplingDecodeData(pm::DecodeData* parameters) {
    GATE();
    return decode(*parameters->object, *parameters);
}

int cuptiPmSamplingGetCounterDataInfo(pm::GetCounterDataFacts* parameters) {
    GATE();
    auto* head = reinterpret_cast<const ImageHead*>(parameters->image);
    parameters->total = head->most;
    parameters->populated = parameters->completed = head->count;
    return pm::kSuccess;
}

int cuptiPmSamplingCounterDataGetSampleInfo(pm::GetSampleTimes* parameters) {
    GATE();
    auto* head = reinterpret_cast<const ImageHead*>(parameters->image);
    if (parameters->sample >= head->count) return pm::kInvalidParameter;
    const ImageSample& sample = reinterpret_cast<const ImageSample*>(head + 1)[parameters->sample];
    parameters->start = sample.start;
    parameters->end = sample.end;
    return pm::kSuccess;
}
}
