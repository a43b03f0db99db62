#include "analyze/facts/idle/gaps.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "analyze/facts/activity.h"
#include "analyze/facts/device_op.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/idle/gap_reader.h"
#include "analyze/facts/idle/host_state.h"
#include "analyze/facts/idle/idle_gap.h"
#include "analyze/facts/idle/waits.h"
#include "core/base/parallel.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// Finds the idle intervals of a device from its ops.

// Iterates over the idle intervals of one device, without their causes.
class GapLister {
public:
    GapLister(const Trace& trace, std::int32_t device)
        : ops_(trace, device), free_from_(trace.window().start), end_(trace.window().end) {
        gap_.device = device;
    }
    // Advances to the next interval; false at the end.
    bool next() {
        while (ops_.next()) {
            if (ops_.span().length() <= 0) continue;  // an empty op does not end a gap
            gap_.before = last_;
            gap_.before_op = last_op_;
            gap_.after = ops_.row();
            gap_.after_op = ops_.kind();
            bool idle = close(ops_.span().start);
            if (ops_.span().end > free_from_ || last_ == kNoRow) {
                free_from_ = std::max(free_from_, ops_.span().end);
                last_ = ops_.row();
                last_op_ = ops_.kind();
            }
            if (idle) return true;
        }
        gap_.before = last_;
        gap_.before_op = last_op_;
        gap_.after = kNoRow;
        gap_.after_op = DeviceOp::none;
        bool idle = close(end_);
        free_from_ = end_;
        return idle;
    }
    const IdleGap& gap() const { return gap_; }

private:
    bool close(TimeNs until) {
        gap_.start = free_from_;
        gap_.dur = until - free_from_;
        return until > free_from_;
    }

    DeviceOps ops_;
    TimeNs free_from_, end_;
    Row last_ = kNoRow;  // the op with the latest end so far
    DeviceOp last_op_ = DeviceOp::none;
    IdleGap gap_;
};

// The results of one worker thread.
struct Explained {
    DeviceIdle idle;
    std::array<std::optional<IdleGap>, kIdleCauses> longest;

    void consider(const IdleGap& gap) {
        std::optional<IdleGap>& known = longest[static_cast<std::size_t>(gap.cause)];
        if (!known || listed_before(gap, *known)) known = gap;
    }
    void add(const Explained& more) {
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            idle.causes[cause].total += more.idle.causes[cause].total;
            idle.causes[cause].count += more.idle.causes[cause].count;
            idle.drained[cause] += more.idle.drained[cause];
            if (more.longest[cause]) consider(*more.longest[cause]);
        }
        idle.between_launches += more.idle.between_launches;
    }
};

// The host side of all gaps, and the code that reads gaps with it.
class GapReading {
public:
    explicit GapReading(const Facts& facts)
        : trace_(facts.trace()),
          states_(states_of(facts)),
          waits_(facts.get<Waits>()),
          arrivals_(facts.get<Arrivals>()),
          devices_(facts.get<Activity>().devices.size()),
          ends_(devices_ > 1 ? DeviceEnds(trace_) : DeviceEnds()),
          listed_from_(facts.options().gap_min_ns) {}

    GapReader reader(PodVector<IdleSpan>* spans = nullptr) const {
        return {trace_, states_, waits_, arrivals_, devices_, ends_, spans};
    }

    // Reads the gaps of one device, which are independent of each other: every thread takes the next few, while they
    // are in its cache, and drops them unless there is a list to `keep` them in.
    Explained read_all(std::int32_t device, PodVector<IdleGap>* keep) const {
        constexpr std::size_t kBlock = 4096, kMinOpsPerThread = 20'000;
        std::size_t ops = trace_.kernel().rows + trace_.memcpy().rows + trace_.memset().rows;
        std::size_t threads = std::min<std::size_t>(default_threads(), ops / kMinOpsPerThread + 1);
        std::vector<Explained> parts(threads);
        std::mutex mutex;  // guards the lister and the list
        GapLister lister(trace_, device);
        run_parallel(threads, static_cast<unsigned>(threads), [&](std::size_t part, unsigned) {
            GapReader gaps = reader();
            std::vector<IdleGap> block;
            std::size_t place = 0;
            auto take_block = [&] {
                std::lock_guard lock(mutex);
                block.clear();
                while (block.size() < kBlock && lister.next()) block.push_back(lister.gap());
                if (keep == nullptr) return;
                place = keep->size();
                keep->append(block.data(), block.size());
            };
            for (take_block(); !block.empty(); take_block()) {
                for (IdleGap& gap : block) {
                    gaps.read(gap, parts[part].idle);
                    if (gap.dur >= listed_from_) parts[part].consider(gap);
                }
                if (keep == nullptr) continue;
                std::lock_guard lock(mutex);
                std::copy(block.begin(), block.end(), keep->begin() + place);
            }
        });
        Explained all;
        all.idle.device = device;
        for (const Explained& part : parts) all.add(part);
        return all;
    }

private:
    // What hosts did does not depend on what devices did.
    static HostStates states_of(const Facts& facts) {
        std::optional<HostStates> states;
        run_together(facts.trace().kernel().rows, {[&] { states.emplace(facts); },
                                                   [&] {
                                                       (void)facts.get<Arrivals>();
                                                       (void)facts.get<Waits>();
                                                   }});
        return std::move(*states);
    }

