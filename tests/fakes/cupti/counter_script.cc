#include "tests/fakes/cupti/counter_script.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace fake_cupti {
namespace {

void take(const std::string& word, CounterScript& script) {
    std::size_t equals = word.find('=');
    std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::size_t colon = value.find(':');
    if (key == "chip")
        script.chip = value;
    else if (key == "per_pass")
        script.per_pass = std::stoul(value);
    else if (key == "unknown")
        script.unknown.push_back(value);
    else if (key == "value" && colon != std::string::npos)
        script.values[value.substr(0, colon)] = std::strtod(value.c_str() + colon + 1, nullptr);
    else if (key == "hang")
        script.hang = value;
    else if (key == "crash")
        script.crash = value;
    else if (key == "dropped")
        script.dropped = std::stoul(value);
    else if (key == "mixed")
        script.mixed = std::stoul(value);
    else {
        std::fprintf(stderr, "fake libcupti: '%s' in GPUPROF_FAKE_COUNTERS; see tests/fakes/cupti/counter_script.h\n",
                     word.c_str());
        std::abort();
    }
}

}  // namespace

const CounterScript& counter_script() {
    static const CounterScript& script = *[] {
        auto* made = new CounterScript;
        const char* named = std::getenv("GPUPROF_FAKE_COUNTERS");
        std::istringstream words(named ? named : "");
        for (std::string word; words >> word;) take(word, *made);
        return made;
    }();
    return script;
}

// Complete names only, as CUPTI takes them: a unit, a metric and a submetric.
bool knows_metric(const std::string& name) {
    for (const std::string& unknown : counter_script().unknown)
        if (name.find(unknown) != std::string::npos) return false;
    return name.find("__") != std::string::npos && name.find('.') != std::string::npos;
}

}  // namespace fake_cupti
