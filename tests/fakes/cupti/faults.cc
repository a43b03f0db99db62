#include "tests/fakes/cupti/faults.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <list>
#include <sstream>
#include <thread>

namespace fake_cupti {
namespace {

struct Rule {
    std::string verb, function;
    long number = 0;
    std::atomic<long> spared{0};  // calls that still work
};

struct Rules {
    Faults faults;
    std::list<Rule> of_functions;
};

void add_function_rule(Rules& rules, const std::string& verb, std::istringstream& words) {
    Rule& rule = rules.of_functions.emplace_back();
    rule.verb = verb;
    words >> rule.function;
    if (verb != "hang") words >> rule.number;
    std::string after;
    long spared = 0;
    if (words >> after >> spared && after == "after") rule.spared = spared;
}

void add_rule(Rules& rules, const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string verb;
    if (!(words >> verb)) return;
    Faults& faults = rules.faults;
    long number = 0;
    auto next = [&] {
        words >> number;
        return number;
    };
    if (verb == "fail" || verb == "hang" || verb == "slow") return add_function_rule(rules, verb, words);
    if (verb == "version")
        faults.version = static_cast<std::uint32_t>(next());
    else if (verb == "driver")
        faults.driver = static_cast<std::uint32_t>(next());
    else if (verb == "subscriber")
        words >> faults.subscriber;
    else if (verb == "modules")
        words >> faults.modules >> faults.module_ms;
    else if (verb == "late_teardown")
        faults.late_teardown = true;
    else if (verb == "devices")
        faults.devices = static_cast<std::uint32_t>(next());
    else if (verb == "late")
        faults.late_ms = static_cast<std::uint32_t>(next());
    else if (verb == "keep")
        faults.keep = next();
    else if (verb == "shuffle")
        faults.shuffle = true, faults.seed = static_cast<std::uint32_t>(next());
    else if (verb == "zero_times")
        faults.zero_times = static_cast<std::uint32_t>(next());
    else if (verb == "unfinished")
        faults.unfinished = next();
    else if (verb == "running")
        faults.running = next();
    else if (verb == "causal")
        faults.causal = true;
    else if (verb == "after_teardown")
        faults.after_teardown = true;
    else {
        std::fprintf(stderr,
                     "fake libcupti: unknown rule '%s' in GPUPROF_FAKE_CUPTI_SCRIPT; see tests/fakes/cupti/faults.h\n",
                     line.c_str());
        std::abort();
    }
}

Rules& rules() {
    // Never destroyed: calls come in while the process ends.
    static Rules& rules = *[] {
        auto* made = new Rules;
        const char* named = std::getenv("GPUPROF_FAKE_CUPTI_SCRIPT");
        std::string text = named ? named : "";
        if (!text.empty() && text[0] == '/') {
            std::ifstream file(text);
            text.assign(std::istreambuf_iterator<char>(file), {});
        }
        std::replace(text.begin(), text.end(), ';', '\n');
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) add_rule(*made, line);
        return made;
    }();
    return rules;
}

}  // namespace

Faults& faults() { return rules().faults; }

int gate(const char* function) {
    for (Rule& rule : rules().of_functions) {
        if (rule.function != function || rule.spared.fetch_sub(1) > 0) continue;
        if (rule.verb == "fail") return static_cast<int>(rule.number);
        if (rule.verb == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(rule.number));
        while (rule.verb == "hang") pause();
    }
    return 0;
}

}  // namespace fake_cupti
