#include "analyze/facts/host/collective_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/collective_records.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/practices.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline facts {
namespace {

// NCCL takes about as long for a message of this size as for 8 bytes: 15 to 40 us among 8 GPUs of one host.
constexpr std::int64_t kSmallMessage = 256 << 10;
constexpr DurNs kShortCollective = 60'000;
// Smaller reductions in FP32 are losses, norms and statistics.
constexpr std::int64_t kLeastGradients = 1 << 20;
constexpr std::size_t kLongRun = 3;
constexpr DurNs kLongestGap = 200'000;  // between two of a run: the host may do something else in a longer one

class PatternFinder {
public:
    explicit PatternFinder(const Facts& facts)
        : facts_(facts), trace_(facts.trace()), records_(trace_), names_(facts.get<KernelNames>()) {
        const std::vector<KernelGroup>& groups = facts.get<KernelGroups>().groups;
        kinds_.resize(groups.size());
        for (std::uint32_t i = 0; i < groups.size(); ++i) kinds_[names_.order[i]] = groups[i].traits.kind;
    }

    CollectivePatterns find() {
        const KernelTable& kernels = trace_.kernel();
        for (Row row = 0; row < kernels.rows; ++row) {
            std::uint32_t slot = names_.groups.of(row);
            if (slot == NameGroups::kLeftOut) continue;
            std::int32_t device = kernels.device.value_or(row, -1);
            if (kinds_[slot] == KernelClass::collective) {
                add(device, row, facts_.get<KernelGroups>().groups[place(slot)].traits);
            } else if (kinds_[slot] != KernelClass::elementwise && kinds_[slot] != KernelClass::copy_cast) {
                work_[device] = kernels.start[row];
            }
        }
        for (auto& [stream, run] : runs_) close(run);
        return found_;
    }

private:
    struct Run {
        TimeNs end = 0;
        std::vector<Row> kernels;
        std::vector<std::int64_t> bytes;  // 0: not recorded
        bool sized = true;
    };

