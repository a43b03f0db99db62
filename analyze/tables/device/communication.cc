// `communication`: how much communication is exposed, in which step, and behind what does the rest run? One row per
// device with collectives and step of `steps`, then one for the time outside all steps, so that the rows of a device sum
// to its comm_busy_ns and exposed_comm_ns in `devices`. comm, exposed and hidden are lengths of unions inside the step:
// comm = exposed + hidden. The two names are of the kernels with most of that time; kernels of one name that run at the
// same time all count.
#include <algorithm>
#include <unordered_map>

#include "analyze/facts/activity.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

using TimeByKernel = std::unordered_map<StringId, DurNs>;

// Time inside one step, or outside all of them.
struct CommunicationPart {
    DurNs comm = 0, exposed = 0;
    TimeByKernel of_collective;  // exposed time
    TimeByKernel behind;         // time of other kernels with a collective in flight
};

std::pair<StringId, DurNs> longest_of(const TimeByKernel& times) {
    std::pair<StringId, DurNs> most{kNoString, 0};
    for (auto [name, time] : times)
        if (time > most.second || (time == most.second && time > 0 && name < most.first)) most = {name, time};
    return most;
}

class CommunicationByStep {
public:
    CommunicationByStep(const Facts& facts, const DeviceActivity& device, const std::vector<Step>& steps)
        : comm_(device.comm),
          exposed_(subtract(device.comm, device.compute())),
          steps_(steps),
          parts_(steps.size() + 1) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            Interval step{steps[i].start, steps[i].end};
            parts_[i].comm = length_within(comm_, step);
            parts_[i].exposed = length_within(exposed_, step);
        }
        parts_.back().comm = length(comm_);
        parts_.back().exposed = length(exposed_);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            parts_.back().comm -= parts_[i].comm;
            parts_.back().exposed -= parts_[i].exposed;
        }
        add_kernels(facts.trace(), device.device);
    }
    const std::vector<CommunicationPart>& parts() const { return parts_; }  // by step, then outside

private:
    void add_kernels(const Trace& trace, std::int32_t device) {
        const KernelTable& kernels = trace.kernel();
        std::vector<signed char> collective(trace.strings().size(), -1);  // by name; -1: not looked up yet
        for (Row row = 0; row < kernels.rows; ++row) {
            if (kernels.device.value_or(row, -1) != device) continue;
            StringId name = kernels.name.value_or(row, kNoString);
            bool is_collective = false;
            if (name != kNoString) {
                signed char& known = collective[index_of(name)];
                if (known < 0) known = is_collective_kernel(trace.text(name));
                is_collective = known == 1;
            }
            add(name, {kernels.start[row], kernels.start[row] + kernels.dur[row]}, is_collective);
        }
    }

    void add(StringId name, Interval span, bool is_collective) {
        const IntervalSet& set = is_collective ? exposed_ : comm_;
        DurNs rest = length_within(set, span);
        auto credit = [&](CommunicationPart& part, DurNs time) {
            if (time > 0) (is_collective ? part.of_collective : part.behind)[name] += time;
            rest -= time;
        };
        if (rest == 0) return;
        auto first = static_cast<std::size_t>(
            std::partition_point(steps_.begin(), steps_.end(), [&](auto& step) { return step.end <= span.start; }) -
            steps_.begin());
        for (std::size_t i = first; i < steps_.size() && steps_[i].start < span.end; ++i)
            credit(parts_[i],
                   length_within(set, {std::max(span.start, steps_[i].start), std::min(span.end, steps_[i].end)}));
        credit(parts_.back(), rest);
    }

    const IntervalSet& comm_;
    const IntervalSet exposed_;
    const std::vector<Step>& steps_;
    std::vector<CommunicationPart> parts_;
};

struct CommunicationRow {
    const Trace& trace;
    std::int32_t device;
    const Step* step;  // null: outside all steps
    const CommunicationPart& part;
    std::pair<StringId, DurNs> collective, behind;
};

constexpr auto kCommunicationColumns = columns_of<CommunicationRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device; }},
    {"step", CellType::text, Unit::none, "The step, as in `steps`; absent for the time outside all steps.",
     [](auto& r) { return r.step ? text_cell(r.step->name) : kAbsent; }},
    {"start_ns", CellType::integer, Unit::ns, "Start of the step, relative to the window start.",
     [](auto& r) { return r.step ? integer(r.step->start - r.trace.zero()) : kAbsent; }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration of the step.",
     [](auto& r) { return r.step ? integer(r.step->end - r.step->start) : kAbsent; }},
    {"comm_ns", CellType::integer, Unit::ns, "Time in it with a collective kernel in flight.",
     [](auto& r) { return r.part.comm; }},
    {"exposed_ns", CellType::integer, Unit::ns, "Time in it with a collective but no other kernel in flight.",
     [](auto& r) { return r.part.exposed; }},
    {"hidden_ns", CellType::integer, Unit::ns, "comm_ns - exposed_ns.",
     [](auto& r) { return r.part.comm - r.part.exposed; }},
    {"exposed_pct", CellType::real, Unit::percent, "exposed_ns as a share of comm_ns.",
     [](auto& r) { return percent(r.part.exposed, r.part.comm); }},
    {"collective", CellType::text, Unit::none, "Collective kernel with the most exposed time.",
     [](auto& r) { return text_cell(r.trace, r.collective.first); }},
    {"collective_ns", CellType::integer, Unit::ns, "Its exposed time; absent without one.",
     [](auto& r) { return r.collective.second > 0 ? integer(r.collective.second) : kAbsent; }},
    {"behind", CellType::text, Unit::none, "Other kernel that runs longest while a collective is in flight.",
     [](auto& r) { return text_cell(r.trace, r.behind.first); }},
    {"behind_ns", CellType::integer, Unit::ns, "How long it does; absent without one.",
     [](auto& r) { return r.behind.second > 0 ? integer(r.behind.second) : kAbsent; }},
});

Result<ResultTable> communication_table(const Facts& facts) {
    ResultTable table("communication", kCommunicationColumns);
    table.handle_prefix = "com";
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        if (device.comm.empty()) continue;
        CommunicationByStep by_step(facts, device, steps);
        for (std::size_t i = 0; i < by_step.parts().size(); ++i) {
            const CommunicationPart& part = by_step.parts()[i];
            if (i == steps.size() && part.comm == 0) continue;
            table.add(kCommunicationColumns, {facts.trace(), device.device, i < steps.size() ? &steps[i] : nullptr,
                                              part, longest_of(part.of_collective), longest_of(part.behind)});
        }
    }
    if (table.rows() == 0) table.notes.push_back("No collective kernels were recorded.");
    if (steps.empty() && table.rows() > 0)
        table.notes.push_back("No steps were found, so a row covers all of a device.");
    return table;
}

}  // namespace

const Analysis kCommunication{"communication", "",
                              "Per device and step: communication that is exposed, and what hides the rest.",
                              kCommunicationColumns, communication_table};

}  // namespace gpuprof::tables
