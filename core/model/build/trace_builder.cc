#include "core/model/build/trace_builder.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/base/text/function_name.h"
#include "core/model/build/device_clock.h"
#include "core/model/build/serial_work.h"
#include "core/model/completeness.h"
#include "core/model/privacy/recorded_secrets.h"
#include "core/model/processes.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {
namespace {

// 26 days. An event further from the middle of the recording has a wrong time (a start of 0 is a known driver quirk);
// it would stretch the window to years.
constexpr DurNs kMaxDistance = DurNs{1} << 51;
// The durations of a table add up to less than this, so that no sum over its rows can overflow.
constexpr DurNs kMaxTotal = DurNs{1} << 61;

// Processes the columns of a long table in parallel: moving values is most of the cost of finishing a trace.
template <class Table>
void gather(Table& table, const PodVector<Row>& order) {
    constexpr std::size_t kLong = 100'000;
    std::vector<std::function<void()>> columns;
    table.each_column([&](const ColumnSpec&, auto& column) { columns.push_back([&] { column.gather(order); }); });
    unsigned threads = order.size() < kLong ? 1 : default_threads();
    run_parallel(columns.size(), threads, [&](std::size_t column, unsigned) { columns[column](); });
    table.rows = order.size();
}

// Which spans of a table are plausible, given the middle of the recording.
class SpanCheck {
public:
    explicit SpanCheck(TimeNs middle) : middle_(middle) {}

    // Whether the span is in range and the table's total stays within bounds; the span is then added to the total.
    bool plausible(TimeNs start, DurNs dur) {
        if (!near(start) || !in_range(dur) || !near(start + dur)) return false;
        if (dur <= 0) return true;
        if (total_ + dur >= kMaxTotal) return false;
        total_ += dur;
        return true;
    }

    // Whether all spans that start in an interval and last no longer than `longest` are in range, and `rows` of them stay within bounds.
    bool plausible(Interval starts, DurNs longest, std::size_t rows) const {
        return near(starts.start) && near(starts.end) && in_range(longest) && near(starts.end + longest) &&
               longest <= kMaxTotal / 2 / static_cast<DurNs>(rows);
    }

private:
    bool near(TimeNs time) const { return in_range(time) && std::abs(time - middle_) < kMaxDistance; }

