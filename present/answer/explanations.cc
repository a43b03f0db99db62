#include "present/answer/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline answer {
namespace {

// A time of all devices as that of one.
std::string each_gpu(const Facts& facts, DurNs time) {
    std::size_t devices = facts.get<Shares>().devices;
    if (devices < 2) return readable_duration(time);
    return readable_duration(time / static_cast<DurNs>(devices)) + " per GPU";
}

std::string untold_because(const Facts& facts, DurNs kernels, DurNs idle, DurNs unrecorded) {
    std::string text;
    if (kernels > 0)
        text = fmt::format("the limiter of kernels that take {} is unknown (no shapes, no counters)",
                           each_gpu(facts, kernels));
    if (idle > 0)
        text +=
            fmt::format("{}{} of idle time has no known cause", text.empty() ? "" : ", and ", each_gpu(facts, idle));
    if (unrecorded > 0) text += fmt::format("{}{}", text.empty() ? "" : ", and ", unrecorded_because(unrecorded));
    // Where the work had been submitted, recording more calls would not help.
    if (2 * unrecorded > kernels + idle + unrecorded) return text;
    return text + "; record operator shapes (record_shapes=True), the CUDA calls of every thread, or counters";
}

// Of the time that kernels wait for pages of managed memory: what prefetching them would leave is at most the moving.
DurNs recoverable_paging(const Facts& facts) {
    const ManagedMigrations& migrations = facts.get<ManagedMigrations>();
    return static_cast<DurNs>(static_cast<double>(migrations.waiting - migrations.moving) *
                              facts.get<Shares>().overlap);
}

std::string transfers_because(const Facts& facts, DurNs copies, DurNs paging) {
    std::string text = fmt::format("copies not overlapped by kernels take {}", each_gpu(facts, copies));
    if (paging == 0) return text;
    const ManagedMigrations& migrations = facts.get<ManagedMigrations>();
    std::string pages = fmt::format("pages of managed memory migrate while kernels run: {} in kernels that take {}",
                                    readable_count(migrations.in_kernels, "migration"), each_gpu(facts, paging));
    return copies == 0 ? pages : pages + "; " + text;
}

// What collectives that nothing hides mostly are, if that is not transfer.
std::string late_ranks_text(const Facts& facts) {
    const PeerWaits& peers = facts.get<PeerWaits>();
    DurNs exposed = facts.get<Shares>().exposed_comm;
    if (2 * peers.exposed_wait > exposed) return ", which mostly wait for ranks that come late,";
    if (2 * peers.exposed_doubtful > exposed) return ", which wait for late ranks or have a slow network,";
    return "";
}

}  // namespace

std::string unrecorded_because(DurNs time) {
    return fmt::format(
        "for {} work was submitted or waited for while the GPU ran nothing that was recorded: work of this program is "
        "missing, or the GPU waited for an event outside the recording or for another process",
        readable_duration(time));
}

std::string main_classes(const Facts& facts, Bound bound) {
    std::vector<std::pair<DurNs, KernelClass>> sums;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        auto known =
            std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.second == group.traits.kind; });
        if (known == sums.end()) known = sums.insert(sums.end(), {0, group.traits.kind});
        known->first += group.by_bound[static_cast<std::size_t>(bound)];
    }
    std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    auto spoken = [](KernelClass kind) {
        std::string name(to_string(kind));
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
    };
    if (sums.empty() || sums[0].first == 0) return "";
    if (sums.size() < 2 || 5 * sums[1].first < sums[0].first)
        return sums[0].second == KernelClass::other ? "kernels" : spoken(sums[0].second) + " kernels";
    // The class of kernels whose names say nothing is named last.
    if (sums[0].second == KernelClass::other) std::swap(sums[0], sums[1]);
    return fmt::format("{} and {} kernels", spoken(sums[0].second), spoken(sums[1].second));
}

