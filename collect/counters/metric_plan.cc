#include "collect/counters/metric_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "collect/counters/driver.h"
#include "collect/counters/source_set.h"
#include "collect/dl/library.h"
#include "collect/pm/cupti_candidates.h"

namespace gpuprof::counters {
namespace {

// The first missing function; null if complete.
const char* bind(const Library& library, Api& api) {
    const char* missing = nullptr;
    api.path = library.path();
#define GPUPROF_COUNTERS_BIND(member, function, Parameters)                                      \
    api.member = {reinterpret_cast<int (*)(Parameters*)>(library.symbol(#function)), #function}; \
    if (api.member.pointer == nullptr && missing == nullptr) missing = #function;
    GPUPROF_COUNTERS_HOST(GPUPROF_COUNTERS_BIND)
    GPUPROF_COUNTERS_DEVICE(GPUPROF_COUNTERS_BIND)
#undef GPUPROF_COUNTERS_BIND
#define GPUPROF_COUNTERS_OPTION(member, function, Parameters) \
    api.member = {reinterpret_cast<int (*)(Parameters*)>(library.symbol(#function)), #function};
    GPUPROF_COUNTERS_OPTIONAL(GPUPROF_COUNTERS_OPTION)
#undef GPUPROF_COUNTERS_OPTION
    auto version = reinterpret_cast<int (*)(std::uint32_t*)>(library.symbol("cuptiGetVersion"));
    if (version == nullptr || version(&api.version) != pm::kSuccess) api.version = 0;
    return missing;
}

}  // namespace

Result<Api> load_host_api(const std::string& program, bool for_device) {
    Api api;
    Result<Driver> driver = Driver::open();
    auto start = [&](const Library&) {
        pm::ProfilerInitialize parameters;
        bool ready = for_device && driver.ok() && driver->call("cuInit", 0u) == 0;
        return ready ? api.initialize.code(parameters) : pm::kSuccess;
    };
    Result<Library> library = pm::find_cupti(
        program, "kernel counters", [&api](const Library& each) { return bind(each, api); }, start);
    if (!library.ok()) return library.error();
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) pm::load_library_of_cupti(api.path, name);
    return api;
}

Result<std::unique_ptr<MetricHost>> MetricHost::open(const Api& api, const Chip& chip) {
    pm::HostInitialize parameters;
    parameters.type = range::kRangeProfiler;
    parameters.chip = chip.name.c_str();
    parameters.availability = chip.availability.empty() ? nullptr : chip.availability.data();
    if (Status status = api.host_initialize(parameters); !status) return status.error();
    return std::unique_ptr<MetricHost>(new MetricHost(api, parameters.host));
}

MetricHost::~MetricHost() {
    pm::HostDeinitialize parameters;
    parameters.host = object_;
    (void)api_.host_deinitialize.code(parameters);
}

namespace {

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
}

}  // namespace

Status MetricHost::add(const std::vector<std::string>& names) {
    std::vector<const char*> pointers = pointers_to(names);
    pm::HostAddMetrics parameters;
    parameters.host = object_;
    parameters.names = pointers.data();
    parameters.count = pointers.size();
    return api_.host_add_metrics(parameters);
}

Result<std::vector<std::uint8_t>> MetricHost::config() const {
    pm::HostGetConfigSize size;
    size.host = object_;
    if (Status status = api_.host_config_size(size); !status) return status.error();
    std::vector<std::uint8_t> image(size.bytes);
    pm::HostGetConfig parameters;
    parameters.host = object_;
    parameters.bytes = image.size();
    parameters.image = image.data();
    if (Status status = api_.host_config(parameters); !status) return status.error();
    return image;
}

std::string MetricHost::unit_of(const std::string& name) const {
    HostGetProperties parameters;
    parameters.host = object_;
    parameters.name = name.c_str();
    if (api_.host_properties.code(parameters) != pm::kSuccess || parameters.dimension == nullptr)
        return unit_of_name(name);
    return unit_of_dimension(parameters.dimension);
}

std::vector<std::string> MetricHost::base_metrics() const {
    constexpr std::int32_t kTypes = 3;
    std::vector<std::string> names;
    for (std::int32_t type = 0; type < kTypes; ++type) {
        HostGetBaseMetrics parameters;
        parameters.host = object_;
        parameters.type = type;
        if (api_.host_base_metrics.code(parameters) != pm::kSuccess) continue;
        for (std::size_t i = 0; i < parameters.count; ++i) names.emplace_back(parameters.names[i]);
    }
    std::sort(names.begin(), names.end());
    return names;
}

Status MetricHost::evaluate(const std::uint8_t* image, std::size_t bytes, std::size_t range,
                            const std::vector<std::string>& names, std::vector<double>& values) const {
    std::vector<const char*> pointers = pointers_to(names);
    values.assign(names.size(), 0);
    pm::HostEvaluate parameters;
    parameters.host = object_;
    parameters.image = image;
    parameters.bytes = bytes;
    parameters.sample = range;
    parameters.names = pointers.data();
    parameters.count = pointers.size();
    parameters.values = values.data();
    return api_.host_evaluate(parameters);
}

namespace {

// Measured for other metrics beside one of these: CUPTI answers 27.
constexpr std::array<std::string_view, 5> kLinks{"nvlrx__", "nvltx__", "pcie__", "ctc__", "c2clink__"};

bool of_link(std::string_view name) {
    return std::any_of(kLinks.begin(), kLinks.end(), [&](std::string_view link) { return name.starts_with(link); });
}

struct Trial {
    std::vector<std::uint8_t> config;
    std::uint64_t passes = 0;
};

Result<Trial> try_names(const Api& api, const Chip& chip, const std::vector<std::string>& names) {
    Result<std::unique_ptr<MetricHost>> host = MetricHost::open(api, chip);
    if (!host.ok()) return host.error();
    if (Status added = (*host)->add(names); !added) return added.error();
    Result<std::vector<std::uint8_t>> config = (*host)->config();
    if (!config.ok()) return config.error();
    pm::HostGetPasses parameters;
    parameters.bytes = config->size();
    parameters.image = config->data();
    if (Status status = api.host_passes(parameters); !status) return status.error();
    return Trial{std::move(*config), parameters.passes};
}

// The order matters, and that of a user's list is by chance; the same orders are tried on every run.
constexpr int kOrders = 24;
constexpr std::size_t kWorthOrdering = 3;

void improve_order(const Api& api, const Chip& chip, std::vector<std::string>& names, Trial& best) {
    std::vector<std::string> order = names;
    std::mt19937 random(1);
    for (int i = 0; i < kOrders && best.passes > 1; ++i) {
        std::shuffle(order.begin(), order.end(), random);
        Result<Trial> trial = try_names(api, chip, order);
        if (!trial.ok() || trial->passes >= best.passes) continue;
        names = order;
        best = std::move(*trial);
    }
}

}  // namespace

Result<MetricPlan> plan_metrics(const Api& api, const Chip& chip, const std::vector<std::string>& names) {
    if (Result<std::unique_ptr<MetricHost>> host = MetricHost::open(api, chip); !host.ok()) return host.error();
    MetricPlan plan;
    Error first;
    bool only_links = std::all_of(names.begin(), names.end(), of_link);
    for (const std::string& name : names) {
        if (of_link(name) && !only_links) {
            plan.separate.push_back(name);
            continue;
        }
        Result<Trial> trial = try_names(api, chip, {name});
        (trial.ok() ? plan.names : plan.absent).push_back(name);
        if (!trial.ok() && first.message.empty()) first = trial.error();
    }
    if (plan.names.empty())
        return Error{first.code, fmt::format("{} has none of these counters, or CUPTI does not know them: {}",
                                             chip.name, first.message)};
    Result<Trial> whole = try_names(api, chip, plan.names);
    if (!whole.ok()) return whole.error();
    if (whole->passes > 1 && plan.names.size() >= kWorthOrdering) improve_order(api, chip, plan.names, *whole);
    Result<std::unique_ptr<MetricHost>> host = MetricHost::open(api, chip);
    if (!host.ok()) return host.error();
    for (const std::string& name : plan.names) plan.units.push_back((*host)->unit_of(name));
    plan.config = std::move(whole->config);
    plan.passes = whole->passes;
    return plan;
}

Result<MetricPlan> plan_source_metrics(const Api& api, const Chip& chip, const std::vector<std::string>& names) {
    if (api.sass_properties.pointer == nullptr)
        return Error{ExitCode::empty,
                     fmt::format("{} has no counters of instructions; use CUPTI 12.8 or later", api.path)};
    // CUPTI answers 15 before the first host object of the process.
    Result<std::unique_ptr<MetricHost>> host = MetricHost::open(api, chip);
    if (!host.ok()) return host.error();
    MetricPlan plan;
    Error first;
    for (const std::string& name : names) {
        sass::GetProperties asked;
        asked.chip = chip.name.c_str();
        asked.name = name.c_str();
        Status found = api.sass_properties(asked);
        (found ? plan.names : plan.absent).push_back(name);
        if (!found && first.message.empty()) first = found.error();
    }
    if (plan.names.empty())
        return Error{first.code, fmt::format("{} has none of these counters: {}", chip.name, first.message)};
    for (const std::string& name : plan.names)
        for (const SourceMetric& metric : kSourceMetrics)
            if (metric.name == name) plan.units.emplace_back(metric.unit);
    plan.passes = 1;
    return plan;
}

namespace {

// Units of metrics. CUPTI's dimensions name the unit of the hardware too (gpc_cycle, dram_cycle); Nsight Compute prints
// the plain word. Compared on the 1,847 metrics of its raw page that CUPTI knows.

using Entry = std::pair<std::string_view, std::string_view>;
constexpr Entry kWords[] = {
    {"percent", "%"},           {"nanosecond", "ns"},          {"byte", "byte"},         {"instruction", "inst"},
    {"warp", "warp"},           {"l2_sector", "sector"},       {"lrc_sector", "sector"}, {"l2_request", "request"},
    {"gcc_request", "request"}, {"branch_target", "branches"}, {"cta", "block"},
};

std::string plain(std::string_view word) {
    if (word.ends_with("_cycle")) return "cycle";
    for (const auto& [theirs, ours] : kWords)
        if (word == theirs) return std::string(ours);
    return "";
}

}  // namespace

std::string unit_of_dimension(std::string_view dimension) {
    std::size_t slash = dimension.find('/');
    std::string above = plain(dimension.substr(0, slash));
    if (slash == std::string_view::npos || above.empty()) return above;
    std::string_view below = dimension.substr(slash + 1);
    if (below == "second") return above == "cycle" ? "hz" : above + "/s";
    std::string under = plain(below);
    return under.empty() ? "" : above + "/" + under;
}

std::string unit_of_name(std::string_view name) {
    std::string_view base = name.substr(0, name.find('.')), sub = name.substr(base.size());
    if (sub.find("pct") != std::string_view::npos) return "%";
    if (sub.find(".per_") != std::string_view::npos || sub.find(".peak_") != std::string_view::npos ||
        sub.find(".ratio") != std::string_view::npos)
        return sub.ends_with(".per_second") && base.find("__cycles") != std::string_view::npos ? "hz" : "";
    for (auto [part, unit] : {Entry{"__time_duration", "ns"},
                              {"__cycles", "cycle"},
                              {"bytes", "byte"},
                              {"sectors", "sector"},
                              {"__inst_", "inst"}})
        if (base.find(part) != std::string_view::npos) return std::string(unit);
    return "";
}

}  // namespace gpuprof::counters
