#include "core/analyze/facts/range_tree.h"

#include <algorithm>
#include <unordered_map>

#include "core/analyze/facts/host_timeline.h"
#include "core/analyze/facts/id_map.h"

namespace gpuprof {
namespace {

constexpr std::string_view kStep = "ProfilerStep#", kSteps = "ProfilerStep*";
constexpr std::uint32_t kPartsShown = 50;  // at each end of a path

}  // namespace

RangeTree::RangeTree(const Trace& trace) : trace_(trace) {
    read_threads();
    measure_selves();
    place_calls();
}

void RangeTree::read_threads() {
    HostTimeline timeline(trace_, {HostKind::range});
    std::unordered_map<std::uint64_t, std::uint32_t> known;  // parent path and name -> path
    StringId step = kNoString;
    auto path_of = [&](std::uint32_t parent, StringId name) {
        if (trace_.text(name).starts_with(kStep)) name = step = step == kNoString ? name : step;
        std::uint64_t key = (std::uint64_t{parent} << 32) | index_of(name);
        auto [found, added] = known.try_emplace(key, static_cast<std::uint32_t>(paths_.size()));
        if (added) paths_.push_back({name, parent, parent == kNoRange ? 0 : paths_[parent].depth + 1});
        return found->second;
    };
    for (StringId key : timeline.threads()) {
        HostThread thread = timeline.spans(key);
        auto base = static_cast<std::uint32_t>(instances_.size());
        Thread& to = threads_.emplace_back();
        to.key = key;
        to.begin = base;
        for (const HostSpan& span : thread.spans) {
            std::uint32_t parent = span.parent == kNoSpan ? kNoRange : base + span.parent;
            std::uint32_t path = path_of(parent == kNoRange ? kNoRange : instances_[parent].path, span.name);
            instances_.push_back({span.start, span.end, 0, parent, path, span.row});
        }
        to.end = static_cast<std::uint32_t>(instances_.size());
    }
}

// Every moment belongs to the instance that began last of those open. Each instance is closed once, so this is linear even
// where instances overlap without nesting.
void RangeTree::measure_selves() {
    for (Thread& thread : threads_) {
        std::uint32_t open = kNoRange;
        TimeNs now = INT64_MIN;
        auto spend_until = [&](TimeNs time) {
            if (time > now) instances_[open].self += time - now;
            now = std::max(now, time);
        };
        auto close_until = [&](TimeNs time) {
            for (; open != kNoRange && instances_[open].end <= time; open = instances_[open].parent)
                spend_until(instances_[open].end);
        };
        for (std::uint32_t i = thread.begin; i < thread.end; ++i) {
            close_until(instances_[i].start);
            if (open != kNoRange) spend_until(instances_[i].start);
            if (instances_[i].parent == kNoRange) thread.covered += instances_[i].end - instances_[i].start;
            now = instances_[i].start;
            open = i;
        }
        close_until(INT64_MAX);
    }
}

// Times must not decrease from call to call: then every instance is opened and closed once.
std::uint32_t RangeTree::open_at(Thread& thread, TimeNs time) const {
    for (; thread.next < thread.end && instances_[thread.next].start <= time; ++thread.next) thread.open = thread.next;
    while (thread.open != kNoRange && instances_[thread.open].end <= time) thread.open = instances_[thread.open].parent;
    return thread.open;
}

void RangeTree::place_calls() {
    const Tables& tables = trace_.tables();
    std::size_t strings = trace_.strings().size();
    Slots threads(tables.thread.key, strings), processes(tables.process.key, strings);
    std::vector<std::uint32_t> process_of(threads.size(), processes.other());
    for (Row row = 0; row < tables.thread.rows; ++row)
        process_of[threads.of(tables.thread.key[row])] = processes.of(tables.thread.process.value_or(row, kNoString));
    std::vector<Thread*> own(threads.size()), lender(processes.size());
    for (Thread& thread : threads_) {
        thread.next = thread.begin;
        own[threads.of(thread.key)] = &thread;
        Thread*& most = lender[process_of[threads.of(thread.key)]];
        if (most == nullptr || thread.covered > most->covered) most = &thread;
    }
    const ApiCallTable& calls = trace_.api_call();
    instance_of_call_.resize(calls.rows, kNoRange);
    if (instances_.empty()) return;
    for (Row call = 0; call < calls.rows; ++call) {
        std::uint32_t slot = threads.of(calls.thread.value_or(call, kNoString));
        Thread* other = lender[process_of[slot]];
        std::uint32_t& instance = instance_of_call_[call];
        if (own[slot] != nullptr) instance = open_at(*own[slot], calls.start[call]);
        if (instance != kNoRange || other == nullptr || other == own[slot]) continue;
        instance = open_at(*other, calls.start[call]);
        if (instance != kNoRange) ++lent_calls_;
    }
}

std::string RangeTree::text(std::uint32_t path) const {
    std::uint32_t depth = paths_[path].depth;
    std::vector<std::string_view> parts;  // from the last
    std::uint32_t left_out = depth + 1 > 2 * kPartsShown ? depth + 1 - 2 * kPartsShown : 0;
    std::uint32_t index = 0;
    for (std::uint32_t at = path; at != kNoRange; at = paths_[at].parent, ++index) {
        std::string_view name = trace_.text(paths_[at].name);
        bool shown = left_out == 0 || index < kPartsShown || index >= depth + 1 - kPartsShown;
        if (shown) parts.push_back(name.starts_with(kStep) ? kSteps : name);
        if (left_out > 0 && index == kPartsShown) parts.push_back("...");
    }
    std::string result;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part != parts.rbegin()) result += '/';
        result += *part;
    }
    return result;
}

}  // namespace gpuprof
