// `steps`: how long does an iteration take, is the device busy in it, and which ones are slow and why? One row per step
// in order of time; step_finder.h says how steps are found.
// gpu_busy is the device time inside [start, end) of the step, summed over devices; work that a step submits but that
// runs after its end counts in the next step. slow = longer than 1.2 x the median or than the 95th percentile (both
// nearest rank). why compares a slow step with the median step: where the step's thread spent more time, and whether
// the device was busy longer. It names the largest difference; it does not prove a cause.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/facts/stat.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::size_t kNameShown = 60;
constexpr double kBacklog = 0.1;  // a note is added if this share of the device's work runs after the last step

struct Measured {
    DurNs dur = 0;
    WideSum busy;
    std::uint64_t kernels = 0;
    bool slow = false;
};

std::vector<Measured> measure(const Facts& facts, const std::vector<Step>& steps) {
    std::vector<Measured> result;
    for (const Step& step : steps) {
        Measured& to = result.emplace_back();
        to.dur = step.end - step.start;
        for (const DeviceActivity& device : facts.get<Activity>().devices)
            to.busy.add(length_within(device.busy, {step.start, step.end}));
    }
    const KernelTable& kernels = facts.trace().kernel();
    std::int64_t only = facts.options().device;
    std::size_t at = 0;
    for (Row row = 0; row < kernels.rows; ++row) {
        while (at < steps.size() && steps[at].end <= kernels.start[row]) ++at;
        if (at == steps.size()) break;
        if (kernels.start[row] < steps[at].start || (only >= 0 && kernels.device.value_or(row, -1) != only)) continue;
        ++result[at].kernels;
    }
    return result;
}

// Index of the step of median length; marks the slow ones.
std::size_t judge(std::vector<Measured>& steps) {
    std::vector<std::int64_t> durations;
    for (const Measured& step : steps) durations.push_back(step.dur);
    Stat stat = stat_of(durations);
    auto median = std::find_if(steps.begin(), steps.end(), [&](const Measured& step) { return step.dur == stat.p50; });
    for (Measured& step : steps)
        step.slow = step.dur > stat.p95 || static_cast<double>(step.dur) > 1.2 * static_cast<double>(stat.p50);
    return static_cast<std::size_t>(median - steps.begin());
}

// Cuts a name at its template or argument list, or at kNameShown bytes.
std::string shorten(std::string_view name) {
    if (name.starts_with("void ")) name.remove_prefix(5);
    if (std::size_t cut = name.find_first_of("<("); cut != name.npos && cut > 0 && cut <= kNameShown)
        return std::string(name.substr(0, cut));
    if (name.size() <= kNameShown) return std::string(name);
    std::size_t end = kNameShown;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0u) == 0x80u) --end;  // not inside a UTF-8 character
    return fmt::format("{}...", name.substr(0, end));
}

// Time by name: of the step's thread by innermost span, or of kernels.
using TimeByName = std::unordered_map<std::uint32_t, WideSum>;

// The name whose time grew most, and its growth in ns; 0 if no time grew.
std::pair<StringId, double> largest_growth(const TimeByName& from, const TimeByName& to) {
    StringId grown = kNoString;
    WideSum largest;
    for (const auto& [name, time] : to) {
        WideSum more = time;
        if (auto before = from.find(name); before != from.end()) more.subtract(before->second);
        if (more < largest || (more == largest && StringId{name} >= grown)) continue;
        largest = more;
        grown = StringId{name};
    }
    return {grown, largest.real()};
}

class Explanation {
public:
    Explanation(const Facts& facts, const Steps& found, const std::vector<Measured>& measured, std::size_t median)
        : facts_(facts), steps_(found.steps), measured_(measured), median_(median) {
        if (found.thread != kNoString) thread_ = HostTimeline(facts.trace()).spans(found.thread);
        host_of_median_ = host(steps_[median]);
        kernels_of_median_ = kernels(steps_[median]);
    }