    TimeNs middle_;
    DurNs total_ = 0;
};

// The first row without a usable span; the number of rows if there is none.
template <class Table>
Row first_unsound(const Table& table, SpanCheck& check) {
    if (table.rows > 0 && table.start.all_present() && table.dur.all_present()) {  // then their extremes say enough
        Interval starts{table.start[0], table.start[0]}, durs{table.dur[0], table.dur[0]};
        for (Row row = 1; row < table.rows; ++row) {
            starts = {std::min(starts.start, table.start[row]), std::max(starts.end, table.start[row])};
            durs = {std::min(durs.start, table.dur[row]), std::max(durs.end, table.dur[row])};
        }
        if (durs.start >= 0 && check.plausible(starts, durs.end, table.rows)) return static_cast<Row>(table.rows);
    }
    Row row = 0;
    while (row < table.rows && table.start.has(row) && table.dur.has(row) && table.dur[row] >= 0 &&
           check.plausible(table.start[row], table.dur[row]))
        ++row;
    return row;
}

// Drops rows without a usable span; a negative duration becomes 0. Everything is counted.
template <class Table>
void repair_spans(Table& table, std::string_view name, TimeNs middle, Batch& losses) {
    SpanCheck check(middle);
    Row row = first_unsound(table, check);
    if (row == table.rows) return;
    PodVector<Row> kept(row);
    for (Row sound = 0; sound < row; ++sound) kept[sound] = sound;
    for (; row < table.rows; ++row) {
        if (!table.start.has(row) || !table.dur.has(row)) {
            losses.lose(Loss::missing_field, fmt::format("{} row {}", name, row));
            continue;
        }
        DurNs dur = table.dur[row];
        if (!check.plausible(table.start[row], dur)) {
            losses.lose(Loss::time_out_of_range, fmt::format("{} row {}", name, row));
            continue;
        }
        if (dur < 0) {
            losses.lose(Loss::negative_duration, fmt::format("{} row {}", name, row));
            table.dur.change(row, 0);
        }
        kept.push_back(row);
    }
    if (kept.size() != table.rows) gather(table, kept);
}

// Merges [first, middle) and [middle, end), of which equal ones keep their order.
template <class Before>
void merge_neighbors(Row* first, Row* middle, Row* end, PodVector<Row>& buffer, Before before) {
    buffer.clear();
    buffer.append(first, static_cast<std::size_t>(middle - first));
    std::merge(buffer.begin(), buffer.end(), middle, end, first, before);
}

// A stable sort of ascending numbers of rows that are almost in order. Recorders write one thread after another, each in
// time order, so a table is a few ascending runs. Merging neighbors costs one pass per doubling, and nothing if they are
// in order. The standard library's stable algorithms are not used: their buffers are on the heap whatever their size.
template <class Before>
void merge_runs(PodVector<Row>& order, Before before) {
    std::vector<std::size_t> bounds{0};
    for (std::size_t i = 1; i < order.size(); ++i)
        if (before(order[i], order[i - 1])) bounds.push_back(i);
    if (bounds.size() > order.size() / 16)
        return std::sort(order.begin(), order.end(),
                         [&](Row a, Row b) { return before(a, b) || (a < b && !before(b, a)); });
    bounds.push_back(order.size());
    PodVector<Row> buffer;
    while (bounds.size() > 2) {
        std::vector<std::size_t> merged{0};
        for (std::size_t i = 2; i < bounds.size(); i += 2) {
            Row* middle = order.begin() + bounds[i - 1];
            if (before(*middle, middle[-1]))
                merge_neighbors(order.begin() + bounds[i - 2], middle, order.begin() + bounds[i], buffer, before);
            merged.push_back(bounds[i]);
        }
        if (merged.back() != order.size()) merged.push_back(order.size());
        bounds.swap(merged);
    }
}

// By start, longest first among equals, so that an enclosing span comes before the spans in it.
template <class Table>
auto start_order(const Table& table) {
    return [start = table.start.values(), &dur = table.dur](Row a, Row b) {
        return start[a] != start[b] ? start[a] < start[b] : dur[a] > dur[b];
    };
}

// The first row that comes before the one above it; the number of rows or more if there is none.
template <class Table>
Row first_unsorted(const Table& table) {
    auto before = start_order(table);
    Row row = 1;
    while (row < table.rows && !before(row, row - 1)) ++row;
    return row;
}

template <class Table>
void sort_by_start(Table& table) {
    auto before = start_order(table);
    if (first_unsorted(table) >= table.rows) return;
    PodVector<Row> order(table.rows);
    for (Row i = 0; i < table.rows; ++i) order[i] = i;
    merge_runs(order, before);
    gather(table, order);
}

template <class Table>
void widen(Interval& window, bool& any, const Table& table) {
    if (table.rows == 0) return;
    TimeNs first = table.start[0], last = first;
    for (Row row = 0; row < table.rows; ++row) last = std::max(last, table.start[row] + table.dur[row]);
    window = any ? Interval{std::min(window.start, first), std::max(window.end, last)} : Interval{first, last};
    any = true;
}

// By the spans that were skipped; unchanged if they are implausible together.
void widen(Interval& window, bool& any, const SkippedTimes& skipped, TimeNs middle, Batch& losses) {
    if (!skipped.spans()) return;
    Interval by = *skipped.spans();
    if (!SpanCheck(middle).plausible(by.start, by.length()))
        return losses.lose(Loss::time_out_of_range, "rows of other tables", skipped.span_count());
    window = any ? Interval{std::min(window.start, by.start), std::max(window.end, by.end)} : by;
    any = true;
}

// The median start of the recording's spans, from up to a thousand of each table; 0 when there is none.
TimeNs middle_of(const Tables& tables, const SkippedTimes& skipped) {
    constexpr std::size_t kMaxPerTable = 1000;
    std::vector<TimeNs> starts;
    if (skipped.spans()) starts.push_back(skipped.spans()->start);
    tables.each_table([&](const TableSpec&, const auto& table) {
        if constexpr (kHasSpan<std::remove_cvref_t<decltype(table)>>)
            for (std::size_t row = 0, stride = table.rows / kMaxPerTable + 1; row < table.rows; row += stride)
                if (Row at = static_cast<Row>(row); table.start.has(at) && in_range(table.start[at]))
                    starts.push_back(table.start[at]);
    });
    if (starts.empty()) return 0;
    auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
    std::nth_element(starts.begin(), middle, starts.end());
    return *middle;
}

// The window of a recording without spans: that of its process samples.
Interval sampled_window(const CpuSampleTable& samples) {
    Interval window{0, 0};
    bool any = false;
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.time.has(row) || !in_range(samples.time[row])) continue;
        TimeNs begin = samples.time[row];
        TimeNs end = begin + std::clamp<DurNs>(samples.dur.value_or(row, 0), 0, kMaxDistance);
        window = any ? Interval{std::min(window.start, begin), std::max(window.end, end)} : Interval{begin, end};
        any = true;
    }
    return window;
}

