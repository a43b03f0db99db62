// The first answer: trust, verdict, findings and a picture, as plain values between the analyses that make them and the
// reports that show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"
#include "core/model/result_table.h"

namespace gpuprof {

// What the numbers rest on. Each statement is a sentence.
struct Trust {
    struct Statement {
        bool warning = false;  // can change a conclusion
        std::string text;
        bool damage = false;  // bytes of the input could not be read: said before everything else
    };
    std::vector<Statement> statements;
};

// One candidate explanation: the share of the window it accounts for, and how much of the window acting on it would give
// back at most. Waiting is given back whole; how much faster kernels could be is not known without counters, so absent.
struct Candidate {
    std::string name;
    double share_pct = 0;
    std::optional<double> gives_back_pct;
    std::string because;
};

struct Verdict {
    std::string name;                      // one of the closed list in docs/concepts.md
    std::optional<double> share_pct;       // as in Candidate
    std::optional<double> gives_back_pct;  // as in Candidate
    std::string because;
    std::vector<Candidate> alternatives;
};

enum class Weight { high, medium, low };  // severity and confidence of findings

std::string_view name_of(Weight weight);

struct Finding {
    std::string id;  // stable kebab-case name of the rule, e.g. "input-pipeline"
    Weight severity = Weight::low;
    DurNs cost_ns = 0;
    double share_pct = 0;  // of the window
    std::string title;
    std::vector<std::string> evidence;  // facts with row handles
    std::string remedy;
    Weight confidence = Weight::medium;
    std::string would_change_if;
};

// Busy time of one device over the window, in equal slices, each 0..1.
struct DevicePicture {
    std::int32_t device = 0;
    std::vector<double> busy;
};

struct Answer {
    Trust trust;
    Interval window;
    Verdict verdict;
    std::vector<Finding> findings;
    std::vector<DevicePicture> pictures;
    std::vector<ResultTable> tables;      // devices, idle, kernels: what the answer shows
    std::vector<std::string> next_steps;  // commands to run next
};

}  // namespace gpuprof
