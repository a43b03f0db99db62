#include "core/model/build/serial_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/text/readable.h"
#include "core/model/build/batch.h"
#include "core/model/build/device_clock.h"
#include "core/model/build/links.h"

namespace gpuprof::inline model {
namespace {

// Measured on 40 recordings of V100 to B200 and MI250 to MI300X, 130,000 ops: of different launches, an op starts up to 12.4 us before
// its predecessor ends, never before two of them, and always ends after it.
constexpr DurNs kMaxOverlap = 50'000;
// Old files have times in whole microseconds.
constexpr DurNs kRounding = 1'000;
// If ops that were cut have more than this share of the device's time, its times say nothing.
constexpr double kMaxCutShare = 0.05;

template <class Table>
bool equal_rows(const Table& table, Row a, Row b) {
    bool equal = true;
    table.each_column([&](const ColumnSpec&, const auto& column) {
        equal = equal && column.has(a) == column.has(b) && (!column.has(a) || column[a] == column[b]);
    });
    return equal;
}

// Whether all columns were read: without some, rows look alike that are not.
template <class Table>
bool is_whole(const Table& table) {
    bool whole = true;
    table.each_column([&](const ColumnSpec&, const auto& column) { whole = whole && !column.is_skipped(); });
    return whole;
}

template <class Table>
void keep_only(Table& table, const PodVector<Row>& kept) {
    table.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    table.rows = kept.size();
}

// Rows that are equal to an earlier one with the same time. `time` is sorted.
template <class Table>
PodVector<Row> copied_rows(const Table& table, const Column<TimeNs>& time) {
    PodVector<Row> copied;
    const TimeNs* at = time.values();
    if (at == nullptr) return copied;
    Row first = 0;  // of those with the same time
    for (Row row = 1; row < table.rows; ++row) {
        if (at[row] != at[first]) {
            first = row;
            continue;
        }
        // Work at time 0 was lost; such rows may be many.
        constexpr Row kMostAtOnce = 64;
        for (Row other = std::max(first, row > kMostAtOnce ? row - kMostAtOnce : 0); other < row; ++other)
            if (equal_rows(table, row, other)) {
                copied.push_back(row);
                break;
            }
    }
    return copied;
}

template <class Table>
std::uint64_t remove_copies(Table& table, const Column<TimeNs>& time, std::string_view name, Batch& losses) {
    if (!is_whole(table)) return 0;
    PodVector<Row> copied = copied_rows(table, time);
    if (copied.empty()) return 0;
    PodVector<Row> kept;
    std::size_t next = 0;
    for (Row row = 0; row < table.rows; ++row) {
        if (next < copied.size() && copied[next] == row)
            ++next;
        else
            kept.push_back(row);
    }
    keep_only(table, kept);
    losses.lose_named(Loss::copied_event, "removed", name, copied.size());
    return copied.size();
}

// A device op while a later one of its stream may overlap it.
struct OpenOp {
    TimeNs end;  // as recorded
    Row row;
    std::uint8_t table;
    bool overlapped = false;  // by a later op of its stream
    TimeNs next = 0;          // start of the first that does
};

class Streams {
public:
    Streams(Tables& tables, const Links& links, const StringPool& strings, bool same_kind, Batch& losses)
        : tables_(tables), links_(links), strings_(strings), same_kind_(same_kind), losses_(losses) {}

