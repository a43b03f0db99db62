// The range profiler of the fake libcupti: strict about sizes of structures and the order of calls, with values by the
// script of counter_script.h. Breaking the order counts as a breach, with which fake_program ends; the answer is that of
// CUPTI where it is known. Structures: core/format/range_profiler.h, which is compared with CUPTI's headers.
#include "core/format/range_profiler.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/contract.h"
#include "tests/fakes/cupti/counter_script.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/host_object.h"
#include "tests/fakes/cupti/stall_script.h"

using namespace fake_cupti;
namespace range = gpuprof::range;
namespace pm = gpuprof::pm;

namespace gpuprof::range {

struct RangeObject {
    void* context = nullptr;
    std::vector<std::string> names, configured;
    std::size_t passes = 0;
    std::uint8_t* image = nullptr;
    bool user = false, started = false, stopped = false, pushed = false;
    std::string range;
    std::vector<std::string> ran;  // kernels since the start
};

}  // namespace gpuprof::range

namespace {

constexpr int kInvalidOperation = 7, kUnknown = 999;

struct ImageHead {
    char mark[8];
    std::uint64_t most, count;
};
struct ImageRange {
    std::uint64_t launch;
    char name[120];
};

std::mutex lock;
std::set<void*> contexts;  // with a range profiler
range::RangeObject* running = nullptr;
std::uint64_t launches = 0;  // measured so far

template <class Parameters>
bool sound(const Parameters* parameters) {
    return parameters != nullptr && parameters->size == Parameters{}.size && parameters->reserved == nullptr;
}

int breach(const char* function, const char* what, int code) {
    count_breach((std::string(function) + " " + what).c_str());
    return code;
}

void add_range(range::RangeObject& object, const std::string& name) {
    auto* head = reinterpret_cast<ImageHead*>(object.image);
    if (head->count >= head->most) return;
    ImageRange& added = reinterpret_cast<ImageRange*>(head + 1)[head->count++];
    added = ImageRange{launches, {}};
    std::strncpy(added.name, name.c_str(), sizeof added.name - 1);
}

}  // namespace

void fake_cupti::run_kernel(const char* name) {
    sample_kernel(name);
    count_kernel(name);
    std::lock_guard<std::mutex> held(lock);
    if (running == nullptr) return;
    const std::string& hang = counter_script().hang;
    while (!running->user && !hang.empty() && std::strstr(name, hang.c_str()) != nullptr) pause();
    running->ran.emplace_back(name);
    if (running->user) return;
    ++launches;
    for (std::size_t i = 0; i <= counter_script().mixed; ++i) add_range(*running, name);
}

int fake_cupti::evaluate_range(const pm::HostEvaluate& parameters) {
    const auto* head = reinterpret_cast<const ImageHead*>(parameters.image);
    if (parameters.bytes < sizeof *head || std::memcmp(head->mark, "RGIMAGE", 8) != 0) std::abort();  // as CUPTI
    if (parameters.sample >= head->count) return pm::kInvalidParameter;
    const ImageRange& measured = reinterpret_cast<const ImageRange*>(head + 1)[parameters.sample];
    const CounterScript& script = counter_script();
    if (!script.crash.empty() && std::strstr(measured.name, script.crash.c_str()) != nullptr) std::abort();
    for (std::size_t i = 0; i < parameters.count; ++i) {
        auto value = script.values.find(parameters.names[i]);
        parameters.values[i] = value != script.values.end()
                                   ? value->second
                                   : 1000.0 * static_cast<double>(i + 1) + static_cast<double>(measured.launch);
    }
    return pm::kSuccess;
}

#define GATE()                                      \
    if (int failed = gate(__func__)) return failed; \
    if (!sound(parameters)) return breach(__func__, "got a structure of the wrong size", pm::kInvalidParameter)