    const Trace& trace_;
    HostStates states_;
    const Waits& waits_;
    const Arrivals& arrivals_;
    std::size_t devices_;
    DeviceEnds ends_;
    DurNs listed_from_;
};

// Positions of gaps in the list of all gaps. Only the busy time is read; its complement are the gaps.
void find_places(const Facts& facts, std::vector<LongestGap*> sought) {
    std::sort(sought.begin(), sought.end(),
              [](const LongestGap* a, const LongestGap* b) { return listed_before(a->gap, b->gap); });
    for (LongestGap* each : sought) each->place = 1;
    Interval window = facts.trace().window();
    IdleGap gap;
    auto count = [&](TimeNs from, TimeNs until) {
        gap.start = from;
        gap.dur = until - from;
        // Most gaps are shorter than all wanted ones, so compare with the shortest wanted gap first.
        for (auto each = sought.rbegin(); each != sought.rend() && listed_before(gap, (*each)->gap); ++each)
            ++(*each)->place;
    };
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        gap.device = device.device;
        TimeNs free_from = window.start;
        for (const Interval& busy : device.busy) {
            if (busy.start > free_from) count(free_from, busy.start);
            free_from = busy.end;
        }
        if (window.end > free_from) count(free_from, window.end);
    }
}

}  // namespace

std::vector<IdleCause> causes_of(const DeviceIdle& device) {
    std::vector<IdleCause> order;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        if (device.causes[cause].total > 0) order.push_back(static_cast<IdleCause>(cause));
    auto total = [&](IdleCause cause) { return device.causes[static_cast<std::size_t>(cause)].total; };
    std::stable_sort(order.begin(), order.end(), [&](IdleCause a, IdleCause b) { return total(a) > total(b); });
    return order;
}

bool listed_before(const IdleGap& a, const IdleGap& b) {
    if (a.dur != b.dur) return a.dur > b.dur;
    return a.start != b.start ? a.start < b.start : a.device < b.device;
}

namespace {

IdleGaps totals_of(const Facts& facts, const std::vector<Explained>& devices) {
    IdleGaps result;
    Explained all;
    for (const Explained& device : devices) {
        result.devices.push_back(device.idle);
        all.add(device);
    }
    std::vector<LongestGap*> longest;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        if (all.longest[cause]) longest.push_back(&result.longest[cause].emplace(LongestGap{*all.longest[cause]}));
    find_places(facts, std::move(longest));
    return result;
}

}  // namespace

IdleGaps IdleGaps::make(const Facts& facts) {
    GapReading reading(facts);
    std::vector<Explained> devices;
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        devices.push_back(reading.read_all(device.device, nullptr));
    return totals_of(facts, devices);
}

GapList GapList::make(const Facts& facts) {
    GapList result;
    GapReading reading(facts);
    for (const DeviceActivity& device : facts.get<Activity>().devices) reading.read_all(device.device, &result.gaps);
    return result;
}

namespace {

// Calls visit(span) for each piece of all gaps, and see(gap, explained) after those of a gap. Returns what the gaps of each device sum to.
template <class Visit, class See>
std::vector<Explained> read_spans(const Facts& facts, Visit&& visit, See&& see) {
    PodVector<IdleSpan> spans;  // of one gap
    GapReading reading(facts);
    GapReader reader = reading.reader(&spans);
    std::vector<Explained> devices;
    std::uint32_t listed = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        Explained& explained = devices.emplace_back();
        explained.idle.device = device.device;
        for (GapLister lister(facts.trace(), device.device); lister.next(); ++listed) {
            spans.clear();
            IdleGap gap = lister.gap();
            reader.read(gap, explained.idle);
            std::sort(spans.begin(), spans.end(),
                      [](const IdleSpan& a, const IdleSpan& b) { return a.start < b.start; });
            for (IdleSpan& span : spans) {
                span.gap = listed;
                span.device = gap.device;
                visit(span);
            }
            see(gap, explained);
        }
    }
    return devices;
}

}  // namespace

void each_idle_span(const Facts& facts, const std::function<void(const IdleSpan&)>& visit) {
    read_spans(facts, visit, [](const IdleGap&, Explained&) {});
}

void list_idle_spans(Facts& facts, const std::function<void(const IdleSpan&)>& visit) {
    GapList list;
    std::vector<Explained> devices = read_spans(facts, visit, [&](const IdleGap& gap, Explained& explained) {
        list.gaps.push_back(gap);
        if (gap.dur >= facts.options().gap_min_ns) explained.consider(gap);
    });
    facts.put(std::move(list));
    facts.put(totals_of(facts, devices));
}

IdleSpans IdleSpans::make(const Facts& facts) {
    PodVector<IdleSpan> spans;
    each_idle_span(facts, [&](const IdleSpan& span) { spans.push_back(span); });
    return {std::move(spans)};
}

}  // namespace gpuprof::facts
