#include "analyze/facts/host/peer_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/collective_records.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/steps/step_finder.h"

namespace gpuprof::inline facts {
namespace {

// A collective that takes this many times what the transfer takes waited for a rank. Transfers next to kernels that want the same bandwidth
// are simulated up to 1.6 times as long as alone (tests/simulate/peer_programs.py); waits of less are not told from that.
constexpr double kLateFactor = 2;
constexpr DurNs kLeastWait = 50'000;
// What a transfer takes at most: a start, and the message through a network of 50 Gbit/s; for a group that fits into one host, through a
// tenth of the link between its GPUs.
constexpr double kSlowStartNs = 500'000, kSlowBytesPerNs = 5, kSlowPartOfLink = 0.1, kFastBytesPerNs = 50;
constexpr std::int64_t kRanksOfOneHost = 8;

// Collectives whose transfers take times that say something about each other.
struct SameLink {
    CollectiveKind kind;
    StringId group;
    std::int64_t ranks;
    std::int32_t peer;  // of a send or receive
    std::int32_t device;
    auto operator<=>(const SameLink&) const = default;
};
// Of these, those of one message size; without a size, those at one place in their steps.
struct Siblings {
    std::vector<std::size_t> members;  // indices in PeerWaits::collectives
    DurNs shortest = 0;
};
struct Sizes {
    std::map<std::int64_t, Siblings> by_size, by_place;
};

double times_of_ranks(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

class PeerWaitFinder {
public:
    explicit PeerWaitFinder(const Facts& facts) : facts_(facts), trace_(facts.trace()), records_(trace_) {
        const DeviceTable& devices = trace_.tables().device;
        for (Row row = 0; row < devices.rows; ++row)
            peer_link_ = std::max(peer_link_, peer_link_bytes_per_ns(device_query(trace_, row)));
    }

    PeerWaits find() {
        gather();
        for (auto& [link, sizes] : links_) {
            for (auto* siblings : {&sizes.by_size, &sizes.by_place})
                for (auto& [size, each] : *siblings) each.shortest = shortest(each);
            bool proportional = times_follow_sizes(sizes);
            for (auto& [size, each] : sizes.by_size) judge(link, size, each, transfer_of(sizes, size), proportional);
            for (auto& [place, each] : sizes.by_place) judge(link, 0, each, static_cast<double>(each.shortest), true);
        }
        measure_exposed();
        return std::move(found_);
    }

private:
    void gather() {
        const KernelTable& kernels = trace_.kernel();
        std::vector<signed char> collective(trace_.strings().size(), -1);
        for (Row row = 0; row < kernels.rows; ++row) {
            if (!kernels.name.has(row)) continue;
            signed char& known = collective[index_of(kernels.name[row])];
            if (known < 0) known = is_collective_kernel(trace_.text(kernels.name[row]));
            if (known != 0) add(row);
        }
    }
    void add(Row row) {
        const KernelTable& kernels = trace_.kernel();
        Row record = records_.find(row);
        CollectiveMessage message = record == kNoRow ? CollectiveMessage{} : message_of(trace_, record);
        if (message.kind == CollectiveKind::unknown)
            if (auto parsed = parse_collective(trace_.text(kernels.name[row]))) message.kind = parsed->kind;
        const CollectiveTable& calls = trace_.tables().collective;
        StringId group = record == kNoRow ? kNoString : calls.group.value_or(record, kNoString);
        std::int32_t peer = -1;
        if (record != kNoRow && message.kind == CollectiveKind::send_recv)
            peer = calls.dst_rank.value_or(record, calls.src_rank.value_or(record, -1));
        SameLink link{message.kind, group, message.ranks.value_or(0), peer, kernels.device.value_or(row, -1)};
        std::size_t index = found_.collectives.size();
        found_.collectives.push_back({row, kernels.dur[row]});
        // A kernel that executes several calls has no size of its own.
        bool alone = record != kNoRow && records_.others(record).empty();
        if (std::int64_t size = alone ? message.bytes.value_or(0) : 0; size > 0)
            links_[link].by_size[size].members.push_back(index);
        else
            links_[link].by_place[place_in_step(link, kernels.start[row])].members.push_back(index);
    }
    // Collectives outside steps have a place of their own, so that they have no siblings.
    std::int64_t place_in_step(const SameLink& link, TimeNs start) {
        std::optional<std::size_t> step = step_at(facts_.get<Steps>().steps, start);
        if (!step) return --alone_;
        Place& place = places_[link];
        if (place.step != step) place = {step, 0};
        return place.count++;
    }
    DurNs shortest(const Siblings& siblings) const {
        DurNs least = INT64_MAX;
        for (std::size_t i : siblings.members)
            if (DurNs time = found_.collectives[i].transfer; time > 0) least = std::min(least, time);
        return least;
    }
    // What the fastest siblings and the fastest of other sizes allow: a smaller message takes no longer, and a larger one is no slower per
    // byte.
    static double transfer_of(const Sizes& sizes, std::int64_t size) {
        double least = static_cast<double>(INT64_MAX);
        for (const auto& [other, siblings] : sizes.by_size)
            least = std::min(least, static_cast<double>(siblings.shortest) *
                                        std::max(1.0, static_cast<double>(size) / static_cast<double>(other)));
        return least;
    }
    // Waits do not grow with messages; transfers do.
    static bool times_follow_sizes(const Sizes& sizes) {
        if (sizes.by_size.empty()) return false;
        auto [small, in_small] = *sizes.by_size.begin();
        auto [large, in_large] = *sizes.by_size.rbegin();
        double ratio = static_cast<double>(large) / static_cast<double>(small);
        double times = static_cast<double>(in_large.shortest) / static_cast<double>(in_small.shortest);
        return ratio >= 2 && times >= ratio / 2 && times <= ratio * 2;
    }
    // Of links between GPUs of one host, and of networks with a card of 400 Gbit/s for each GPU.
    double fast_rate(const SameLink& link) const {
        return link.ranks > 0 && link.ranks <= kRanksOfOneHost && peer_link_ > 0 ? peer_link_ : kFastBytesPerNs;
    }
    void judge(const SameLink& link, std::int64_t size, const Siblings& siblings, double transfer, bool proportional) {
        if (siblings.shortest == INT64_MAX) return;
        std::vector<DurNs> on_time;
        for (std::size_t i : siblings.members)
            if (!is_late(found_.collectives[i].transfer, transfer)) on_time.push_back(found_.collectives[i].transfer);
        if (!on_time.empty()) {
            auto middle = on_time.begin() + static_cast<std::ptrdiff_t>(on_time.size() / 2);
            std::nth_element(on_time.begin(), middle, on_time.end());
            transfer = static_cast<double>(*middle);
        }
        // If all are slow, all may wait. Without a size, nothing says what is slow.
        double rate = kSlowBytesPerNs;
        if (link.ranks > 0 && link.ranks <= kRanksOfOneHost) rate = std::max(rate, kSlowPartOfLink * fast_rate(link));
        double slow = kSlowStartNs + static_cast<double>(size) * times_of_ranks(link.kind) / rate;
        bool doubtful = size > 0 && transfer > slow;
        double least = static_cast<double>(size) * times_of_ranks(link.kind) / fast_rate(link);
        bool contrast = on_time.size() < siblings.members.size();
        for (std::size_t i : siblings.members) {
            PeerWaits::Collective& each = found_.collectives[i];
            DurNs time = each.transfer;
            each.doubtful = doubtful;
            if (is_late(time, transfer)) each.transfer = static_cast<DurNs>(transfer);
            bool shown = contrast || (proportional && !doubtful);
            each.fast_transfer = size > 0 ? std::min(each.transfer, static_cast<DurNs>(least)) : each.transfer;
            each.least_transfer = shown ? each.transfer : each.fast_transfer;
            if (each.transfer == time) continue;
            each.wait = time - each.transfer;
            found_.longest_wait = std::max(found_.longest_wait, each.wait);
            ++found_.late;
        }
    }
    static bool is_late(DurNs time, double transfer) {
        auto took = static_cast<double>(time);
        return took > kLateFactor * transfer && took - transfer > static_cast<double>(kLeastWait);
    }
    // A collective waits first, and transfers when the last rank has come.
    void measure_exposed() {
        std::map<std::int32_t, std::pair<Intervals, Intervals>> spans;
        const KernelTable& kernels = trace_.kernel();
        for (const PeerWaits::Collective& each : found_.collectives) {
            TimeNs start = kernels.start[each.kernel], transfers = start + each.wait;
            auto& [waits, doubtful] = spans[kernels.device.value_or(each.kernel, -1)];
            if (each.wait > 0) waits.push_back({start, transfers});
            if (each.doubtful) doubtful.push_back({transfers, transfers + each.transfer});
        }
        for (const DeviceActivity& device : facts_.get<Activity>().devices) {
            auto& [waits, doubtful] = spans[device.device];
            found_.exposed_wait += length(subtract(unite(std::move(waits)), device.compute()));
            found_.exposed_doubtful += length(subtract(unite(std::move(doubtful)), device.compute()));
        }
    }

    struct Place {
        std::optional<std::size_t> step;
        std::int64_t count = 0;
    };
    const Facts& facts_;
    const Trace& trace_;
    CollectiveRecords records_;
    std::map<SameLink, Sizes> links_;
    std::map<SameLink, Place> places_;
    std::int64_t alone_ = 0;
    double peer_link_ = 0;  // bytes per ns between GPUs of one host
    PeerWaits found_;
};

}  // namespace

const PeerWaits::Collective* PeerWaits::find(Row kernel) const {
    auto found = std::lower_bound(collectives.begin(), collectives.end(), kernel,
                                  [](const Collective& each, Row row) { return each.kernel < row; });
    return found == collectives.end() || found->kernel != kernel ? nullptr : &*found;
}

PeerWaits PeerWaits::make(const Facts& facts) { return PeerWaitFinder(facts).find(); }

}  // namespace gpuprof::facts
