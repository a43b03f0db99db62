#include "analyze/facts/memory/managed_migrations.h"

#include <algorithm>
#include <map>

#include "analyze/facts/facts.h"
#include "core/model/interval.h"
#include "core/model/managed_memory.h"

namespace gpuprof::inline facts {
namespace {

// The handling of a fault lies between two migrations, or between the start of the kernel and its first migration: up to
// 0.49 ms in a vector add of 12 MB on an RTX 4090, which did nothing else for 2.78 ms. Longer pauses are other work.
constexpr DurNs kMaxFaultHandling = 500'000;
// A kernel waits for pages if they move, or faults are recorded, for this share of its time (26 % in that vector add), and
// if it waits for them, faults included, for most of it (97 %).
constexpr double kMinMoving = 0.1, kMinWaiting = 0.5;

// What a migration says about its cause. Without one, moving to the host is the host's own access.
class Causes {
public:
    explicit Causes(const Trace& trace)
        : copies_(trace.memcpy()),
          user_(trace.strings().find("user")),
          eviction_(trace.strings().find("eviction")),
          to_host_(trace.strings().find("DtoH")) {}
    bool is_user(Row copy) const { return is(copies_.migration, copy, user_); }
    bool is_eviction(Row copy) const { return is(copies_.migration, copy, eviction_); }
    bool on_demand(Row copy) const {
        return is_eviction(copy) || (!is_user(copy) && !is(copies_.kind, copy, to_host_));
    }

private:
    static bool is(const Column<StringId>& column, Row copy, StringId text) {
        return text != kNoString && column.value_or(copy, kNoString) == text;
    }
    const MemcpyTable& copies_;
    StringId user_, eviction_, to_host_;
};

bool prefetches(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, bool> known;
    for (Row row = 0; row < calls.rows; ++row) {
        StringId name = calls.name.value_or(row, kNoString);
        auto [found, first] = known.try_emplace(name);
        if (first) found->second = trace.text(name).find("MemPrefetch") != std::string_view::npos;
        if (found->second) return true;
    }
    return false;
}

// A set that answers how much of it lies in an interval, whatever their number: kernels and migrations may be many.
class Cover {
public:
    Cover() = default;
    explicit Cover(IntervalSet set) : set_(std::move(set)) {
        before_.reserve(set_.size() + 1);
        for (const Interval& each : set_) before_.push_back(before_.back() + each.length());
    }
    DurNs within(Interval part) const { return until(part.end) - until(part.start); }
    // The first member that ends after `time`, or none.
    const Interval* after(TimeNs time) const {
        std::size_t at = ended(time);
        return at < set_.size() ? &set_[at] : nullptr;
    }

private:
    std::size_t ended(TimeNs time) const {
        auto found = std::partition_point(set_.begin(), set_.end(), [&](const Interval& i) { return i.end <= time; });
        return static_cast<std::size_t>(found - set_.begin());
    }
    DurNs until(TimeNs time) const {
        std::size_t at = ended(time);
        return before_[at] + (at < set_.size() ? std::max<DurNs>(0, time - set_[at].start) : 0);
    }
    IntervalSet set_;
    std::vector<DurNs> before_{0};  // length of the members before each
};

// The migrations and faults of one device, in the order of their starts; close() when all are there.
class Moves {
public:
    void add(Interval move) {
        bool faults = !moves_.empty() && move.start - moves_.back().end <= kMaxFaultHandling;
        add_merged(pauses_, {faults ? std::min(moves_.back().end, move.start) : move.start, move.end});
        add_merged(moves_, move);
    }
    void add_fault(Interval fault) { add_merged(faults_, fault); }
    void close() {
        proven_ = Cover(unite(moves_, faults_));
        waiting_ = Cover(unite(pauses_, faults_));
        moving_ = Cover(std::move(moves_));
    }
    DurNs moving_in(Interval kernel) const { return moving_.within(kernel); }
    // By the evidence alone, without pauses.
    DurNs proven_in(Interval kernel) const { return proven_.within(kernel); }
    // With what lies between its start and the first migration inside.
    DurNs waiting_in(Interval kernel) const {
        const Interval* first = waiting_.after(kernel.start);
        if (first == nullptr || first->start >= kernel.end) return 0;
        DurNs lead = std::max<DurNs>(0, first->start - kernel.start);
        return waiting_.within(kernel) + (lead <= kMaxFaultHandling ? lead : 0);
    }

private:
    IntervalSet moves_, pauses_,
        faults_;  // pauses_: moves_ with the pauses between them that are the handling of faults
    Cover moving_, proven_, waiting_;
};

Interval span_of(const auto& table, Row row) { return {table.start[row], table.start[row] + table.dur[row]}; }

}  // namespace

ManagedMigrations ManagedMigrations::make(const Facts& facts) {
    ManagedMigrations found;
    const Trace& trace = facts.trace();
    const MemcpyTable& copies = trace.memcpy();
    const PageFaultTable& faults = trace.tables().page_fault;
    StringId managed = trace.strings().find(kManagedMemory);
    if (managed == kNoString && faults.rows == 0) return found;
    Causes causes(trace);
    std::map<std::int32_t, Moves> by_device;
    bool caused = false;
    std::vector<Row> demanded;
    for (Row row = 0; row < copies.rows; ++row) {
        if (!is_migration(copies, row, managed)) continue;
        ++found.count;
        caused |= copies.migration.has(row);
        found.evictions += causes.is_eviction(row);
        if (!causes.on_demand(row) || copies.dur[row] <= 0) continue;
        by_device[copies.device.value_or(row, -1)].add(span_of(copies, row));
        demanded.push_back(row);
    }
    for (Row row = 0; row < faults.rows; ++row)
        if (faults.device.has(row)) by_device[faults.device[row]].add_fault(span_of(faults, row));
    for (auto& [device, moves] : by_device) moves.close();
    if (by_device.empty()) return found;

    const KernelTable& kernels = trace.kernel();
    std::map<std::int32_t, IntervalSet> limited;
    found.limited_.assign(kernels.rows, false);
    for (Row row = 0; row < kernels.rows; ++row) {
        auto moves = by_device.find(kernels.device.value_or(row, -1));
        if (moves == by_device.end() || kernels.dur[row] <= 0) continue;
        Interval kernel = span_of(kernels, row);
        DurNs waiting = moves->second.waiting_in(kernel);
        auto length = static_cast<double>(kernel.length());
        if (static_cast<double>(moves->second.proven_in(kernel)) < kMinMoving * length ||
            static_cast<double>(waiting) < kMinWaiting * length)
            continue;
        found.limited_[row] = true;
        found.moving += moves->second.moving_in(kernel);
        found.waiting += waiting;
        found.limited += kernel.length();
        add_merged(limited[moves->first], kernel);
    }
    if (found.limited > 0 && !caused && prefetches(trace)) {
        ManagedMigrations unclear;
        unclear.count = found.count;
        unclear.cause_unknown = true;
        return unclear;
    }
    std::map<std::int32_t, Cover> covers;
    for (auto& [device, set] : limited) covers.emplace(device, std::move(set));
    auto in_limited = [&](const auto& table, Row row) {
        auto of = covers.find(table.device.value_or(row, -1));
        return of != covers.end() && of->second.within(span_of(table, row)) > 0;
    };
    for (Row row : demanded) {
        if (!in_limited(copies, row)) continue;
        ++found.in_kernels;
        found.bytes_in_kernels.add(copies.bytes.value_or(row, 0));
    }
    for (Row row = 0; row < faults.rows; ++row)
        if (in_limited(faults, row)) found.faults_in_kernels.add(faults.faults.value_or(row, 1));
    return found;
}

}  // namespace gpuprof::facts
