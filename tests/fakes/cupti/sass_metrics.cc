// SASS metrics of the fake libcupti: strict about sizes of structures and the order of calls, with counts by
// stall_script.h. Breaking the order counts as a breach, with which fake_program ends. Structures:
// core/format/sass_metrics.h, which is compared with CUPTI's headers.
#include "core/format/sass_metrics.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/counter_script.h"
#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/stall_script.h"

using namespace fake_cupti;
namespace sass = gpuprof::sass;

namespace {

constexpr int kSuccess = 0, kInvalidParameter = 1, kInvalidOperation = 7;

std::mutex lock;
std::vector<std::string> known;  // requested metrics; their ids are places from 100
std::vector<std::uint64_t> configured;
void* enabled = nullptr;
std::vector<std::size_t> ran;  // counts of the script since Enable
bool flushed = false;

int breach(const char* function, const char* what, int code) {
    count_breach((std::string(function) + " " + what).c_str());
    return code;
}

std::size_t records_of_one() { return stall_script().split ? configured.size() : 1; }

std::uint64_t value_of(const StallScript::Count& count, std::uint64_t id) {
    auto found = count.values.find(known[id - 100]);
    return found == count.values.end() ? 0 : found->second;
}

}  // namespace

void fake_cupti::count_kernel(const char* name) {
    std::lock_guard<std::mutex> held(lock);
    if (enabled == nullptr) return;
    const auto& counts = stall_script().counts;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (std::strstr(name, counts[i].kernel.c_str()) != nullptr) ran.push_back(i);
}

#define GATE(Parameters)                                                                 \
    if (int failed = gate(__func__)) return failed;                                      \
    if (parameters == nullptr || parameters->size != Parameters{}.size)                  \
        return breach(__func__, "got a structure of the wrong size", kInvalidParameter); \
    std::lock_guard<std::mutex> held(lock)

extern "C" {

int cuptiSassMetricsGetProperties(sass::GetProperties* parameters) {
    GATE(sass::GetProperties);
    if (parameters->chip == nullptr || counter_script().chip != parameters->chip) return kInvalidParameter;
    std::string name = parameters->name;
    if (name.rfind("smsp__sass_", 0) != 0 || !knows_metric(name + ".sum")) return kInvalidParameter;
    known.push_back(name);
    parameters->metric = {known.size() + 99, known.back().c_str(), ""};
    return kSuccess;
}

int cuptiSassMetricsSetConfig(sass::SetConfig* parameters) {
    GATE(sass::SetConfig);
    if (!configured.empty()) return breach(__func__, "is called twice", kInvalidOperation);
    for (std::size_t i = 0; i < parameters->count; ++i) {
        std::uint64_t id = parameters->configs[i].id;
        if (id < 100 || id >= 100 + known.size() || parameters->configs[i].granularity != sass::kOfGpu)
            return breach(__func__, "got an unknown metric", kInvalidParameter);
        configured.push_back(id);
    }
    return kSuccess;
}

int cuptiSassMetricsUnsetConfig(sass::UnsetConfig* parameters) {
    GATE(sass::UnsetConfig);
    if (configured.empty()) return breach(__func__, "is called without SetConfig", kInvalidOperation);
    if (enabled != nullptr) breach(__func__, "is called before Disable", 0);
    configured.clear();
    return kSuccess;
}

int cuptiSassMetricsEnable(sass::Enable* parameters) {
    GATE(sass::Enable);
    if (configured.empty() || enabled != nullptr || parameters->context == nullptr)
        return breach(__func__, "is called twice, or before SetConfig", kInvalidOperation);
    if (parameters->lazy != 1) breach(__func__, "patches all functions", 0);
    enabled = parameters->context;
    ran.clear();
    flushed = false;
    return kSuccess;
}

int cuptiSassMetricsDisable(sass::Disable* parameters) {
    GATE(sass::Disable);
    if (enabled == nullptr) return breach(__func__, "is called without Enable", kInvalidOperation);
    parameters->dropped = flushed ? 0 : ran.size() * records_of_one();
    enabled = nullptr;
    return kSuccess;
}

int cuptiSassMetricsGetDataProperties(sass::GetDataProperties* parameters) {
    GATE(sass::GetDataProperties);
    if (enabled == nullptr) return breach(__func__, "is called outside Enable and Disable", kInvalidOperation);
    parameters->records = ran.size() * records_of_one();
    parameters->instances = 1;
    return kSuccess;
}

int cuptiSassMetricsFlushData(sass::FlushData* parameters) {
    GATE(sass::FlushData);
    if (enabled == nullptr) return breach(__func__, "is called outside Enable and Disable", kInvalidOperation);
    const StallScript& script = stall_script();
    if (parameters->records != ran.size() * records_of_one() || parameters->instances != 1)
        return breach(__func__, "got another number of records than there are", kInvalidParameter);
    for (std::size_t i = 0; i < parameters->records; ++i) {
        sass::Record& record = parameters->data[i];
        if (record.size != sass::Record{}.size || record.values == nullptr)
            return breach(__func__, "got records of the wrong size", kInvalidParameter);
        const StallScript::Count& count = script.counts[ran[i / records_of_one()]];
        record.cubin = static_cast<std::uint32_t>(
            count.module < script.modules.size() ? crc_of(script.modules[count.module]) : count.module);
        record.name = count.function.c_str();
        record.offset = static_cast<std::uint32_t>(count.offset);
        for (std::size_t j = 0; j < configured.size(); ++j) {
            bool own = script.split;
            if (own && j != i % configured.size()) continue;
            record.values[own ? 0 : j] = {configured[j], value_of(count, configured[j])};
        }
    }
    flushed = true;
    return kSuccess;
}
}
