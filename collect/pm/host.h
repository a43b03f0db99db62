// CUPTI's host object: it knows a chip's counters, creates the configuration of a set, and turns raw data into values.
// One unknown name breaks an object for good (later calls return 999), and counters added in separate calls need a pass
// each. Names are therefore tried on separate objects, and a configuration gets all of them in one call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/pm/pm_api.h"
#include "collect/pm/sets.h"

namespace gpuprof::pm {

// A GPU as CUPTI identifies it.
struct Chip {
    std::size_t device = 0;
    std::string name;                        // e.g. GH100
    std::vector<std::uint8_t> availability;  // empty if it cannot be queried
};
Result<Chip> find_chip(const Api& api, std::size_t device);

class Host {
public:
    static Result<std::unique_ptr<Host>> open(const Api& api, const Chip& chip);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    Status add(std::vector<const char*>& names);
    // After add().
    Result<std::vector<std::uint8_t>> config() const;
    HostObject* object() const { return object_; }

private:
    Host(const Api& api, HostObject* object) : api_(api), object_(object) {}
    const Api& api_;
    HostObject* object_;
};

// What to sample, in one pass.
struct Plan {
    std::unique_ptr<Host> host;
    std::vector<PmCounter> counters;
    std::vector<const char*> names;  // CUPTI's name of each counter
    std::vector<std::uint8_t> config;
    std::vector<PmCounter> unknown, crowded_out;  // skipped: unknown to the chip; too much for one pass
};
Result<Plan> make_plan(const Api& api, const Chip& chip, const CounterSet& set);

}  // namespace gpuprof::pm
