#include "core/model/completeness.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/base/string_pool.h"
#include "core/model/build/device_clock.h"
#include "core/model/build/graph_nodes.h"
#include "core/model/build/links.h"
#include "core/model/interval.h"
#include "core/model/tables.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {
namespace {

// A memcpy or memset call that returned this much faster than the fastest call of its name with work did nothing.
// Writing a command and notifying the device takes microseconds (2.9 us or more on V100 to H200); returning for zero
// bytes takes a fraction of one.
constexpr double kMinEmptyShare = 0.5;
constexpr DurNs kMaxEmptyDuration = 2000;
// The same if no call of the name submitted work.
constexpr DurNs kMaxLoneEmptyDuration = 1000;
// Graphs are compared with at most this many captures, each of which takes a pass over the calls.
constexpr std::uint64_t kMaxCompared = 64;
// Earlier and later than any time in a trace.
constexpr TimeNs kFarFuture = TimeNs{1} << 62;
constexpr DurNs kNotSeen = INT64_MAX;

// Bits: a call submitted recorded work itself, or a call nested in it did.
constexpr std::uint8_t kOwnWork = 1, kNestedWork = 2;

}  // namespace

class CompletenessCheck::Check {
public:
    Check(const Tables& tables, const Links& links, const StringPool& strings)
        : tables_(tables), links_(links), calls_(tables.api_call), strings_(strings) {}

    // Needs no time of device work, nor the order of its rows.
    void read_calls() {
        found_.ops = tables_.kernel.rows + tables_.memcpy.rows + tables_.memset.rows;
        found_.measured_instead = found_.ops == 0 && tables_.profiled_kernel.rows > 0;
        if (found_.measured_instead) return;
        classify();
        if (submitting_names_ == 0) return;
        mark_work();
        find_captures();
        submitting_ = outermost();
    }
    Completeness result() {
        count_ops();
        if (submitting_names_ == 0) return std::move(found_);
        note_ends(tables_.kernel);
        note_ends(tables_.memcpy);
        note_ends(tables_.memset);
        for (auto& [process, submitting] : submitting_) judge(process, submitting);
        GraphNodes nodes = check_graph_nodes(tables_, links_, is_graph_launch_);
        found_.nodes_missing = nodes.missing > 0 ? nodes.missing : missing_of_captures();
        found_.graph_launches_unchecked = nodes.unchecked;
        leave_out_counted();
        return std::move(found_);
    }

private:
    using ByProcess = std::unordered_map<std::uint32_t, PodVector<Row>>;

    StringId process_of(Row call) const { return calls_.process.value_or(call, kNoString); }
    // What a call submitted; a failed call submitted nothing.
    Submission kind_of(Row call) const { return kind_of_call_[call]; }

    void count_ops() {
        found_.kernels = tables_.kernel.rows;
        for (Row row = 0; row < tables_.kernel.rows; ++row) found_.kernels_of_no_time += tables_.kernel.dur[row] == 0;
        found_.ops_before_calls = links_.counts.ops_before_calls;
        found_.ops_without_call = links_.counts.ops_without_call;
        found_.ops_uncheckable = links_.counts.ops_uncheckable;
    }

    // What the recorder reports as skipped, added up over processes.
    std::uint64_t counted(std::string_view key) const {
        const MetaTable& meta = tables_.meta;
        std::uint64_t sum = 0;
        for (Row row = 0; row < meta.rows; ++row) {
            if (strings_[meta.key.value_or(row, kNoString)] != key) continue;
            std::string_view text = strings_[meta.value.value_or(row, kNoString)];
            std::uint32_t count = 0;
            std::from_chars(text.data(), text.data() + text.size(), count);
            sum += count;
        }
        return sum;
    }

    void leave_out_counted() {
        auto without_work = [&](Submission kind) -> std::uint64_t& {
            return found_.of[static_cast<std::size_t>(kind)].without_work;
        };
        auto reduce = [&](std::uint64_t& missing, std::uint64_t by) {
            std::uint64_t less = std::min(missing, by);
            missing -= less;
            return by - less;
        };
        std::uint64_t nodes = reduce(without_work(Submission::kernel), counted(meta_key::kCountedKernels));
        reduce(found_.nodes_missing, nodes);
        reduce(without_work(Submission::graph), counted(meta_key::kCountedGraphs));
        std::uint64_t fills = reduce(without_work(Submission::copy), counted(meta_key::kCountedCopies));
        reduce(without_work(Submission::fill), fills);
        reduce(found_.ops_without_call, counted(meta_key::kCountedCalls));
    }

