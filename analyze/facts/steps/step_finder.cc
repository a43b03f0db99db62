#include "analyze/facts/steps/step_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/facts/steps/iterations.h"
#include "core/base/text/ascii.h"
#include "core/base/text/pattern.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";
constexpr DurNs kRounded = 1'000;

// The words of a name in lower case, without numbers: "Train_Step 12" -> train, step.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    std::string word;
    auto end_word = [&] {
        bool number = std::all_of(word.begin(), word.end(), is_digit);
        if (!number) words.push_back(word);
        word.clear();
    };
    for (char c : name) {
        if (is_alphanumeric(c)) {
            word += to_lower(c);
        } else {
            end_word();
        }
    }
    end_word();
    return words;
}

// Spans of one family of names on one thread.
struct Family {
    StringId thread = kNoString;
    std::vector<Step> spans;  // by start, disjoint
    double covered = 0;

    // Skips spans nested in the previous one. Tools that round to microseconds may end one just after the next begins.
    void add(std::string name, TimeNs start, TimeNs end) {
        if (!spans.empty() && start < spans.back().end) {
            if (end <= spans.back().end || spans.back().end - start > kRounded) return;
            start = spans.back().end;
        }
        spans.push_back({std::move(name), start, end});
        covered += static_cast<double>(end - start);
    }
};

using Families = std::map<std::pair<std::uint32_t, std::string>, Family>;

// Adds the rows of a table for which family_of(name) is not empty, by thread and family.
template <class Table, class FamilyOf>
void gather(const Trace& trace, const Table& table, Families& families, FamilyOf&& family_of) {
    std::vector<const std::string*> known(trace.strings().size());
    std::map<std::string, bool> texts;  // owns the texts that `known` points to
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.name.has(row)) continue;
        const std::string*& family = known[index_of(table.name[row])];
        std::string_view name = trace.text(table.name[row]);
        if (family == nullptr) family = &texts.try_emplace(family_of(name)).first->first;
        if (family->empty()) continue;
        StringId thread = table.thread.value_or(row, kNoString);
        Family& to = families[{index_of(thread), *family}];
        to.thread = thread;
        TimeNs start = table.start[row], end = start + table.dur[row];
        to.add(std::string(name), start, end);
    }
}

// The family that covers the most time among those with at least `least` spans.
Steps best_of(Families& families, std::size_t least) {
    Family* best = nullptr;
    const std::string* name = nullptr;
    for (auto& [key, family] : families)
        if (family.spans.size() >= least && (best == nullptr || family.covered > best->covered)) {
            best = &family;
            name = &key.second;
        }
    if (best == nullptr) return {};
    auto others = std::count_if(families.begin(), families.end(),
                                [&](auto& entry) { return entry.second.spans.size() >= least; });
    std::string note = others > 1 ? "Other threads or names also have steps; these cover the most time." : "";
    return {std::move(best->spans), best->thread, std::move(note), StepMethod::ranges, *name};
}

Steps profiler_steps(const Trace& trace) {
    Families families;
    auto family = [](std::string_view name) {
        return std::string(name.starts_with(kProfilerStep) ? kProfilerStep : "");
    };
    gather(trace, trace.range(), families, family);
    if (families.empty()) gather(trace, trace.op(), families, family);  // Kineto wrote them as operators in 2021
    return best_of(families, 1);
}

// Steps annotated by JAX (StepTraceAnnotation), whatever their name.
Steps numbered_steps(const Trace& trace) {
    StringId domain = trace.strings().find("xprof step");
    const RangeTable& ranges = trace.range();
    Families families;
    for (Row row = 0; row < ranges.rows && domain != kNoString; ++row) {
        if (ranges.domain.value_or(row, kNoString) != domain || !ranges.name.has(row)) continue;
        std::string name(trace.text(ranges.name[row]));
        StringId thread = ranges.thread.value_or(row, kNoString);
        Family& to = families[{index_of(thread), name}];
        to.thread = thread;
        TimeNs start = ranges.start[row], end = start + ranges.dur[row];
        to.add(fmt::format("{} {}", name, ranges.payload[row]), start, end);
    }
    return best_of(families, 1);
}