    Overruns check() {
        Head kernel{tables_.kernel.start.values(), tables_.kernel.rows},
            copy{tables_.memcpy.start.values(), tables_.memcpy.rows},
            fill{tables_.memset.start.values(), tables_.memset.rows};
        for (;;) {
            TimeNs next = std::min({kernel.time(), copy.time(), fill.time()});
            if (next == Head::kNone) break;
            if (kernel.time() == next)
                visit(0, tables_.kernel, kernel.row++);
            else if (copy.time() == next)
                visit(1, tables_.memcpy, copy.row++);
            else
                visit(2, tables_.memset, fill.row++);
        }
        cut_at_waits();
        if (cut_ == 0) return {};
        losses_.lose(Loss::overrun, example_, cut_);
        double share = total_ > 0 ? static_cast<double>(doubtful_) / static_cast<double>(total_) : 1;
        if (share <= kMaxCutShare) return {cut_};
        return {cut_,
                fmt::format(
                    "{} of {} ran over the next work of their stream, which no device does; they are {:.0f} % of the "
                    "time of its work",
                    readable_count(static_cast<std::int64_t>(cut_)),
                    readable_count(static_cast<std::size_t>(ops_), "device op"), 100 * share)};
    }

private:
    struct Head {
        static constexpr TimeNs kNone = INT64_MAX;
        const TimeNs* start;
        std::size_t rows;
        Row row = 0;
        TimeNs time() const { return row < rows ? start[row] : kNone; }
    };
    struct Key {
        std::uint32_t process;
        std::int32_t device, context;
        std::int64_t stream;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            auto mixed = static_cast<std::uint64_t>(key.stream) * 0x9E3779B97F4A7C15u;
            mixed ^= static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.device)) << 32 |
                     static_cast<std::uint32_t>(key.context);
            return (mixed ^ key.process) * 0xBF58476D1CE4E5B9u >> 16;
        }
    };

    template <class Table>
    void visit(std::uint8_t number, const Table& table, Row row) {
        DurNs dur = table.dur[row];
        ++ops_;
        total_ += dur;
        if (!table.stream.has(row)) return;
        Key key{index_of(table.process.value_or(row, kNoString)), table.device.value_or(row, -1),
                table.context.value_or(row, -1), table.stream[row]};
        if (last_ == nullptr || !(key == last_key_)) {
            last_ = &streams_[key];
            last_key_ = key;
        }
        TimeNs start = table.start[row];
        OpenOp op{start + dur, row, number};
        if (last_->size() == 1 && (*last_)[0].end <= start)  // nearly always
            (*last_)[0] = op;
        else
            compare(*last_, op);
    }

    void compare(std::vector<OpenOp>& open, const OpenOp& op) {
        TimeNs start = start_of(op);
        std::size_t kept = 0;
        for (OpenOp& earlier : open) {
            if (earlier.end <= start) continue;
            if (same_kind_ && earlier.table != op.table) {
                open[kept++] = earlier;
                continue;
            }
            bool first = !std::exchange(earlier.overlapped, true);
            if (first) earlier.next = start;
            if (may_overlap(earlier, op, first))
                open[kept++] = earlier;
            else
                cut(earlier);
        }
        open.resize(kept);
        open.push_back(op);
    }

    // `read` gets the op's table and the calls that submitted its ops.
    template <class Read>
    auto of(const OpenOp& op, Read&& read) const {
        if (op.table == 0) return read(tables_.kernel, links_.kernel_launch);
        return op.table == 1 ? read(tables_.memcpy, links_.memcpy_launch) : read(tables_.memset, links_.memset_launch);
    }
    TimeNs start_of(const OpenOp& op) const {
        return of(op, [&](const auto& table, const auto&) { return table.start[op.row]; });
    }
    bool of_one_launch(const OpenOp& a, const OpenOp& b) const {
        auto ids = [&](const OpenOp& op) {
            return of(op, [&](const auto& table, const auto&) {
                return std::pair(table.correlation.value_or(op.row, -1), table.graph_id.value_or(op.row, -1));
            });
        };
        auto [launch, graph] = ids(a);
        auto [other_launch, other_graph] = ids(b);
        return launch >= 0 ? launch == other_launch : graph >= 0 && graph == other_graph;
    }
    bool may_overlap(const OpenOp& earlier, const OpenOp& op, bool first) const {
        DurNs overlap = earlier.end - start_of(op);
        if (overlap <= kRounding || of_one_launch(earlier, op)) return true;
        return overlap <= kMaxOverlap && op.end + kRounding >= earlier.end && first;
    }

    void cut(const OpenOp& op) {
        // Several ops may start at once; then this one's end is unknown too, but it took some time.
        TimeNs start = start_of(op);
        DurNs recorded = op.end - start, dur = std::max<DurNs>(1, op.next - start);
        if (cut_++ == 0)
            example_ =
                fmt::format("{}: {} became {}", name_of(op), readable_duration(recorded), readable_duration(dur));
        total_ -= recorded - dur;
        doubtful_ += dur;
        Column<DurNs>& durs =
            op.table == 0 ? tables_.kernel.dur : (op.table == 1 ? tables_.memcpy.dur : tables_.memset.dur);
        durs.change(op.row, dur);
    }
    // Nothing on its stream bounds the last op, and the nodes of its launch do not bound a node. A call that waited for the only device
    // of the process does.
    void cut_at_waits() {
        const ApiCallTable& calls = tables_.api_call;
        if (calls.rows == 0 || same_kind_) return;
        TimeNs last_call = calls.start[static_cast<Row>(calls.rows - 1)];
        std::vector<OpenOp> doubtful;
        std::map<std::uint32_t, std::set<std::int32_t>> devices;
        for (const auto& [key, open] : streams_) {
            devices[key.process].insert(key.device);
            for (const OpenOp& op : open)
                if (op.overlapped || op.end > last_call) doubtful.push_back(op);
        }
        if (doubtful.empty()) return;
        std::vector<Row> waits;
        for (Row row = 0; row < calls.rows; ++row)
            if (waits_for_device(strings_[calls.name.value_or(row, kNoString)])) waits.push_back(row);
        for (OpenOp& op : doubtful) {
            Row call = of(op, [&](const auto&, const PodVector<Row>& launch) { return launch[op.row]; });
            if (call == kNoRow || devices[index_of(calls.process.value_or(call, kNoString))].size() != 1) continue;
            auto wait = std::find_if(waits.begin(), waits.end(), [&](Row row) {
                return calls.start[row] >= calls.start[call] + calls.dur[call] &&
                       calls.process[row] == calls.process[call];
            });
            if (wait == waits.end()) continue;
            TimeNs returned = calls.start[*wait] + calls.dur[*wait];
            if (op.end <= returned + kMaxOverlap || start_of(op) >= returned) continue;
            if (!op.overlapped) op.next = returned;
            cut(op);
        }
    }

    std::string name_of(const OpenOp& op) const {
        if (op.table != 0) return op.table == 1 ? "a copy" : "a fill";
        std::string_view name = strings_[tables_.kernel.name.value_or(op.row, kNoString)];
        return fmt::format("{}{}", name.substr(0, 60), name.size() > 60 ? "…" : "");
    }

    Tables& tables_;
    const Links& links_;
    const StringPool& strings_;
    bool same_kind_;
    Batch& losses_;
    std::unordered_map<Key, std::vector<OpenOp>, KeyHash> streams_;
    Key last_key_{};
    std::vector<OpenOp>* last_ = nullptr;
    std::uint64_t ops_ = 0, cut_ = 0;
    DurNs total_ = 0, doubtful_ = 0;
    std::string example_;
};

}  // namespace

