#include "analyze/facts/host/loaders.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/knowledge/host_names.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// One in so many spans of a loader may launch compute: the first one sets up what it needs.
constexpr std::size_t kMinPerLaunching = 10;

// Spans of one name on one thread. Nested spans of a name count with the outermost.
struct NamedSpans {
    struct Span {
        TimeNs start, end;
        bool launches = false;
    };
    std::vector<Span> spans;  // by start, disjoint

    void add(TimeNs start, TimeNs end) {
        if (spans.empty() || start >= spans.back().end) spans.push_back({start, end});
    }
    void launched_at(TimeNs time) {
        auto after = std::upper_bound(spans.begin(), spans.end(), time,
                                      [](TimeNs at, const Span& span) { return at < span.start; });
        if (after != spans.begin() && time < after[-1].end) after[-1].launches = true;
    }
};

using ByName = std::map<StringId, NamedSpans>;

class SuggestedSpans {
public:
    explicit SuggestedSpans(const Trace& trace) : trace_(trace), suggested_(trace.strings().size(), kUnknown) {
        collect(trace.range());
        collect(trace.op());
        collect(trace.tables().python_call);
    }
    bool empty() const { return threads_.empty(); }
    // Marks the spans of the thread that are open at a time at which it launched compute.
    void launched(StringId thread, TimeNs time) {
        if (last_ == nullptr || thread != last_thread_) {
            auto found = threads_.find(thread);
            last_thread_ = thread;
            last_ = found == threads_.end() ? &none_ : &found->second;
        }
        for (auto& [name, spans] : *last_) spans.launched_at(time);
    }
    std::vector<bool> loaders() const {
        std::map<StringId, std::pair<std::size_t, std::size_t>> counts;  // spans, and those that launch
        for (const auto& [thread, names] : threads_)
            for (const auto& [name, spans] : names) {
                auto& [all, launching] = counts[name];
                all += spans.spans.size();
                launching +=
                    static_cast<std::size_t>(std::count_if(spans.spans.begin(), spans.spans.end(),
                                                           [](const NamedSpans::Span& span) { return span.launches; }));
            }
        std::vector<bool> found(suggested_.size());
        for (const auto& [name, count] : counts) found[index_of(name)] = kMinPerLaunching * count.second <= count.first;
        return found;
    }

private:
    static constexpr char kUnknown = 0, kNo = 1, kYes = 2;

    template <class Table>
    void collect(const Table& table) {
        for (Row row = 0; row < table.rows; ++row) {
            StringId name = table.name.value_or(row, kNoString);
            if (name == kNoString) continue;
            char& known = suggested_[index_of(name)];
            if (known == kUnknown) known = names_loader(trace_.text(name)) ? kYes : kNo;
            if (known == kYes)
                threads_[table.thread.value_or(row, kNoString)][name].add(table.start[row],
                                                                          table.start[row] + table.dur[row]);
        }
    }

    const Trace& trace_;
    std::vector<char> suggested_;  // by string id
    std::map<StringId, ByName> threads_;
    StringId last_thread_ = kNoString;
    ByName* last_ = nullptr;
    ByName none_;
};

}  // namespace

Loaders Loaders::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    Loaders found;
    SuggestedSpans suggested(trace);
    if (suggested.empty()) return found;
    const ApiCallTable& calls = trace.api_call();
    std::vector<char> collective(trace.strings().size(), 0);  // by string id: 1 no, 2 yes
    for (Row row = 0; row < trace.kernel().rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        if (call == kNoRow || !calls.thread.has(call)) continue;
        if (StringId name = trace.kernel().name.value_or(row, kNoString); name != kNoString) {
            char& known = collective[index_of(name)];
            if (known == 0) known = is_collective_kernel(trace.text(name)) ? 2 : 1;
            if (known == 2) continue;
        }
        suggested.launched(calls.thread[call], calls.start[call]);
    }
    found.loads_ = suggested.loaders();
    return found;
}

}  // namespace gpuprof::facts
