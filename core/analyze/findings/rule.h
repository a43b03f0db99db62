// Rules that turn a diagnosis into findings. A rule looks at one pattern and either adds a finding with its cost, evidence
// and remedy, stays silent because the pattern is not there, or abstains and says what would have to be recorded.
// rules() is the list of the product's rules; adding one is one function and one line in rules.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/analyze/diagnosis.h"
#include "core/analyze/study.h"

namespace gpuprof {

// What a rule sees, and where it puts what it has to say.
class Case {
public:
    Case(const Study& of, Diagnosis& diagnosis) : study(of), diagnosis_(diagnosis) {}

    const Study& study;
    const Trace& trace() const { return study.trace(); }
    const Shares& shares() const { return diagnosis_.shares; }
    const std::vector<KernelGroup>& kernels() const { return diagnosis_.kernels; }
    const Distortion& distortion() const { return diagnosis_.distortion; }

    // Adds a finding; share, severity (by share) and order are filled in here.
    void add(Finding finding);
    void abstain(std::string_view rule, std::string_view because);

    // Evidence with row handles.
    std::string kernel(std::size_t group) const;     // "k-3 (12.3 ms, 18.0 % of kernel time): name"
    std::string idle(IdleCause cause) const;         // "idle-1: 155 ms of idle time is input pipeline"
    std::string longest_gap(IdleCause cause) const;  // "gap-2: 38.1 ms while NAME ran on 709/709"; "" if none
    std::string python(
        IdleCause cause) const;  // "Sampled meanwhile: 62 of 80 samples in augment (data.py:31)"; "" if none
    std::string row(std::string_view analysis, std::string_view column,
                    std::string_view value) const;  // "a-2", "" if none

private:
    Diagnosis& diagnosis_;
};

struct Rule {
    std::string_view id;
    std::string_view doc;  // the pattern, in a sentence
    void (*look)(Case&);
    bool of_idle_time = false;  // what is idle or hidden: it cannot be known when much of the work was not recorded
};

std::span<const Rule> rules();

// The rules, by file.
void look_for_input_wait(Case&);
void look_for_launch_cost(Case&);
void look_for_synchronisation(Case&);
void look_for_idle_gaps(Case&);
void look_for_transfers(Case&);
void look_for_allocation_churn(Case&);
void look_for_memory_bound_kernels(Case&);
void look_for_underfilled_device(Case&);
void look_for_layout_changes(Case&);
void look_for_low_occupancy(Case&);
void look_for_slow_convolutions(Case&);
void look_for_unused_tensor_cores(Case&);
void look_for_exposed_communication(Case&);
void look_for_throttling(Case&);
void look_for_profiler_cost(Case&);

}  // namespace gpuprof
