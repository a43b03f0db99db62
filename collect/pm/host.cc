// Choosing the counters of a set that a chip has and that fit one pass.
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

// Whether the chip knows all of the names; on an object that is thrown away.
Result<bool> knows(const Api& api, const Chip& chip, std::vector<const char*> names) {
    Result<std::unique_ptr<Host>> host = Host::open(api, chip);
    if (!host.ok()) return host.error();
    return (*host)->add(names).ok();
}

// The best name of each counter; all at once when the chip knows the first of each, which saves an object per name.
Status choose_names(const Api& api, const Chip& chip, const CounterSet& set, Plan& plan) {
    std::vector<const CounterSource*> wanted;
    std::vector<const char*> best;
    for (const CounterSource& source : counter_sources())
        if ((source.sets & set.bit) != 0) wanted.push_back(&source), best.push_back(source.names[0]);
    Result<bool> all = knows(api, chip, best);
    if (!all.ok()) return all.error();
    for (const CounterSource* source : wanted) {
        const char* chosen = *all ? source->names[0] : nullptr;
        for (const char* name : source->names) {
            if (chosen != nullptr || name == nullptr) break;
            Result<bool> known = knows(api, chip, {name});
            if (!known.ok()) return known.error();
            if (*known) chosen = name;
        }
        if (chosen == nullptr)
            plan.unknown.push_back(source->counter);
        else
            plan.counters.push_back(source->counter), plan.names.push_back(chosen);
    }
    if (plan.names.empty())
        return Error{ExitCode::empty, fmt::format("CUPTI ({}) knows none of the counters of set {} for {}", api.path,
                                                  set.name, chip.name)};
    return {};
}

Result<std::size_t> count_passes(const Api& api, std::vector<std::uint8_t>& config) {
    HostGetPasses parameters;
    parameters.bytes = config.size();
    parameters.image = config.data();
    if (Status status = api.host_passes(parameters); !status) return status.error();
    return parameters.passes;
}

}  // namespace

Result<Plan> make_plan(const Api& api, const Chip& chip, const CounterSet& set) {
    Plan plan;
    if (Status chosen = choose_names(api, chip, set, plan); !chosen) return chosen.error();
    for (;;) {
        Result<std::unique_ptr<Host>> host = Host::open(api, chip);
        if (!host.ok()) return host.error();
        if (Status added = (*host)->add(plan.names); !added) return added.error();
        Result<std::vector<std::uint8_t>> config = (*host)->config();
        if (!config.ok()) return config.error();
        Result<std::size_t> passes = count_passes(api, *config);
        if (!passes.ok()) return passes.error();
        if (*passes <= 1) {
            plan.host = std::move(*host);
            plan.config = std::move(*config);
            return plan;
        }
        if (plan.names.size() == 1)
            return Error{ExitCode::empty, fmt::format("{} takes {} passes on {}; it cannot be sampled over time",
                                                      plan.names[0], *passes, chip.name)};
        plan.crowded_out.push_back(plan.counters.back());
        plan.counters.pop_back();
        plan.names.pop_back();
    }
}

}  // namespace gpuprof::pm
