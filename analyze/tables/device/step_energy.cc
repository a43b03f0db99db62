// `step_energy`: how much energy did each step use? One row per step and device, in order of time. A step includes
// the idle time in it. Steps shorter than the sensor resolves are computed from the power of the classes of work, or
// have no energy; `energy` has the mean over all steps, which is known far better.
#include "analyze/facts/activity.h"
#include "analyze/facts/energy/energy_use.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct StepEnergyRow {
    const Step& step;
    TimeNs origin;
    std::int32_t device;
    EnergyEstimate of;
};

constexpr auto kStepEnergyColumns = columns_of<StepEnergyRow>({
    {"step", CellType::text, Unit::none, "Name of the step's range, or the step number.",
     [](auto& r) { return text_cell(r.step.name); }},
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device; }},
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.step.start - r.origin; }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.step.end - r.step.start; }},
    {"energy_j", CellType::real, Unit::joule, "Energy of the board during the step; absent if it cannot be known.",
     [](auto& r) { return r.of ? real(r.of.joules) : kAbsent; }},
    {"uncertainty_j", CellType::real, Unit::joule,
     "Error of energy_j in either direction (95 %), including 5 % of the sensor.",
     [](auto& r) { return r.of ? real(r.of.uncertainty_j) : kAbsent; }},
    {"mean_w", CellType::real, Unit::watt, "energy_j / dur_ns.",
     [](auto& r) { return r.of ? ratio(r.of.joules * 1e9, static_cast<double>(r.step.end - r.step.start)) : kAbsent; }},
    {"basis", CellType::text, Unit::none, "counter, power samples, or model (power of the classes by regression).",
     [](auto& r) { return text_cell(name_of(r.of.basis)); }},
    {"because", CellType::text, Unit::none, "Why the energy is absent.",
     [](auto& r) { return text_cell(r.of.because); }},
});

Result<ResultTable> step_energy_table(const Facts& facts) {
    const Steps& found = facts.get<Steps>();
    ResultTable table("step_energy", kStepEnergyColumns);
    if (!found.note.empty()) table.notes.push_back(found.note);
    const EnergyUse& use = facts.get<EnergyUse>();
    for (const Step& step : found.steps)
        for (const auto& device : use.devices)
            table.add(kStepEnergyColumns,
                      {step, facts.trace().zero(), device->device(), device->over(Interval{step.start, step.end})});
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (use.of(device.device) == nullptr)
            table.notes.push_back("No energy: " + DeviceEnergies::absent_because(facts, device.device) + ".");
    return table;
}

}  // namespace

const Analysis kStepEnergy{"step_energy", "", "Per step and device: energy, and how sure it is.", kStepEnergyColumns,
                           step_energy_table};

}  // namespace gpuprof::tables