    // What a name says of its calls.
    struct CallName {
        bool known = false, waits = false;
        Submission kind = Submission::none;
        std::uint32_t number = 0;  // of the names that submit work
    };

    CallName read_name(StringId name) {
        CallName read{true, waits_for_device(strings_[name]), submission_of(strings_[name]), 0};
        if (bare_call_name(strings_[name]).starts_with("GraphCreate")) creates_.insert(index_of(name));
        if (strings_[name].find("StreamBegin") != std::string_view::npos) begins_.insert(index_of(name));
        if (strings_[name].find("StreamEndCapture") != std::string_view::npos) ends_.insert(index_of(name));
        if (read.kind != Submission::none) read.number = submitting_names_++;
        return read;
    }

    // What each call submits, and which calls begin and end captures.
    void classify() {
        names_.resize(strings_.size());
        kind_of_call_.resize(calls_.rows);
        is_graph_launch_.resize(calls_.rows);
        for (Row row = 0; row < calls_.rows; ++row) {
            StringId id = calls_.name.value_or(row, kNoString);
            Submission& kind = kind_of_call_[row] = Submission::none;
            if (id != kNoString) {
                CallName& name = names_[index_of(id)];
                if (!name.known) name = read_name(id);
                bool failed = calls_.error.has(row);
                if (!failed) kind = name.kind;
                if (name.waits && !failed) last_wait_[index_of(process_of(row))] = calls_.start[row];
            }
            is_graph_launch_[row] = kind == Submission::graph;
        }
    }

    void mark_work() {
        has_work_.resize(calls_.rows, 0);
        for (const PodVector<Row>* launches : {&links_.kernel_launch, &links_.memcpy_launch, &links_.memset_launch})
            for (Row call : *launches)
                if (call != kNoRow) has_work_[call] = kOwnWork;
        note_orphans(tables_.kernel, links_.kernel_launch);
        note_orphans(tables_.memcpy, links_.memcpy_launch);
        note_orphans(tables_.memset, links_.memset_launch);
        for (Row row = 0; row < calls_.rows && !orphans_.empty(); ++row)
            if (calls_.correlation.has(row) && orphans_.contains(calls_.correlation[row])) has_work_[row] = kOwnWork;
    }

    // In a file of several processes, device work without a process may belong to any call with its id.
    template <class Table>
    void note_orphans(const Table& ops, const PodVector<Row>& launches) {
        for (Row row = 0; row < ops.rows; ++row)
            if (launches[row] == kNoRow && !ops.process.has(row) && ops.correlation.has(row))
                orphans_.insert(ops.correlation[row]);
    }

    // Calls that share an id count as one submission, although work is linked only to the first of them.
    void share_work_of_duplicates() {
        std::unordered_map<std::uint32_t, std::unordered_set<std::int64_t>> done;
        for (Row row = 0; row < calls_.rows; ++row)
            if (has_work_[row] != 0) done[index_of(process_of(row))].insert(calls_.correlation[row]);
        for (Row row = 0; row < calls_.rows; ++row)
            if (calls_.correlation.has(row) && done[index_of(process_of(row))].contains(calls_.correlation[row]))
                has_work_[row] = kOwnWork;
    }

    // When a stream of a process is being captured. Other threads may launch into the same capture, so it applies to
    // all.
    void find_captures() {
        if (links_.counts.duplicate_correlations > 0) share_work_of_duplicates();
        if (begins_.empty() && ends_.empty()) return mark_graphs_being_made();
        std::unordered_map<std::uint32_t, std::vector<Row>> open;  // by thread, which may capture several streams
        for (Row row = 0; row < calls_.rows; ++row) {
            std::uint32_t name = index_of(calls_.name.value_or(row, kNoString));
            bool begins = begins_.contains(name);
            if (!begins && !ends_.contains(name)) continue;
            std::vector<Row>& of_thread = open[index_of(calls_.thread.value_or(row, kNoString))];
            if (begins) {
                of_thread.push_back(row);
                continue;
            }
            TimeNs begin = of_thread.empty() ? -kFarFuture : calls_.start[of_thread.back()];
            if (!of_thread.empty()) of_thread.pop_back();
            captures_[index_of(process_of(row))].push_back({begin, calls_.start[row] + calls_.dur[row]});
        }
        for (const auto& [thread, begins] : open)
            for (Row row : begins) {
                found_.endless_capture = true;
                captures_[index_of(process_of(row))].push_back({calls_.start[row], kFarFuture});
            }
        for (auto& [process, captures] : captures_) captures = unite(std::move(captures));
    }

