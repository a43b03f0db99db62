#include "analyze/facts/host/range_tree.h"

#include <algorithm>

#include "analyze/facts/id_map.h"
#include "analyze/facts/idle/host_timeline.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::string_view kStep = "ProfilerStep#", kSteps = "ProfilerStep*";

}  // namespace

RangeTree::RangeTree(const Trace& trace) : trace_(trace) {
    read_threads();
    measure_selves();
    place_calls();
}

void RangeTree::read_threads() {
    HostTimeline timeline(trace_, {HostKind::range});
    StringId step = kNoString;
    auto path_of = [&](std::uint32_t parent, StringId name) {
        if (trace_.text(name).starts_with(kStep)) name = step = step == kNoString ? name : step;
        return paths_.inside(parent, name);
    };
    for (StringId key : timeline.threads()) {
        HostThread thread = timeline.spans(key);
        auto base = static_cast<std::uint32_t>(instances_.size());
        Thread& to = threads_.emplace_back();
        to.key = key;
        to.begin = base;
        for (const HostSpan& span : thread.spans) {
            std::uint32_t parent = span.parent == kNoSpan ? kNoRange : base + span.parent;
            std::uint32_t path = path_of(parent == kNoRange ? kNoPath : instances_[parent].path, span.name);
            instances_.push_back({span.start, span.end, 0, parent, path, span.row});
        }
        to.end = static_cast<std::uint32_t>(instances_.size());
    }
}

// Every moment belongs to the open instance that began last. Each instance is closed once, so this is linear even if
// instances overlap without nesting.
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

// Times must not decrease from call to call, so every instance is opened and closed once.
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
    return paths_.text(path, [&](StringId id) {
        std::string_view name = trace_.text(id);
        return name.starts_with(kStep) ? kSteps : name;
    });
}

}  // namespace gpuprof::facts