Explanations explain_window(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    auto idle = [&](IdleCause cause) { return shares.idle_of(cause); };
    auto busy_with = [&](Bound bound, std::string_view what) {
        return fmt::format("{} {} run {}", what, main_classes(facts, bound), each_gpu(facts, shares.kernel_of(bound)));
    };
    auto gives_back = [&](Waste waste) { return gain_without(facts, waste).idle_ns; };
    DurNs launch = gives_back(Waste::launching), sync = gives_back(Waste::waits), other = gives_back(Waste::host_code);
    ArrivalPattern pattern = facts.get<Arrivals>().pattern;
    DurNs waiting = idle(IdleCause::waiting), unrecorded = idle(IdleCause::unrecorded_work);
    DurNs untold = shares.kernel_of(Bound::unknown) + idle(IdleCause::unknown) + unrecorded;
    bool known = pattern == ArrivalPattern::paced || pattern == ArrivalPattern::requests;
    if (!known) untold += waiting;
    DurNs memory = shares.kernel_of(Bound::memory) + shares.exposed_device_copies;
    DurNs copies = shares.exposed_memcpy + idle(IdleCause::host_memcpy);
    DurNs comm = shares.exposed_comm + idle(IdleCause::communication_wait);
    DurNs hideable = gives_back(Waste::late_ranks) + gives_back(Waste::communication);
    DurNs paging = shares.kernel_of(Bound::migration);
    DurNs graph = idle(IdleCause::graph);
    DurNs input = idle(IdleCause::input_pipeline), allocation = idle(IdleCause::allocation);
    std::vector<Explanation> all{
        {Limit::compute, shares.kernel_of(Bound::compute), {}, busy_with(Bound::compute, "arithmetic-heavy")},
        {Limit::memory_bandwidth,
         memory,
         {},
         shares.kernel_of(Bound::memory) > 0 || memory == 0
             ? fmt::format("data-moving {}{} run {}", main_classes(facts, Bound::memory),
                           100 * shares.exposed_device_copies > memory ? ", and copies within the GPU," : "",
                           each_gpu(facts, memory))
             : fmt::format("copies within the GPU take {}", each_gpu(facts, memory))},
        {Limit::underfilled, shares.kernel_of(Bound::underfilled) + graph, shares.unfilled + graph,
         fmt::format(
             "{}, with too few blocks or threads to fill the multiprocessors{}", busy_with(Bound::underfilled, "small"),
             graph == 0
                 ? ""
                 : fmt::format("; the GPU is idle for {} between the nodes of CUDA graphs", each_gpu(facts, graph)))},
        {Limit::unknown,
         untold,
         {},
         untold_because(facts, shares.kernel_of(Bound::unknown), idle(IdleCause::unknown), unrecorded)},
        {Limit::input, input, input, fmt::format("the GPU waits {} for the input pipeline", each_gpu(facts, input))},
        {Limit::launch, launch, launch,
         fmt::format("the GPU is idle for {} between kernels, waiting for launches", each_gpu(facts, launch))},
        {Limit::synchronisation, sync, sync,
         fmt::format("the GPU is idle for {} after the host waited for it", each_gpu(facts, sync))},
        {Limit::transfer, copies + paging, gives_back(Waste::copies) + recoverable_paging(facts),
         transfers_because(facts, copies, paging)},
        {Limit::communication, comm, hideable,
         fmt::format("collectives that no kernel hides{} take {}", late_ranks_text(facts), each_gpu(facts, comm))},
        {Limit::allocation, allocation, allocation,
         fmt::format("the GPU waits {} for memory allocations and frees", each_gpu(facts, allocation))},
        {Limit::host, other, other,
         fmt::format("the GPU waits {} while the host runs other code", each_gpu(facts, other))},
    };
    if (known) all.push_back({pattern == ArrivalPattern::paced ? Limit::paced : Limit::no_load, waiting, {}, ""});
    std::stable_sort(all.begin(), all.end(),
                     [](const Explanation& a, const Explanation& b) { return a.time > b.time; });
    return {std::move(all), shares.window, shares.effective - shares.host_idle_doubtful};
}

