// Selects the counters of a set that a chip has and that fit into one pass. If the whole set does not fit, counters are
// added in order of importance if they fit with those before: an expensive counter leaves room for others.
#include "collect/pm/host.h"

#include <fmt/format.h>

namespace gpuprof::pm {

Result<Chip> find_chip(const Api& api, std::size_t device) {
    Chip chip{.device = device, .name = {}, .availability = {}};
    GetChipName name;
    name.device = device;
    if (Status status = api.chip_name(name); !status) return status.error();
    chip.name = name.chip == nullptr ? "" : name.chip;
    if (api.availability.pointer == nullptr) return chip;
    GetCounterAvailability asked;
    asked.device = device;
    if (Status status = api.availability(asked); !status) return status.error();
    chip.availability.resize(asked.bytes);
    asked.image = chip.availability.data();
    if (Status status = api.availability(asked); !status) return status.error();
    return chip;
}

Result<std::unique_ptr<Host>> Host::open(const Api& api, const Chip& chip) {
    HostInitialize parameters;
    parameters.chip = chip.name.c_str();
    parameters.availability = chip.availability.empty() ? nullptr : chip.availability.data();
    if (Status status = api.host_initialize(parameters); !status) return status.error();
    return std::unique_ptr<Host>(new Host(api, parameters.host));
}

Host::~Host() {
    HostDeinitialize parameters;
    parameters.host = object_;
    (void)api_.host_deinitialize.code(parameters);
}

Status Host::add(std::vector<const char*>& names) {
    HostAddMetrics parameters;
    parameters.host = object_;
    parameters.names = names.data();
    parameters.count = names.size();
    return api_.host_add_metrics(parameters);
}

Result<std::vector<std::uint8_t>> Host::config() const {
    HostGetConfigSize size;
    size.host = object_;
    if (Status status = api_.host_config_size(size); !status) return status.error();
    std::vector<std::uint8_t> image(size.bytes);
    HostGetConfig parameters;
    parameters.host = object_;
    parameters.bytes = image.size();
    parameters.image = image.data();
    if (Status status = api_.host_config(parameters); !status) return status.error();
    return image;
}

namespace {

// Names tried together, on a separate host object.
struct Trial {
    bool known = false;      // the chip has all of them
    std::size_t passes = 0;  // passes that they need together, if known
    std::unique_ptr<Host> host;
    std::vector<std::uint8_t> config;

    bool fits() const { return known && passes <= 1; }
};

Result<Trial> try_names(const Api& api, const Chip& chip, std::vector<const char*> names) {
    Trial trial;
    Result<std::unique_ptr<Host>> host = Host::open(api, chip);
    if (!host.ok()) return host.error();
    trial.host = std::move(*host);
    trial.known = trial.host->add(names).ok();
    if (!trial.known) return trial;
    Result<std::vector<std::uint8_t>> config = trial.host->config();
    if (!config.ok()) return config.error();
    trial.config = std::move(*config);
    HostGetPasses parameters;
    parameters.bytes = trial.config.size();
    parameters.image = trial.config.data();
    if (Status status = api.host_passes(parameters); !status) return status.error();
    trial.passes = parameters.passes;
    return trial;
}

void keep(Plan& plan, Trial trial) {
    plan.host = std::move(trial.host);
    plan.config = std::move(trial.config);
}

// Adds `source` under the first of its names that fits with the plan so far.
Status add_fitting(const Api& api, const Chip& chip, const CounterSource& source, Plan& plan) {
    bool known = false;
    for (const char* name : source.names) {
        if (name == nullptr) break;
        std::vector<const char*> names = plan.names;
        names.push_back(name);
        Result<Trial> trial = try_names(api, chip, names);
        if (!trial.ok()) return trial.error();
        known |= trial->known;
        if (!trial->fits()) continue;
        plan.counters.push_back(source.counter);
        plan.names = std::move(names);
        keep(plan, std::move(*trial));
        return {};
    }
    (known ? plan.crowded_out : plan.unknown).push_back(source.counter);
    return {};
}

}  // namespace

Result<Plan> make_plan(const Api& api, const Chip& chip, const CounterSet& set) {
    Plan plan;
    std::vector<const CounterSource*> wanted;
    for (const CounterSource& source : counter_sources())
        if ((source.sets & set.bit) != 0) wanted.push_back(&source);
    for (const CounterSource* source : wanted) {
        plan.counters.push_back(source->counter);
        plan.names.push_back(source->names[0]);
    }
    // The set as designed; one host object instead of one per name.
    Result<Trial> whole = try_names(api, chip, plan.names);
    if (!whole.ok()) return whole.error();
    if (whole->fits()) {
        keep(plan, std::move(*whole));
        return plan;
    }
    plan = Plan{};
    for (const CounterSource* source : wanted)
        if (Status added = add_fitting(api, chip, *source, plan); !added) return added.error();
    if (plan.names.empty())
        return Error{ExitCode::empty, fmt::format("CUPTI ({}) has no counter of set {} for {} that fits into one pass",
                                                  api.path, set.name, chip.name)};
    return plan;
}

}  // namespace gpuprof::pm