// A name that is exactly `wanted` comes before all that match it as a glob.
Steps named_steps(const Trace& trace, const std::string& wanted) {
    Families families;
    for (bool exactly : {true, false}) {
        auto family = [&](std::string_view name) {
            return (exactly ? name == wanted : matches_glob(wanted, name)) ? wanted : std::string();
        };
        if (families.empty()) gather(trace, trace.range(), families, family);
        if (families.empty()) gather(trace, trace.op(), families, family);
    }
    Steps found = best_of(families, 1);
    if (found.steps.empty()) found.note = fmt::format("No range or operator named '{}' found.", wanted);
    return found;
}

Steps look_like_steps(const Trace& trace) {
    Families families;
    gather(trace, trace.range(), families, [](std::string_view name) {
        if (!names_a_step(name)) return std::string();
        std::string family;
        for (const std::string& word : words_of(name)) family += word + ' ';
        return family;
    });
    Steps found = best_of(families, 2);
    if (!found.steps.empty() && found.note.empty())
        found.note = fmt::format("Steps are the ranges like '{}'; use --step-range to choose another.",
                                 found.steps.front().name);
    return found;
}

// The iterations of the engine that launches most, of a server of language models; only those marked by a range that is
// called `wanted`, or matches it, unless it is empty.
Steps engine_steps(const Facts& facts, const std::string& wanted) {
    const Iterations& found = facts.get<Iterations>();
    std::vector<std::size_t> ran(found.engines.size());
    bool any = false, exactly = false;
    for (const Iteration& each : found.all) {
        std::string_view name = each.name == kNoString ? std::string_view() : facts.trace().text(each.name);
        exactly = exactly || name == wanted;
        any = any || wanted.empty() || matches_glob(wanted, name);
        ran[each.engine] += each.kernels + each.graph_launches;
    }
    if (!any) return {};
    auto most = static_cast<std::size_t>(std::max_element(ran.begin(), ran.end()) - ran.begin());
    Steps steps;
    for (const Iteration& each : found.all) {
        if (each.engine != most || !(each.ran || each.graph_launches > 0)) continue;
        std::string name =
            each.name == kNoString ? std::to_string(each.number + 1) : std::string(facts.trace().text(each.name));
        if (!wanted.empty() && !(exactly ? name == wanted : matches_glob(wanted, name))) continue;
        steps.steps.push_back({std::move(name), each.host_start, each.next});
    }
    steps.thread = found.engines[most].thread;
    steps.method = StepMethod::ranges;
    steps.family = "engine step";
    steps.note = "Steps are the iterations of the server's engine; `iterations` and `phases` measure them.";
    return steps;
}

}  // namespace

bool names_a_step(std::string_view name) {
    std::vector<std::string> words = words_of(name);
    if (words.empty() || name.size() > 200) return false;
    constexpr std::string_view kEnds[] = {"step", "iteration", "iter"};
    constexpr std::string_view kParts[] = {"optimizer", "optim",      "scheduler", "lr",
                                           "data",      "dataloader", "eval",      "val"};
    for (const std::string& word : words)
        if (std::find(std::begin(kParts), std::end(kParts), word) != std::end(kParts)) return false;
    return std::any_of(std::begin(kEnds), std::end(kEnds),
                       [&](std::string_view end) { return words.back().ends_with(end); });
}

std::optional<std::size_t> last_step_before(const std::vector<Step>& steps, TimeNs time) {
    auto after =
        std::upper_bound(steps.begin(), steps.end(), time, [](TimeNs at, const Step& step) { return at < step.start; });
    if (after == steps.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - steps.begin()) - 1;
}

std::optional<std::size_t> step_at(const std::vector<Step>& steps, TimeNs time) {
    std::optional<std::size_t> last = last_step_before(steps, time);
    return last && time < steps[*last].end ? last : std::nullopt;
}

Steps Steps::make(const Facts& facts) { return find_steps(facts); }

Steps find_range_steps(const Facts& facts) {
    const std::string& wanted = facts.options().step_range;
    Steps found = engine_steps(facts, wanted);
    if (!wanted.empty()) return found.steps.empty() ? named_steps(facts.trace(), wanted) : found;
    if (found.steps.empty()) found = profiler_steps(facts.trace());
    if (found.steps.empty()) found = numbered_steps(facts.trace());
    if (found.steps.empty()) found = look_like_steps(facts.trace());
    return found;
}

Steps find_steps(const Facts& facts) {
    Steps found = find_range_steps(facts);
    if (found.steps.empty() && facts.options().step_range.empty()) found = find_repeated_kernels(facts);
    return found;
}

}  // namespace gpuprof::facts