// Explanations from the critical path. Each of its parts counts for the limit that would have to give way to shorten it; kernels
// are split by what limits them.
namespace {

constexpr std::size_t kLimits = static_cast<std::size_t>(Limit::profiler) + 1;
// Causes below this part of the path are not looked at; one that gains this part of its own time is not capped.
constexpr double kLeastCapped = 0.05, kNearGain = 0.8;

class PathShares {
public:
    PathShares(const Facts& facts, Estimate recorder)
        : facts_(facts), graph_(facts.get<ReplayGraph>()), paths_(facts.trace()) {
        for (const KernelGroup& group : facts.get<KernelGroups>().groups) groups_[group.name] = &group;
        total_ = left_ = critical_path_of(facts, recorder, {}, [this](const PathPart& each) {
                             add({each.dur, each.point, each.what});
                         }).total;
        compare_without_host(recorder);
        cap_by_gains(recorder);
        add_waits();
    }
    DurNs total() const { return total_; }
    DurNs of(Limit limit) const { return static_cast<DurNs>(time_[static_cast<std::size_t>(limit)]); }

private:
    struct Part {
        DurNs dur;
        Point point;
        PathClass what;
    };
    struct Path {
        PodVector<Part> parts;  // last first
        DurNs total = 0;
    };
    void add(const Part& part) {
        std::uint32_t object = graph_.object[part.point];
        switch (part.what) {
            case PathClass::kernel:
                return add_kernel(facts_.trace().kernel().name.value_or(op_row(object), kNoString), part.dur);
            case PathClass::copy: return add(limit_of_copy(object), part.dur);
            case PathClass::input: return add(Limit::input, part.dur);
            case PathClass::allocation: return add(Limit::allocation, part.dur);
            case PathClass::launch_call:
            case PathClass::other_call:
            case PathClass::wait: return add(limit_of_call(graph_.info[part.point].call, part.what), part.dur);
            case PathClass::host_code:
            case PathClass::hand_over: return add(part.dur > kMaxLaunching ? Limit::host : Limit::launch, part.dur);
            case PathClass::gap: return add(Limit::launch, part.dur);
        }
    }
    double& at(Limit limit) { return time_[static_cast<std::size_t>(limit)]; }
    void add(Limit limit, DurNs time) { at(limit) += static_cast<double>(time); }
    // Between limits in proportion to all kernels of this name.
    void add_kernel(StringId name, DurNs time) {
        auto found = groups_.find(name);
        if (found == groups_.end() || found->second->total_ns <= 0) return add(Limit::unknown, time);
        static constexpr std::array<Limit, kBounds> kLimitOf{Limit::compute,     Limit::memory_bandwidth,
                                                             Limit::underfilled, Limit::communication,
                                                             Limit::transfer,    Limit::unknown};
        for (std::size_t bound = 0; bound < kBounds; ++bound)
            time_[static_cast<std::size_t>(kLimitOf[bound])] += static_cast<double>(time) *
                                                                static_cast<double>(found->second->by_bound[bound]) /
                                                                static_cast<double>(found->second->total_ns);
    }
    Limit limit_of_copy(std::uint32_t object) const {
        bool moves = op_kind(object) == DeviceOp::memcpy && !paths_.stays_on_device(op_row(object));
        return moves ? Limit::transfer : Limit::memory_bandwidth;
    }
    static Limit limit_of_call(CallKind call, PathClass what) {
        switch (call) {
            case CallKind::copy: return Limit::transfer;
            case CallKind::sync: return what == PathClass::wait ? Limit::synchronisation : Limit::launch;
            case CallKind::allocation: return Limit::allocation;
            case CallKind::compilation: return Limit::host;
            case CallKind::launch:
            case CallKind::set:
            case CallKind::other: return Limit::launch;
        }
        return Limit::launch;
    }
    // The path without more of the causes; what they gain stays with them.
    void remove(const std::vector<Edit>& causes, const Path& without, std::initializer_list<Limit> limits) {
        auto gain = static_cast<double>(std::max<DurNs>(0, left_ - without.total));
        double all = 0;
        for (Limit limit : limits) all += at(limit);
        for (Limit limit : limits) gained_[static_cast<std::size_t>(limit)] += gain * at(limit) / all;
        removed_.insert(removed_.end(), causes.begin(), causes.end());
        left_ = without.total;
        time_ = gained_;
        for (const Part& part : without.parts) add(part);
    }
    Path without(Estimate recorder, const std::vector<Edit>& causes) const {
        std::vector<Edit> edits = removed_;
        edits.insert(edits.end(), causes.begin(), causes.end());
        Path path;
        path.total = critical_path_of(facts_, recorder, edits, [&](const PathPart& each) {
                         path.parts.push_back({each.dur, each.point, each.what});
                     }).total;
        return path;
    }
    // Host and device may take nearly as long as each other. Then the path leads through the host, and a faster host gains little: what it
    // gains counts for the host, and the rest as it does on the path of a program whose host takes no time.
    void compare_without_host(Estimate recorder) {
        double host = at(Limit::launch) + at(Limit::host);
        if (host <= 0) return;
        const std::vector<Edit> causes{usual_edit(Change::host_code), usual_edit(Change::cuda_graph)};
        const Path path = without(recorder, causes);
        if (2 * static_cast<double>(left_ - path.total) <= host) remove(causes, path, {Limit::launch, Limit::host});
    }
    // The same for other causes: what they take is no gain if something else takes nearly as long.
    void cap_by_gains(Estimate recorder) {
        struct Cause {
            Limit limit;
            std::vector<Edit> edits;
        };
        std::vector<Cause> causes{
            {Limit::input, {usual_edit(Change::input)}},
            {Limit::allocation, {usual_edit(Change::allocation)}},
            {Limit::transfer, {usual_edit(Change::copies)}},
            {Limit::communication, {usual_edit(Change::late_ranks), usual_edit(Change::communication)}},
            {Limit::synchronisation, {usual_edit(Change::waits)}},
        };
        std::stable_sort(causes.begin(), causes.end(),
                         [&](const Cause& a, const Cause& b) { return at(a.limit) > at(b.limit); });
        for (const Cause& cause : causes) {
            double part = at(cause.limit);
            if (part < kLeastCapped * static_cast<double>(total_)) continue;
            const Path path = without(recorder, cause.edits);
            if (static_cast<double>(left_ - path.total) < kNearGain * part) remove(cause.edits, path, {cause.limit});
        }
    }
    // A wait costs what the path loses without it: the host then launches late. That part of launching and host code counts for the wait.
    void add_waits() {
        const Gain& gain = gain_without(facts_, Waste::waits);
        if (!gain.predicted) return;
        double &waits = at(Limit::synchronisation), &launch = at(Limit::launch), &host = at(Limit::host);
        double more = std::min(gain.predicted->gain * static_cast<double>(total_) - waits, launch + host);
        if (more <= 0) return;
        double part = more / (launch + host);
        launch -= part * launch;
        host -= part * host;
        waits += more;
    }