void remove_copied_events(Tables& tables, Batch& losses) {
    std::uint64_t found = 0;
    auto of = [&](auto& table, std::string_view name) { return remove_copies(table, table.start, name, losses); };
    found += of(tables.kernel, "kernel");
    found += of(tables.memcpy, "memcpy");
    found += of(tables.memset, "memset");
    found += of(tables.api_call, "api_call");
    if (found == 0) return;
    of(tables.sync, "sync");
    of(tables.op, "op");
    of(tables.range, "range");
    of(tables.device_range, "device_range");
    of(tables.python_call, "python_call");
    of(tables.os_call, "os_call");
    of(tables.overhead, "overhead");
    if (tables.memory_event.time.all_present() &&
        std::is_sorted(tables.memory_event.time.values(),
                       tables.memory_event.time.values() + tables.memory_event.time.size()))
        remove_copies(tables.memory_event, tables.memory_event.time, "memory_event", losses);
}

Overruns cut_overruns(Tables& tables, const Links& links, const StringPool& strings, Compared compared, Batch& losses) {
    if (!is_whole(tables.kernel) || !is_whole(tables.memcpy) || !is_whole(tables.memset)) return {};
    return Streams(tables, links, strings, compared == Compared::same_kind, losses).check();
}

}  // namespace gpuprof::model
