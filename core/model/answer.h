// The first answer: trust, verdict, findings and a picture, as plain values that analyses create and reports
// show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"
#include "core/model/result_table.h"

namespace gpuprof::inline model {

// What the numbers are based on. Each statement is a sentence.
struct Trust {
    struct Statement {
        bool warning = false;  // can change a conclusion
        std::string text;
        bool damage = false;         // bytes of the input could not be read: shown before everything else
        std::string_view code = {};  // of a warning that programs act on: a static text in snake case, or empty
    };
    std::vector<Statement> statements;
};

// The closed list of verdicts; docs/start/concepts.md explains them.
enum class Limit : std::uint8_t {
    compute,
    memory_bandwidth,
    underfilled,
    input,
    launch,
    synchronisation,
    transfer,
    communication,
    allocation,
    host,
    paced,     // a clock or a camera decides when work starts
    no_load,   // nobody asked for work most of the time
    healthy,   // near the device's own limit
    mixed,     // no dominant cause
    unknown,   // cannot tell
    profiler,  // only ever an alternative
};
// "compute-bound", "cannot tell", "the profiler", ...
std::string_view name_of(Limit limit);
// Names of verdicts about something else than a timeline of device work: jobs, memory, samples, dumps, and one kernel's counters.
inline constexpr std::string_view kOtherVerdicts[] = {
    "stragglers",   "no stragglers", "uneven stages", "hang",     "deadlock", "no open collective",
    "no GPU work",  "memory",        "instructions",  "steady",   "bursty",   "idle",
    "starved",      "throttled",     "DRAM-bound",    "L2-bound", "L1-bound", "memory-bound",
    "latency-bound"};
// name_of(limit) for people: "host-bound", "too little work at a time", ...
std::string_view shown_name_of(Limit limit);
// What takes the time of a limit, as a first screen says it: "fetching input", "launching kernels", ...
std::string_view spoken_of(Limit limit);

// The evidence for a verdict or a finding, strongest first.
enum class Basis : std::uint8_t {
    counters,  // measured by the device
    shapes,    // recorded operator shapes
    launch,    // grids and blocks of launches
    timeline,  // what ran when
    names,     // what kernels or ranges of these names usually do
};
// "counters", "operator shapes", "launch shapes", "the timeline", "kernel names".
std::string_view name_of(Basis basis);

enum class Rating { high, medium, low };  // severity and confidence

std::string_view name_of(Rating rating);

// What shares of a verdict are of.
enum class ShareOf : std::uint8_t {
    window,         // the time of all devices: busy by limiter, idle by cause
    critical_path,  // of the steps, without the recorder's cost
};
// "the window", "the critical path".
std::string_view name_of(ShareOf whole);

// One candidate explanation: the share it accounts for, and the share that acting on it would save, predicted by a replay or
// estimated. How much faster kernels could be is unknown without counters, so it is absent.
struct Candidate {
    std::string name;
    double share_pct = 0;
    std::optional<double> gives_back_pct;
    std::string because;
};

// One part of the whole that a verdict divides.
struct VerdictPart {
    Limit limit = Limit::unknown;
    DurNs time = 0;
    double share_pct = 0;
};

struct Verdict {
    std::string name;    // name_of(limit), or the word of a comparison
    std::string metric;  // of a comparison: the one that decides, as in --fail-on
    Limit limit = Limit::unknown;
    void conclude(Limit found) { limit = found, name = name_of(found); }
    ShareOf share_of = ShareOf::window;
    std::optional<double> share_pct;       // as in Candidate
    std::optional<double> gives_back_pct;  // as in Candidate
    std::string because;
    // The confidence and its basis; absent for "cannot tell".
    std::optional<Rating> confidence;
    std::optional<Basis> basis;
    std::vector<Candidate> alternatives;
    // What shares are of: a step without the recorder's cost, or the window of one device. Its parts, the largest first;
    // those below 1 % are omitted. `recorder`: what recording added to it. 0 and empty without a timeline.
    DurNs whole = 0, recorder = 0;
    std::vector<VerdictPart> parts;
};

// The name for people.
std::string title_of(const Verdict& verdict);

// What a change asks of the program: a setting, an edit of some lines, or other code.
enum class Effort : std::uint8_t { option, edit, rewrite };

std::string_view name_of(Effort effort);

// The part of its gain with which a change competes with others: an option comes before a rewrite that gains less than twice as much.
double weight_of(Effort effort);

// What a change would give, from a replay of the recording. Steps without the recorder's cost.
struct PredictedGain {
    std::string change;               // as `whatif --change` takes it
    DurNs step_before = 0, step = 0;  // of a step
    DurNs step_low = 0, step_high = 0;
    double gain_pct = 0, gain_low_pct = 0, gain_high_pct = 0;  // of step_before
    std::string certainty;                                     // "good" or "rough"
    std::string assumes;
    Effort effort = Effort::edit;
};

struct Finding {
    std::string id;  // stable kebab-case name of the rule, e.g. "input-pipeline"
    Rating severity = Rating::low;
    DurNs cost_ns = 0;        // of all devices
    std::size_t devices = 1;  // that cost_ns adds up
    double share_pct = 0;     // of a step without the recorder's cost, or of the window: as the verdict
    std::optional<PredictedGain> predicted;
    std::string title;
    std::vector<std::string> evidence;  // facts with row handles
    std::string place;  // where in the program, as the recording names it; "" if it does not. The remedy quotes it
    std::string remedy;
    Effort effort = Effort::edit;  // of the remedy
    Rating confidence = Rating::medium;
    Basis basis = Basis::timeline;
    std::string would_change_if;
};

// Busy share of one device in equal slices of the window, each 0..1.
struct BusyProfile {
    std::int32_t device = 0;
    std::vector<double> busy;
};

struct Answer {
    Trust trust;
    Interval window;
    Verdict verdict;
    std::vector<Finding> findings;
    std::vector<PredictedGain>
        predictions;  // what to change first, and then on top of it; empty if nothing can be predicted
    std::vector<BusyProfile> busy_profiles;
    std::vector<ResultTable> tables;      // devices, idle, kernels: what the answer shows
    std::vector<std::string> next_steps;  // commands to run next
};

}  // namespace gpuprof::model