    const Facts& facts_;
    const ReplayGraph& graph_;
    CopyPaths paths_;
    std::map<StringId, const KernelGroup*> groups_;
    std::array<double, kLimits> time_{};
    DurNs total_ = 0;
    // Causes that are removed, what that gained, and the path that is left.
    std::vector<Edit> removed_;
    std::array<double, kLimits> gained_{};
    DurNs left_ = 0;
};

// What takes the time of a limit, with the verb.
std::string what_takes(const Facts& facts, Limit limit) {
    switch (limit) {
        case Limit::compute: return fmt::format("arithmetic-heavy {} take", main_classes(facts, Bound::compute));
        case Limit::memory_bandwidth: {
            std::string kernels = main_classes(facts, Bound::memory);
            return kernels.empty() ? "copies within the GPU take" : fmt::format("data-moving {} take", kernels);
        }
        case Limit::underfilled:
            return fmt::format("small {}, with too few blocks or threads to fill the multiprocessors, take",
                               main_classes(facts, Bound::underfilled));
        case Limit::input: return "fetching input takes";
        case Limit::launch: return "launching kernels takes";
        case Limit::synchronisation: return "waits for the GPU take";
        case Limit::transfer:
            return facts.get<Shares>().kernel_of(Bound::migration) > 0
                       ? "copies between host and device, and kernels that wait for pages of managed memory, take"
                       : "copies between host and device take";
        case Limit::communication: return "collectives" + late_ranks_text(facts) + " take";
        case Limit::allocation: return "memory allocations and frees take";
        case Limit::host: return "other host code takes";
        default: return "kernels whose limiter is unknown (no shapes, no counters) take";
    }
}

std::optional<DurNs> gives_back(const Facts& facts, Limit limit, DurNs time, DurNs total) {
    auto predicted = [&](Waste waste) -> std::optional<DurNs> {
        const Gain& gain = gain_without(facts, waste);
        if (!gain.predicted) return std::nullopt;
        return static_cast<DurNs>(gain.predicted->gain * static_cast<double>(total));
    };
    switch (limit) {
        case Limit::input: return predicted(Waste::input);
        case Limit::launch: return predicted(Waste::launching);
        case Limit::synchronisation: return predicted(Waste::waits);
        case Limit::transfer: return predicted(Waste::copies);
        case Limit::communication: {
            std::optional<DurNs> waits = predicted(Waste::late_ranks), transfers = predicted(Waste::communication);
            if (!waits || !transfers) return waits ? waits : transfers;
            return std::min(time, *waits + *transfers);
        }
        case Limit::allocation: return predicted(Waste::allocation);
        case Limit::host: return predicted(Waste::host_code);
        case Limit::underfilled: {
            const Shares& shares = facts.get<Shares>();
            DurNs small = shares.kernel_of(Bound::underfilled);
            if (small <= 0) return std::nullopt;
            return static_cast<DurNs>(static_cast<double>(shares.unfilled) / static_cast<double>(small) *
                                      static_cast<double>(time));
        }
        default: return std::nullopt;
    }
}

}  // namespace

Explanations explain_path(const Facts& facts, Estimate recorder) {
    PathShares shares(facts, recorder);
    auto steps = static_cast<DurNs>(facts.get<ReplayGraph>().steps.size() - 1);
    Explanations found{{}, shares.total(), shares.total()};
    for (Limit limit :
         {Limit::compute, Limit::memory_bandwidth, Limit::underfilled, Limit::unknown, Limit::input, Limit::launch,
          Limit::synchronisation, Limit::transfer, Limit::communication, Limit::allocation, Limit::host}) {
        DurNs time = shares.of(limit);
        std::string because = fmt::format("{} {} of a step of {}", what_takes(facts, limit),
                                          readable_duration(time / steps), readable_duration(shares.total() / steps));
        if (limit == Limit::unknown) because += "; record operator shapes (record_shapes=True) or counters";
        found.all.push_back({limit, time, gives_back(facts, limit, time, shares.total()), std::move(because)});
    }
    std::stable_sort(found.all.begin(), found.all.end(),
                     [](const Explanation& a, const Explanation& b) { return a.time > b.time; });
    return found;
}

}  // namespace gpuprof::answer