    // XProf does not record when a capture begins or ends, only that a graph is created. What its thread launches from
    // then on goes into the graph, until a call that has work.
    void mark_graphs_being_made() {
        if (creates_.empty()) return;
        std::unordered_map<std::uint32_t, bool> making;  // by thread
        for (Row row = 0; row < calls_.rows; ++row) {
            bool& graph = making[index_of(calls_.thread.value_or(row, kNoString))];
            bool submits = kind_of(row) != Submission::none;
            if (creates_.contains(index_of(calls_.name.value_or(row, kNoString)))) graph = true;
            if (submits && (has_work_[row] != 0 || is_graph_launch_[row] != 0)) graph = false;
            if (submits && graph) into_graph_.insert(row);
        }
    }

    // If every graph was captured in the recording, no launch of one has fewer kernels than the smallest capture launched.
    std::uint64_t missing_of_captures() const {
        std::uint64_t fewest = UINT64_MAX, captures = 0, instantiated = 0;
        TimeNs last = -kFarFuture;
        for (const auto& [process, spans] : captures_) captures += spans.size();
        if (captures == 0 || captures > kMaxCompared) return 0;
        for (const auto& [process, spans] : captures_)
            for (const Interval& span : spans) {
                std::uint64_t launched = 0;
                for (Row row = 0; row < calls_.rows; ++row)
                    launched += index_of(process_of(row)) == process && kind_of(row) == Submission::kernel &&
                                (has_work_[row] & kOwnWork) == 0 && span.start <= calls_.start[row] &&
                                calls_.start[row] < span.end;
                fewest = std::min(fewest, launched);
                last = std::max(last, span.end);
            }
        std::unordered_map<Row, std::uint64_t> kernels;  // by the call that launched their graph
        for (Row row = 0; row < calls_.rows; ++row) {
            instantiated +=
                strings_[calls_.name.value_or(row, kNoString)].find("GraphInstantiate") != std::string_view::npos;
            if (is_graph_launch_[row] != 0 && (has_work_[row] & kOwnWork) != 0) kernels[row] = 0;
        }
        if (instantiated != captures) return 0;
        for (Row call : links_.kernel_launch)
            if (auto known = kernels.find(call); known != kernels.end()) ++known->second;
        std::uint64_t missing = 0;
        for (const auto& [call, count] : kernels)
            if (calls_.start[call] >= last && count < fewest) missing += fewest - count;
        return missing;
    }

    bool captured(std::uint32_t process, Row row) const {
        if (into_graph_.contains(row)) return true;
        auto captures = captures_.find(process);
        return captures != captures_.end() &&
               length_within(captures->second, {calls_.start[row], calls_.start[row] + 1}) > 0;
    }

    // For each process, the submitting calls that no other submitting call of their thread encloses, in time order.
    ByProcess outermost() {
        struct Open {
            TimeNs end = 0;
            Row row = kNoRow;
        };
        std::unordered_map<std::uint32_t, Open> open;  // by thread
        ByProcess all;
        Open* outer = nullptr;  // of the last thread; those of the next call are mostly the same
        PodVector<Row>* of = nullptr;
        std::uint32_t last_thread = 0, last_process = 0;
        for (Row row = 0; row < calls_.rows; ++row) {
            if (kind_of(row) == Submission::none) continue;
            TimeNs end = calls_.start[row] + calls_.dur[row];
            std::uint32_t thread = index_of(calls_.thread.value_or(row, kNoString));
            if (outer == nullptr || thread != last_thread)
                outer = &open.try_emplace(last_thread = thread).first->second;
            if (thread != index_of(kNoString) && outer->row != kNoRow && end <= outer->end) {
                if (has_work_[row] != 0) has_work_[outer->row] |= kNestedWork;
                continue;
            }
            if (!calls_.correlation.has(row)) {
                ++found_.calls_uncheckable;
                continue;
            }
            std::uint32_t process = index_of(process_of(row));
            if (of == nullptr || process != last_process) of = &all[last_process = process];
            *outer = {end, row};
            of->push_back(row);
        }
        return all;
    }