// The window of a recording without durations: from the first sample or allocation to the last.
Interval window_of_moments(const Tables& tables, const SkippedTimes& skipped) {
    Interval window = skipped.moments().value_or(Interval{0, 0});
    bool any = skipped.moments().has_value();
    auto widen_by = [&](const Column<TimeNs>& times) {
        for (Row row = 0; row < times.size(); ++row) {
            if (!times.has(row) || !in_range(times[row])) continue;
            TimeNs time = times[row];
            window = any ? Interval{std::min(window.start, time), std::max(window.end, time)} : Interval{time, time};
            any = true;
        }
    };
    widen_by(tables.sample.time);
    widen_by(tables.memory_event.time);
    return window;
}

// Concatenated captures describe a process, thread or device once per part; the last description of each key wins,
// field by field. Sorted by key, so that the order does not depend on how the input was split. Rows without a key, from
// damaged files, become one.
template <class Table, class Key, class Before>
void merge_by_key(Table& table, Column<Key>& key, Before before) {
    std::vector<Row> order(table.rows);
    for (Row row = 0; row < table.rows; ++row) order[row] = row;
    std::stable_sort(order.begin(), order.end(), [&](Row a, Row b) {
        return key.has(a) && key.has(b) ? before(key[a], key[b]) : !key.has(a) && key.has(b);
    });
    auto same_key = [&](Row a, Row b) { return key.has(a) == key.has(b) && (!key.has(a) || key[a] == key[b]); };
    Table merged;
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && same_key(order[end], order[begin])) ++end;
        Row to = merged.add();
        std::vector<Row> same(order.begin() + static_cast<std::ptrdiff_t>(begin),
                              order.begin() + static_cast<std::ptrdiff_t>(end));
        // Columns of the two tables are visited in lockstep by position.
        std::size_t at = 0;
        merged.each_column([&](const ColumnSpec&, auto& into) {
            std::size_t position = 0;
            table.each_column([&](const ColumnSpec&, auto& from) {
                if constexpr (std::is_same_v<decltype(into), decltype(from)>) {
                    if (position == at)
                        for (auto row = same.rbegin(); row != same.rend(); ++row)
                            if (from.has(*row)) {
                                into.set(to, from[*row]);
                                break;
                            }
                }
                ++position;
            });
            ++at;
        });
        begin = end;
    }
    merged.close();
    table = std::move(merged);
}

void lose_long_names(const KernelTable& kernels, const StringPool& strings, Batch& losses) {
    std::vector<bool> seen(strings.size());  // each name counts once
    for (Row row = 0; row < kernels.rows; ++row) {
        if (!kernels.name.has(row) || seen[index_of(kernels.name[row])]) continue;
        seen[index_of(kernels.name[row])] = true;
        if (std::string_view name = strings[kernels.name[row]]; is_too_long_demangled(name))
            losses.lose(Loss::long_name, fmt::format("{}…", name.substr(0, 60)));
    }
}

}  // namespace

void TraceBuilder::append(Batch&& batch) {
    batch.tables.close();
    skipped_.take(batch.tables, selected_);
    if (empty_) {
        trace_.tables_ = std::move(batch.tables);
        skip_unselected(trace_.tables_, selected_);
        trace_.strings_ = std::move(batch.strings);
    } else {
        append_tables(trace_.tables_, batch.tables, trace_.strings_.merge(batch.strings));
    }
    empty_ = false;
    for (std::size_t kind = 0; kind < kLossKinds; ++kind) rest_.losses[kind].add(batch.losses[kind]);
    batch.clear();
}

void TraceBuilder::set_meta(std::string_view key, std::string_view value) {
    MetaTable& meta = rest_.tables.meta;
    Row row = meta.add();
    meta.key.set(row, rest_.intern(key));
    meta.value.set(row, rest_.intern(value));
}