    std::size_t place(std::uint32_t slot) {
        if (places_.empty()) {
            places_.resize(names_.order.size());
            for (std::uint32_t i = 0; i < names_.order.size(); ++i) places_[names_.order[i]] = i;
        }
        return places_[slot];
    }
    // Of a span on the device of a kernel, what no other kernel hides.
    DurNs without_compute(Row kernel, Interval span) const {
        for (const DeviceActivity& device : facts_.get<Activity>().devices)
            if (device.device == trace_.kernel().device.value_or(kernel, -1))
                return span.length() - length_within(device.compute(), span);
        return 0;
    }
    // Its transfer, without what another kernel hides.
    DurNs exposed(Row row) const {
        const KernelTable& kernels = trace_.kernel();
        const PeerWaits::Collective* known = facts_.get<PeerWaits>().find(row);
        if (known != nullptr && known->doubtful) return 0;
        TimeNs start = kernels.start[row] + (known != nullptr ? known->wait : 0);
        return without_compute(row, {start, kernels.start[row] + kernels.dur[row]});
    }
    void add(std::int32_t device, Row row, const KernelTraits& traits) {
        const KernelTable& kernels = trace_.kernel();
        Row record = records_.find(row);
        CollectiveMessage message = record == kNoRow ? CollectiveMessage{} : message_of(trace_, record);
        DurNs alone = exposed(row);
        found_.exposed_transfers += alone;
        add_gradients(row, record, message, traits, alone);
        Run& run = runs_[{device, kernels.stream.value_or(row, -1)}];
        auto work = work_.find(device);
        bool other_work = work != work_.end() && work->second >= run.end;
        if (!run.kernels.empty() && (other_work || kernels.start[row] - run.end > kLongestGap)) close(run);
        bool small = message.bytes ? *message.bytes <= kSmallMessage : kernels.dur[row] <= kShortCollective;
        if (!small || (!run.kernels.empty() && run.sized != message.bytes.has_value())) close(run);
        if (!small) return;
        run.sized = message.bytes.has_value();
        run.bytes.push_back(message.bytes.value_or(0));
        run.end = kernels.start[row] + kernels.dur[row];
        run.kernels.push_back(row);
    }
    // One collective of all bytes of a run: the line through the times of its collectives by their sizes, and at least the longest.
    DurNs time_together(const Run& run) const {
        auto n = static_cast<double>(run.kernels.size());
        double bytes = 0, time = 0, squares = 0, products = 0, longest = 0;
        for (std::size_t i = 0; i < run.kernels.size(); ++i) {
            auto x = static_cast<double>(run.bytes[i]), y = static_cast<double>(trace_.kernel().dur[run.kernels[i]]);
            bytes += x, time += y, squares += x * x, products += x * y;
            longest = std::max(longest, y);
        }
        double spread = squares - bytes * bytes / n;
        double per_byte = spread > 0 ? std::max(0.0, (products - bytes * time / n) / spread) : 0;
        return static_cast<DurNs>(std::max(longest, time / n + per_byte * (bytes - bytes / n)));
    }
    void close(Run& run) {
        if (run.kernels.size() >= kLongRun) {
            CollectivePatterns::Small& found = run.sized ? found_.small : found_.unsized;
            for (Row row : run.kernels) found.exposed += exposed(row);
            found.count += run.kernels.size();
            ++found.runs;
            TimeNs begin = trace_.kernel().start[run.kernels.front()];
            found.saved +=
                std::max<DurNs>(0, without_compute(run.kernels.front(), {begin, run.end}) - time_together(run));
            found.largest = std::max(found.largest, *std::max_element(run.bytes.begin(), run.bytes.end()));
            found.example = run.kernels.front();
        }
        run = {};
    }
    void add_gradients(Row row, Row record, const CollectiveMessage& message, const KernelTraits& traits, DurNs alone) {
        CollectiveKind kind = message.kind;
        if (kind == CollectiveKind::unknown && traits.collective) kind = traits.collective->kind;
        if (kind != CollectiveKind::all_reduce && kind != CollectiveKind::reduce_scatter) return;
        if (message.bytes.value_or(kLeastGradients) < kLeastGradients || !facts_.get<Practices>().half_products) return;
        std::string_view type =
            record == kNoRow ? "" : trace_.text(trace_.tables().collective.type.value_or(record, kNoString));
        if (type != "Float" && (!type.empty() || !traits.collective || traits.collective->dtype != "fp32")) return;
        CollectivePatterns::Gradients& found = found_.full_precision;
        ++found.count;
        found.exposed += alone;
        if (found.longest == kNoRow || trace_.kernel().dur[row] > trace_.kernel().dur[found.longest])
            found.longest = row;
    }

    const Facts& facts_;
    const Trace& trace_;
    CollectiveRecords records_;
    const KernelNames& names_;
    std::vector<KernelClass> kinds_;       // by group of names
    std::vector<std::size_t> places_;      // of groups of names in KernelGroups
    std::map<std::int32_t, TimeNs> work_;  // start of the last kernel that a collective may depend on, by device
    std::map<std::pair<std::int32_t, std::int64_t>, Run> runs_;
    CollectivePatterns found_;
};

}  // namespace

CollectivePatterns CollectivePatterns::make(const Facts& facts) {
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (!device.comm.empty()) return PatternFinder(facts).find();
    return {};
}

std::string collective_line(const Facts& facts, Row kernel) {
    const Trace& trace = facts.trace();
    Row record = CollectiveRecords(trace).find(kernel);
    if (record == kNoRow) return "";
    CollectiveMessage message = message_of(trace, record);
    std::string text(to_string(message.kind));
    if (message.bytes) text += fmt::format(" of {}", readable_bytes(static_cast<double>(*message.bytes)));
    if (trace.tables().collective.type.has(record))
        text += fmt::format(" ({})", trace.text(trace.tables().collective.type[record]));
    if (message.ranks) text += fmt::format(" by {} ranks", *message.ranks);
    return text;
}

}  // namespace gpuprof::facts