    // When the last recorded work of each process ended.
    template <class Table>
    void note_ends(const Table& ops) {
        TimeNs* last = nullptr;
        StringId process = kNoString;
        for (Row row = 0; row < ops.rows; ++row) {
            StringId of = ops.process.value_or(row, kNoString);
            if (last == nullptr || of != process)
                last = &last_work_.try_emplace(index_of(process = of), -kFarFuture).first->second;
            *last = std::max(*last, ops.start[row] + ops.dur[row]);
        }
    }

    void judge(std::uint32_t process, const PodVector<Row>& submitting) {
        std::vector<DurNs> fastest(submitting_names_, kNotSeen);  // by number of the name, of calls with work
        std::size_t first = submitting.size(), last = 0;
        for (std::size_t i = 0; i < submitting.size(); ++i) {
            if (has_work_[submitting[i]] == 0) continue;
            first = std::min(first, i);
            last = i;
            DurNs& known = fastest[number_of(submitting[i])];
            known = std::min(known, calls_.dur[submitting[i]]);
        }
        std::array<SubmittedWork, kSubmissions> of;
        auto known_wait = last_wait_.find(process);
        TimeNs waited = known_wait == last_wait_.end() ? -kFarFuture : known_wait->second;
        std::uint64_t calls = 0, to_idle_device = 0;
        auto known_last = last_work_.find(process);
        TimeNs last_work = known_last == last_work_.end() ? -kFarFuture : known_last->second;
        for (std::size_t i = 0; i < submitting.size(); ++i) {
            Row row = submitting[i];
            bool has_work = has_work_[row] != 0;
            if (!has_work && (captured(process, row) || empty(row, fastest))) continue;
            SubmittedWork& kind = of[static_cast<std::size_t>(kind_of(row))];
            ++calls;
            ++kind.calls;
            if (has_work) continue;
            // Work that a later call waited for was done while the recording went on.
            bool awaited = calls_.start[row] + calls_.dur[row] <= waited;
            bool at_edge = first < submitting.size() && (i < first || (i > last && !awaited));
            to_idle_device += at_edge && (i < first || calls_.start[row] >= last_work);
            ++(at_edge ? kind.at_edge : kind.without_work);
        }
        bool few = static_cast<double>(to_idle_device) <= kEdgeShare * static_cast<double>(calls);
        for (std::size_t kind = 0; kind < kSubmissions; ++kind) {
            SubmittedWork& sum = found_.of[kind];
            sum.calls += of[kind].calls;
            sum.without_work += of[kind].without_work + (few ? 0 : of[kind].at_edge);
            sum.at_edge += few ? of[kind].at_edge : 0;
        }
    }

    std::uint32_t number_of(Row call) const { return names_[index_of(calls_.name[call])].number; }

    bool empty(Row row, const std::vector<DurNs>& fastest) const {
        Submission kind = kind_of(row);
        if (kind != Submission::copy && kind != Submission::fill) return false;
        DurNs known = fastest[number_of(row)];
        if (known == kNotSeen) return calls_.dur[row] <= kMaxLoneEmptyDuration;
        auto part = static_cast<DurNs>(kMinEmptyShare * static_cast<double>(known));
        return calls_.dur[row] <= std::min(part, kMaxEmptyDuration);
    }

    const Tables& tables_;
    const Links& links_;
    const ApiCallTable& calls_;
    const StringPool& strings_;
    Completeness found_;
    std::vector<CallName> names_;         // by StringId
    std::uint32_t submitting_names_ = 0;  // names of calls that submit work
    // Names of calls: a capture begins or ends; a graph is created.
    std::unordered_set<std::uint32_t> begins_, ends_, creates_;
    PodVector<Submission> kind_of_call_;
    PodVector<std::uint8_t> has_work_, is_graph_launch_;  // by call
    ByProcess submitting_;
    std::unordered_set<std::int64_t> orphans_;  // correlation ids of work without a process
    std::unordered_set<Row> into_graph_;
    std::unordered_map<std::uint32_t, TimeNs> last_work_;    // by process
    std::unordered_map<std::uint32_t, TimeNs> last_wait_;    // by process: start of its last wait for the device
    std::unordered_map<std::uint32_t, Intervals> captures_;  // by process: when a stream was being captured
};

CompletenessCheck::CompletenessCheck(const Tables& tables, const Links& links, const StringPool& strings)
    : check_(std::make_unique<Check>(tables, links, strings)) {}
CompletenessCheck::~CompletenessCheck() = default;
void CompletenessCheck::read_calls() { check_->read_calls(); }
Completeness CompletenessCheck::result() { return check_->result(); }

}  // namespace gpuprof::model
