// Turns names of metrics into a configuration for one chip. Every name is tried on a host object of its own, because
// one unknown name spoils an object for good, and a name is valid only when a configuration was made of it. All valid
// ones then go to a fresh object in one call, because every call opens passes of its own. Metrics of links (NVLink, PCIe)
// cannot be collected together with others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/counters/counter_symbols.def"
#include "collect/pm/pm_abi.h"
#include "collect/pm/pm_api.h"
#include "core/format/range_profiler.h"
#include "core/format/sass_metrics.h"

namespace gpuprof::counters {

// The host half of CUPTI's range profiling interface, found at run time as collect/pm/pm_api.h does for PM sampling. It
// makes configurations and evaluates images, and needs neither a GPU nor (up to CUPTI 13.1) a driver. Only for the
// process of host_process.h: libraries may crash on a bad image, and loading them upsets the address sanitizer.
struct HostGetChips {
    std::size_t size = 32;
    void* reserved = nullptr;
    std::size_t count = 0;               // out
    const char* const* chips = nullptr;  // out
};
struct HostGetBaseMetrics {
    std::size_t size = 48;
    void* reserved = nullptr;
    pm::HostObject* host = nullptr;
    std::int32_t type = 0;         // CUpti_MetricType: counter, ratio, throughput
    const char** names = nullptr;  // out
    std::size_t count = 0;         // out
};
struct HostGetProperties {
    std::size_t size = 60;
    void* reserved = nullptr;
    pm::HostObject* host = nullptr;
    const char* name = nullptr;
    const char *description = nullptr, *unit = nullptr, *dimension = nullptr;  // out
    std::int32_t type = 0;                                                     // out
};

struct Api {
    std::string path;           // of libcupti
    std::uint32_t version = 0;  // 0: unknown
#define GPUPROF_COUNTERS_MEMBER(member, name, Parameters) pm::Function<Parameters> member;
    GPUPROF_COUNTERS_HOST(GPUPROF_COUNTERS_MEMBER)
    GPUPROF_COUNTERS_DEVICE(GPUPROF_COUNTERS_MEMBER)
    GPUPROF_COUNTERS_OPTIONAL(GPUPROF_COUNTERS_MEMBER)
#undef GPUPROF_COUNTERS_MEMBER
};

// Loads libcupti and the libraries in its folder. `program`: collect/pm/cupti_candidates.h.
Result<Api> load_host_api(const std::string& program, bool for_device = false);

// A GPU as CUPTI identifies it.
struct Chip {
    std::string name;                        // e.g. GH100
    std::vector<std::uint8_t> availability;  // of its counters; empty: as the chip is built
};

// CUPTI's host object, for one chip.
class MetricHost {
public:
    static Result<std::unique_ptr<MetricHost>> open(const Api& api, const Chip& chip);
    ~MetricHost();
    MetricHost(const MetricHost&) = delete;
    MetricHost& operator=(const MetricHost&) = delete;

    // Once: later names would get passes of their own.
    Status add(const std::vector<std::string>& names);
    Result<std::vector<std::uint8_t>> config() const;
    // The unit of a metric as Nsight Compute writes base units; "" for a ratio, or if CUPTI does not tell.
    std::string unit_of(const std::string& name) const;
    // All metrics without their submetrics.
    std::vector<std::string> base_metrics() const;
    Status evaluate(const std::uint8_t* image, std::size_t bytes, std::size_t range,
                    const std::vector<std::string>& names, std::vector<double>& values) const;

private:
    MetricHost(const Api& api, pm::HostObject* object) : api_(api), object_(object) {}
    const Api& api_;
    pm::HostObject* object_;
};

struct MetricPlan {
    std::vector<std::string> names, units;
    std::vector<std::string> absent;    // the chip lacks them
    std::vector<std::string> separate;  // links, which need a run of their own
    std::vector<std::uint8_t> config;
    std::uint64_t passes = 0;
};
// An error if no name is left.
Result<MetricPlan> plan_metrics(const Api& api, const Chip& chip, const std::vector<std::string>& names);
// Of counters of instructions: each is looked up; one pass, and no configuration.
Result<MetricPlan> plan_source_metrics(const Api& api, const Chip& chip, const std::vector<std::string>& names);

// The unit as Nsight Compute writes it without scaling, from CUPTI's dimension; "" if there is none.
std::string unit_of_dimension(std::string_view dimension);
// The same from the name alone, for libraries that do not tell: "" if it does not follow.
std::string unit_of_name(std::string_view name);

}  // namespace gpuprof::counters
