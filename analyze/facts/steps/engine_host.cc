#include "analyze/facts/steps/iterations.h"

#include <algorithm>
#include <map>

#include "analyze/facts/idle/waits.h"

namespace gpuprof::inline facts {
namespace {

// The iterations of one engine, by start.
struct Of {
    std::size_t begin = 0, end = 0;
};

class PartSums {
public:
    PartSums(const Iterations& found, std::vector<HostParts>& to) : found_(found), to_(to) {
        for (std::size_t i = 0; i < found.all.size(); ++i) {
            auto [of, first] = of_thread_.try_emplace(found.engines[found.all[i].engine].thread, Of{i, i});
            of->second.end = i + 1;
        }
    }

    // Adds the outermost spans of each part; true if any.
    template <class Table>
    bool add(const Trace& trace, const Table& table, std::optional<ServingPart> (*look)(std::string_view)) {
        std::vector<std::int8_t> known(trace.strings().size(), -2);
        std::map<std::pair<StringId, ServingPart>, TimeNs> open;
        bool any = false;
        for (Row row = 0; row < table.rows; ++row) {
            StringId name = table.name.value_or(row, kNoString);
            if (name == kNoString) continue;
            std::int8_t& part = known[index_of(name)];
            if (part == -2) {
                std::optional<ServingPart> looked = look(trace.text(name));
                part = looked ? static_cast<std::int8_t>(*looked) : std::int8_t{-1};
            }
            if (part < 0) continue;
            StringId thread = table.thread.value_or(row, kNoString);
            TimeNs start = table.start[row], end = start + table.dur[row];
            TimeNs& until = open.try_emplace({thread, static_cast<ServingPart>(part)}, start).first->second;
            if (start < until) continue;
            until = end;
            any = put(thread, static_cast<ServingPart>(part), start, end) || any;
        }
        return any;
    }

private:
    bool put(StringId thread, ServingPart part, TimeNs start, TimeNs end) {
        auto of = of_thread_.find(thread);
        if (of == of_thread_.end()) return false;
        auto begin = found_.all.begin() + static_cast<std::ptrdiff_t>(of->second.begin);
        auto stop = found_.all.begin() + static_cast<std::ptrdiff_t>(of->second.end);
        auto after = std::partition_point(begin, stop, [&](const Iteration& it) { return it.host_start <= start; });
        bool inside = after != begin && start < (after - 1)->host_start + (after - 1)->host;
        if (part != ServingPart::schedule || inside) {
            if (after == begin) return false;
            --after;
        }
        if (after == stop) return false;
        auto& sum = to_[static_cast<std::size_t>(after - found_.all.begin())].parts[static_cast<std::size_t>(part)];
        sum = sum.value_or(0) + (end - start);
        return true;
    }

    const Iterations& found_;
    std::vector<HostParts>& to_;
    std::map<StringId, Of> of_thread_;
};

}  // namespace

EngineHost EngineHost::make(const Facts& facts) {
    const Iterations& found = facts.get<Iterations>();
    const Trace& trace = facts.trace();
    EngineHost host{std::vector<HostParts>(found.all.size())};
    if (found.all.empty()) return host;
    PartSums sums(found, host.parts);
    if (!sums.add(trace, trace.range(), serving_part_of_scope))
        sums.add(trace, trace.tables().python_call, serving_part_of_frame);
    const Waits& waits = facts.get<Waits>();
    for (std::size_t i = 0; i < found.all.size(); ++i) {
        auto of = waits.of_thread.find(found.engines[found.all[i].engine].thread);
        if (of == waits.of_thread.end()) continue;
        host.parts[i].wait = length_within(of->second, {found.all[i].host_start, found.all[i].next});
    }
    return host;
}

}  // namespace gpuprof::facts
