// CUPTI's host object: it knows a chip's counters, makes the configuration of a set, and turns raw data into values.
// One unknown name spoils an object for good (later calls answer 999), and counters added in several calls need a pass each:
// so names are tried on objects of their own, and a configuration gets all of them in one call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/pm/api.h"
#include "collect/pm/sets.h"

namespace gpuprof::pm {

// A GPU as CUPTI names it.
struct Chip {
    std::size_t device = 0;
    std::string name;                        // e.g. GH100
    std::vector<std::uint8_t> availability;  // empty where it cannot be asked for
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

// What is to be sampled, in one pass.
struct Plan {
    std::unique_ptr<Host> host;
    std::vector<PmCounter> counters;
    std::vector<const char*> names;  // CUPTI's, of each counter
    std::vector<std::uint8_t> config;
    std::vector<PmCounter> unknown, crowded_out;  // left out: the chip has none; one pass does not take it
};
Result<Plan> make_plan(const Api& api, const Chip& chip, const CounterSet& set);

}  // namespace gpuprof::pm