// What hardware cannot have done is repaired, or left out of what is concluded, before anything is computed from it.
std::unique_ptr<CompletenessCheck> TraceBuilder::link_believable_work() {
    Tables& tables = trace_.tables_;
    auto link = [&] {
        sort_by_start(tables.kernel);
        sort_by_start(tables.memcpy);
        sort_by_start(tables.memset);
        trace_.links_ = link_launches(tables, trace_.strings_);
    };
    remove_copied_events(tables, rest_);
    link();
    EarlyWork early;
    Overruns overruns;
    auto complete = std::make_unique<CompletenessCheck>(tables, trace_.links_, trace_.strings_);
    bool doubtful = false;
    auto cut = [&] { overruns = cut_overruns(tables, trace_.links_, trace_.strings_, Compared::all, rest_); };
    run_together(tables.kernel.rows + tables.api_call.rows, {[&] { complete->read_calls(); },
                                                             [&] {
                                                                 doubtful = clocks_are_doubtful(tables, trace_.links_,
                                                                                                trace_.strings_);
                                                                 if (!doubtful) cut();
                                                             }});
    if (doubtful) {
        if (cut_overruns(tables, trace_.links_, trace_.strings_, Compared::same_kind, rest_).cut > 0) link();
        early = align_device_clocks(tables, trace_.links_, trace_.strings_, rest_);
        if (early.moved) link();
        cut();
    }
    if (overruns.cut > 0) link();
    for (const std::string& why : {early.no_verdict, overruns.no_verdict})
        if (!why.empty()) set_meta(meta_key::kContradiction, why);
    return complete;
}

// From the first event to the last. A thread is on a CPU, and a context on a GPU, before the program's first call and after its last
// one: that is no part of the window.
void TraceBuilder::find_window(TimeNs middle) {
    Tables& tables = trace_.tables_;
    bool any = false;
    tables.each_table([&](const TableSpec&, const auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        if constexpr (kHasSpan<Table> && !kOfScheduler<Table>) widen(trace_.window_, any, table);
    });
    widen(trace_.window_, any, skipped_, middle, rest_);
    if (!any) trace_.window_ = sampled_window(tables.cpu_sample);
    if (!any && tables.cpu_sample.rows == 0) trace_.window_ = window_of_moments(tables, skipped_);
    if (!any && trace_.window_.length() == 0) widen(trace_.window_, any, tables.cpu_slice);
    trace_.full_window_ = trace_.window_;
}

Trace TraceBuilder::finish() && {
    Tables& tables = trace_.tables_;
    shift_times(tables, time_base_);
    skipped_.shift(time_base_);
    TimeNs middle = middle_of(tables, skipped_);
    std::size_t rows = 0;
    std::set<std::string_view> sound;  // tables that need no repair
    std::mutex mutex;
    std::vector<std::function<void()>> checks;
    tables.each_table([&](const TableSpec& spec, const auto& table) {
        if constexpr (kHasSpan<std::remove_cvref_t<decltype(table)>>) {
            rows += table.rows;
            checks.push_back([&] {
                SpanCheck check(middle);
                if (first_unsound(table, check) < table.rows || first_unsorted(table) < table.rows) return;
                std::lock_guard lock(mutex);
                sound.insert(spec.name);
            });
        }
    });
    run_together(rows, checks);
    tables.each_table([&](const TableSpec& spec, auto& table) {
        if constexpr (kHasSpan<std::remove_reference_t<decltype(table)>>) {
            if (sound.contains(spec.name)) return;
            repair_spans(table, spec.name, middle, rest_);
            sort_by_start(table);
        }
    });
    auto by_text = [this](StringId a, StringId b) { return trace_.text(a) < trace_.text(b); };
    merge_by_key(tables.process, tables.process.key, by_text);
    merge_by_key(tables.thread, tables.thread.key, by_text);
    merge_by_key(tables.device, tables.device.device, std::less<>{});
    adopt_processes(tables);
    std::unique_ptr<CompletenessCheck> complete = link_believable_work();
    run_together(tables.kernel.rows, {[&] { trace_.completeness_ = complete->result(); },
                                      [&] {
                                          find_window(middle);
                                          lose_long_names(tables.kernel, trace_.strings_, rest_);
                                      }});
    complete.reset();
    lose_missing_work(trace_.links_.counts, trace_.completeness_, rest_);

    Batch losses;
    for (std::size_t kind = 0; kind < kLossKinds; ++kind) {
        const Batch::LossCount& known = rest_.losses[kind];
        if (known.count == 0) continue;
        LossTable& table = losses.tables.loss;
        Row row = table.add();
        table.kind.set(row, losses.intern(kLosses[kind].name));
        table.count.set(row, static_cast<std::int64_t>(known.count));
        table.place.set(row, losses.intern(known.text()));
    }
    rest_.losses = {};
    append(std::move(rest_));
    append(std::move(losses));
    remove_secrets(tables, trace_.strings_);
    return std::move(trace_);
}

}  // namespace gpuprof::model