extern "C" {

int cuptiProfilerGetCounterAvailability(range::GetAvailability* parameters) {
    GATE();
    if (parameters->context == nullptr) std::abort();  // as CUPTI 13.0
    return tell_availability(*parameters);
}

int cuptiRangeProfilerEnable(range::EnableRanges* parameters) {
    if (int failed = gate(__func__)) return failed;
    bool newer =
        faults().version >= range::kFirstVersionWithCache && parameters->size == range::EnableRangesWithCache{}.size;
    if (!newer && !sound(parameters))
        return breach(__func__, "got a structure of the wrong size", pm::kInvalidParameter);
    if (!driver_started || parameters->context == nullptr) std::abort();  // as CUPTI 13.0
    if (int refused = check_single_subscriber(__func__)) return refused;
    std::lock_guard<std::mutex> held(lock);
    if (!contexts.insert(parameters->context).second) return breach(__func__, "is called twice", kInvalidOperation);
    parameters->object = new range::RangeObject;
    parameters->object->context = parameters->context;
    return pm::kSuccess;
}

int cuptiRangeProfilerDisable(range::RangeParams* parameters) {
    GATE();
    std::lock_guard<std::mutex> held(lock);
    if (parameters->object->started) breach(__func__, "is called before Stop", 0);
    contexts.erase(parameters->object->context);
    delete parameters->object;
    return pm::kSuccess;
}

int cuptiRangeProfilerGetCounterDataSize(range::GetRangeDataSize* parameters) {
    GATE();
    if (parameters->count == 0 || parameters->max_ranges == 0 || parameters->max_nodes < parameters->max_ranges)
        return pm::kInvalidParameter;
    parameters->object->names.assign(parameters->names, parameters->names + parameters->count);
    parameters->bytes = sizeof(ImageHead) + parameters->max_ranges * sizeof(ImageRange);
    return pm::kSuccess;
}

int cuptiRangeProfilerCounterDataImageInitialize(range::InitializeRangeImage* parameters) {
    GATE();
    if (parameters->bytes < sizeof(ImageHead)) return pm::kInvalidParameter;
    if (parameters->object->started) return breach(__func__, "is called between Start and Stop", kInvalidOperation);
    std::memset(parameters->image, 0, parameters->bytes);
    ImageHead head{"RGIMAGE", (parameters->bytes - sizeof(ImageHead)) / sizeof(ImageRange), 0};
    std::memcpy(parameters->image, &head, sizeof head);
    return pm::kSuccess;
}

int cuptiRangeProfilerSetConfig(range::SetRangeConfig* parameters) {
    GATE();
    range::RangeObject& object = *parameters->object;
    if (object.started) return breach(__func__, "is called between Start and Stop", kInvalidOperation);
    if (parameters->range == range::kUserRange && parameters->replay == range::kKernelReplay) return kInvalidOperation;
    if (parameters->nesting_levels == 0 || parameters->min_nesting_level == 0) return pm::kInvalidParameter;
    std::istringstream words(std::string(reinterpret_cast<const char*>(parameters->config), parameters->config_bytes));
    std::string mark;
    if (!(words >> mark >> object.passes) || mark != "RGCONFIG")
        return breach(__func__, "got what is no configuration", pm::kInvalidParameter);
    object.configured.clear();
    for (std::string name; words >> name;) object.configured.push_back(name);
    if (object.configured != object.names)
        return breach(__func__, "got other metrics than the image", pm::kInvalidParameter);
    if (parameters->image == nullptr || std::memcmp(parameters->image, "RGIMAGE", 8) != 0)
        return breach(__func__, "got an image that is not initialised", pm::kInvalidParameter);
    object.image = parameters->image;
    object.user = parameters->range == range::kUserRange;
    return pm::kSuccess;
}

int cuptiRangeProfilerStart(range::RangeParams* parameters) {
    GATE();
    range::RangeObject& object = *parameters->object;
    if (object.image == nullptr || object.started)
        return breach(__func__, "is called without SetConfig, or twice", kInvalidOperation);
    std::lock_guard<std::mutex> held(lock);
    if (running != nullptr) return breach(__func__, "is called while another session runs", kInvalidOperation);
    object.started = true, object.stopped = false;
    object.ran.clear();
    running = &object;
    return pm::kSuccess;
}

int cuptiRangeProfilerPushRange(range::PushRange* parameters) {
    GATE();
    range::RangeObject& object = *parameters->object;
    if (!object.started || !object.user || object.pushed)
        return breach(__func__, "is called outside a session", kInvalidOperation);
    object.range = parameters->name;
    object.pushed = true;
    return pm::kSuccess;
}

int cuptiRangeProfilerPopRange(range::RangeParams* parameters) {
    GATE();
    range::RangeObject& object = *parameters->object;
    if (!object.pushed) return breach(__func__, "is called without PushRange", kInvalidOperation);
    object.pushed = false;
    std::lock_guard<std::mutex> held(lock);
    ++launches;
    add_range(object, object.range);
    return pm::kSuccess;
}

int cuptiRangeProfilerStop(range::StopRanges* parameters) {
    GATE();
    range::RangeObject& object = *parameters->object;
    if (!object.started) return breach(__func__, "is called without Start", kInvalidOperation);
    std::lock_guard<std::mutex> held(lock);
    object.started = false, object.stopped = true;
    running = nullptr;
    parameters->all_passes = !object.user || object.passes <= 1;
    return pm::kSuccess;
}

int cuptiRangeProfilerDecodeData(range::DecodeRanges* parameters) {
    GATE();
    if (!parameters->object->stopped) return breach(__func__, "is called before Stop", kInvalidOperation);
    parameters->dropped = counter_script().dropped;
    return pm::kSuccess;
}

int cuptiRangeProfilerGetCounterDataInfo(range::GetRangeCount* parameters) {
    GATE();
    const auto* head = reinterpret_cast<const ImageHead*>(parameters->image);
    if (parameters->bytes < sizeof *head || std::memcmp(head->mark, "RGIMAGE", 8) != 0) std::abort();  // as CUPTI
    parameters->ranges = head->count;
    return pm::kSuccess;
}

struct Chips {
    std::size_t size;
    void* reserved;
    std::size_t count;
    const char* const* chips;
};
int cuptiProfilerHostGetSupportedChips(Chips* parameters) {
    if (int failed = gate(__func__)) return failed;
    static const char* const chips[] = {"GH100", "TU102"};
    parameters->count = 2;
    parameters->chips = chips;
    return pm::kSuccess;
}

struct BaseMetrics {
    std::size_t size;
    void* reserved;
    pm::HostObject* host;
    std::int32_t type;
    const char** names;
    std::size_t count;
};
int cuptiProfilerHostGetBaseMetrics(BaseMetrics* parameters) {
    if (int failed = gate(__func__)) return failed;
    static const char* names[] = {"gpu__time_duration", "sm__cycles_active"};
    parameters->names = names;
    parameters->count = parameters->type == 0 ? 2 : 0;
    return pm::kSuccess;
}

// As CUPTI 12.9, which does not know the names that it lists itself.
int cuptiProfilerHostGetMetricProperties(void*) {
    if (int failed = gate(__func__)) return failed;
    return 17;
}
}