    std::string of(std::size_t slow) const {
        DurNs longer = measured_[slow].dur - measured_[median_].dur;
        double busier = measured_[slow].busy.real() - measured_[median_].busy.real();
        std::string text = fmt::format("{} longer than the median", readable_duration(longer));
        auto [span, more_host] = largest_growth(host_of_median_, host(steps_[slow]));
        if (more_host > 0) {
            std::string what = span == kNoString ? "host code without records" : shorten(facts_.trace().text(span));
            text += fmt::format(": host {} more in {}", readable_duration(more_host), what);
        }
        if (busier > 0.1 * static_cast<double>(longer)) {
            auto [kernel, more] = largest_growth(kernels_of_median_, kernels(steps_[slow]));
            text += fmt::format("{} device busy {} longer", more_host > 0 ? ";" : ":", readable_duration(busier));
            if (more > 0) text += fmt::format(", most in {}", shorten(facts_.trace().text(kernel)));
        } else {
            text += fmt::format("{} device not busier", more_host > 0 ? ";" : ":");
        }
        return text;
    }

private:
    // The step's own range, and any other span that covers the whole step, explains nothing; its time has no name.
    TimeByName host(const Step& step) const {
        TimeByName times;
        thread_.each_innermost({step.start, step.end}, [&](std::uint32_t at, DurNs dur) {
            bool whole = at == kNoSpan || (thread_.spans[at].start <= step.start && thread_.spans[at].end >= step.end);
            times[index_of(whole ? kNoString : thread_.spans[at].name)].add(dur);
        });
        return times;
    }
    TimeByName kernels(const Step& step) const {
        TimeByName times;
        const KernelTable& table = facts_.trace().kernel();
        std::int64_t only = facts_.options().device;
        for (Row row = table.start.lower_bound(step.start); row < table.rows && table.start[row] < step.end; ++row)
            if (only < 0 || table.device.value_or(row, -1) == only)
                times[index_of(table.name.value_or(row, kNoString))].add(
                    std::min(table.dur[row], step.end - table.start[row]));
        return times;
    }

    const Facts& facts_;
    const std::vector<Step>& steps_;
    const std::vector<Measured>& measured_;
    std::size_t median_;
    HostThread thread_;
    TimeByName host_of_median_, kernels_of_median_;
};

// When the host runs ahead of the device, steps are short and their work runs in later steps or after the last.
void note_backlog(const Facts& facts, const Steps& found, ResultTable& table) {
    WideSum after, whole;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        after.add(length_within(device.busy, {found.steps.back().end, facts.trace().window().end}));
        whole.add(length(device.busy));
    }
    if (after.real() < kBacklog * whole.real() || after == WideSum{}) return;
    table.notes.push_back(
        fmt::format("The device was busy for {} after the last step: the host runs ahead, so step durations measure "
                    "submission, and device columns show the work of earlier steps.",
                    readable_duration(after.real())));
}

struct StepsRow {
    const Step& step;
    const Measured& measured;
    TimeNs origin;
    double devices;
    std::string why;
};

constexpr auto kStepsColumns = columns_of<StepsRow>({
    {"step", CellType::text, Unit::none, "Name of the step's range, or the step number.",
     [](auto& r) { return text_cell(r.step.name); }},
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.step.start - r.origin; }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.measured.dur; }},
    {"gpu_busy_ns", CellType::integer, Unit::ns, "Time in the step with a device op in flight, summed over devices.",
     [](auto& r) { return r.measured.busy.value(); }},
    {"busy_pct", CellType::real, Unit::percent, "gpu_busy_ns as a share of dur_ns x the number of devices with work.",
     [](auto& r) { return percent(r.measured.busy.real(), static_cast<double>(r.measured.dur) * r.devices); }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels that started in the step.",
     [](auto& r) { return r.measured.kernels; }},
    {"slow", CellType::boolean, Unit::none, "Longer than 1.2 x the median step or than the 95th percentile.",
     [](auto& r) { return r.measured.slow; }},
    {"why", CellType::text, Unit::none, "Largest differences between a slow step and the median step.",
     [](auto& r) { return text_cell(r.why); }},
});

Result<ResultTable> steps_table(const Facts& facts) {
    const Steps& found = facts.get<Steps>();
    ResultTable table("steps", kStepsColumns);
    table.handle_prefix = "step";
    if (!found.note.empty()) table.notes.push_back(found.note);
    if (found.steps.empty()) return table;

    note_backlog(facts, found, table);
    std::vector<Measured> measured = measure(facts, found.steps);
    std::size_t median = judge(measured);
    bool any_slow = std::any_of(measured.begin(), measured.end(), [](const Measured& step) { return step.slow; });
    std::optional<Explanation> explanation;
    if (any_slow) explanation.emplace(facts, found, measured, median);
    auto devices = static_cast<double>(facts.get<Activity>().devices.size());
    for (std::size_t i = 0; i < found.steps.size(); ++i)
        table.add(kStepsColumns, {found.steps[i], measured[i], facts.trace().zero(), devices,
                                  measured[i].slow ? explanation->of(i) : ""});
    return table;
}

}  // namespace

const Analysis kSteps{"steps", "", "Per iteration: duration, device busy time, and why slow steps are slow.",
                      kStepsColumns, steps_table};

}  // namespace gpuprof::tables
