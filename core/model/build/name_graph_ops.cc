// The launches of CUDA graphs in a recording, each compared with the captures, and rows that say what matched.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/base/text/python_frame.h"
#include "core/base/text/readable.h"
#include "core/model/build/graph_captures.h"
#include "core/model/build/submission.h"
#include "core/model/graph_node_kinds.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {
namespace {

constexpr std::string_view kModuleCall = "nn.Module: ";

// What was around a captured call, as texts of the capture's recording.
struct CapturedCall {
    Submission kind = Submission::none;
    std::string kernel;  // "": its recorder does not say
    Row op = kNoRow;     // of the capture's recording
    std::string module, stack;
};

struct Capture {
    const Trace* trace;
    std::string label;
    std::optional<std::int64_t> size, rank;
    std::vector<std::vector<CapturedCall>> graphs;
};

// One device op of a launch.
struct ReplayedOp {
    Submission kind;
    Row row;  // of the table of its kind
    std::int64_t stream;
    TimeNs start;
    std::string_view name;
};

struct Replay {
    Row call;
    StringId thread, process;
    TimeNs start;
    std::optional<std::int64_t> tokens;
    std::vector<ReplayedOp> ops;
};

// "foo [clone .kd]" and "foo.kd" are code objects of AMD.
std::string_view bare_kernel(std::string_view name) {
    for (std::string_view ending : {" [clone .kd]", ".kd"})
        if (name.ends_with(ending)) name.remove_suffix(ending.size());
    return name;
}

// The spans of one table on a thread, around times that do not decrease.
template <class Table>
class SpansAround {
public:
    SpansAround(const Table& table, StringId thread) : table_(table) {
        for (Row row = 0; row < table.rows; ++row)
            if (table.thread.value_or(row, kNoString) == thread) rows_.push_back(row);
    }
    // Outermost first.
    const std::vector<Row>& at(TimeNs time) {
        for (; next_ < rows_.size() && table_.start[rows_[next_]] <= time; ++next_) {
            close(table_.start[rows_[next_]]);
            open_.push_back(rows_[next_]);
        }
        close(time);
        return open_;
    }

private:
    void close(TimeNs time) {
        while (!open_.empty() && table_.start[open_.back()] + table_.dur[open_.back()] <= time) open_.pop_back();
    }
    const Table& table_;
    std::vector<Row> rows_, open_;
    std::size_t next_ = 0;
};

std::optional<std::int64_t> rank_of(const Trace& trace) {
    const ProcessTable& process = trace.tables().process;
    for (Row row = 0; row < process.rows; ++row)
        if (process.rank.has(row)) return process.rank[row];
    return {};
}

Capture describe(const Trace& trace, const GraphCapture& capture, std::string_view file) {
    Capture made{&trace, capture.name.empty() ? std::string(file) : capture.name, capture.size, rank_of(trace), {}};
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, std::pair<SpansAround<OpTable>, SpansAround<PythonCallTable>>> threads;
    for (const std::vector<Row>& graph : capture.graphs) {
        std::vector<CapturedCall>& described = made.graphs.emplace_back();
        for (Row call : graph) {
            StringId thread = calls.thread.value_or(call, kNoString);
            auto around = threads.find(thread);
            if (around == threads.end())
                around = threads
                             .emplace(thread, std::pair(SpansAround(trace.op(), thread),
                                                        SpansAround(trace.tables().python_call, thread)))
                             .first;
            CapturedCall& node = described.emplace_back();
            node.kind = submission_of(trace.text(calls.name[call]));
            node.kernel = bare_kernel(trace.text(calls.kernel.value_or(call, kNoString)));
            if (const std::vector<Row>& ops = around->second.first.at(calls.start[call]); !ops.empty())
                node.op = ops.back();
            for (Row row : around->second.second.at(calls.start[call])) {
                std::string_view name = trace.text(trace.tables().python_call.name.value_or(row, kNoString));
                bool module = name.starts_with(kModuleCall);
                if (module)
                    node.module += fmt::format("{}{}", node.module.empty() ? "" : "/", name.substr(kModuleCall.size()));
                PythonFrame frame = parse_python_call(name);
                if (!module && frame.line >= 0)
                    node.stack += fmt::format("{}{}", node.stack.empty() ? "" : ";", to_text(frame));
            }
        }
    }
    return made;
}

// The number that follows one of the marks; absent if there is none.
std::optional<std::int64_t> after(std::string_view text, std::string_view mark) {
    std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return {};
    std::int64_t number = 0;
    std::size_t begin = at + mark.size(), end = begin;
    for (; end < text.size() && end < begin + 9 && std::isdigit(static_cast<unsigned char>(text[end])); ++end)
        number = 10 * number + (text[end] - '0');
    return end > begin ? std::optional(number) : std::nullopt;
}

// The tokens of the step that an annotation of vLLM, SGLang or ATOM marks; absent if it does not say.
std::optional<std::int64_t> tokens_of(std::string_view name) {
    if (name.starts_with("execute_new_")) {
        auto fresh = after(name, "_new_"), cached = after(name, "_cached_");
        return fresh == 0 ? cached : std::nullopt;  // of new requests it does not say how long they are
    }
    if (name.starts_with("execute_context_")) {
        auto context = after(name, "("), generation = after(name.substr(name.find("_generation_")), "(");
        return context && generation && name.find("_generation_") != name.npos ? std::optional(*context + *generation)
                                                                               : std::nullopt;
    }
    if (name.starts_with("execute_") && name.find("_context_") != name.npos) return after(name, "execute_");
    if (name.starts_with("step[DECODE ")) return after(name, "bs=");
    if (name.starts_with("step[EXTEND ")) return after(name, "toks=");
    if (name.starts_with("decode[bs=") || name.starts_with("prefill[bs=")) return after(name, "tok=");
    return {};
}

template <class Table>
void gather(const Trace& trace, const Table& table, const PodVector<Row>& calls, Submission kind,
            const std::map<Row, std::size_t>& replay_of, std::vector<Replay>& replays) {
    for (Row row = 0; row < table.rows; ++row) {
        auto found = calls[row] == kNoRow ? replay_of.end() : replay_of.find(calls[row]);
        if (found == replay_of.end()) continue;
        std::string_view name;
        if constexpr (requires { table.name; }) name = bare_kernel(trace.text(table.name.value_or(row, kNoString)));
        replays[found->second].ops.push_back({kind, row, table.stream.value_or(row, -1), table.start[row], name});
        replays[found->second].process = table.process.value_or(row, kNoString);
    }
}

// Launches that have device ops, by thread and start.
std::vector<Replay> replays_of(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    std::vector<Replay> replays;
    std::map<Row, std::size_t> replay_of;
    std::map<StringId, SpansAround<RangeTable>> ranges;
    for (Row call = 0; call < calls.rows; ++call) {
        if (submission_of(trace.text(calls.name.value_or(call, kNoString))) != Submission::graph) continue;
        StringId thread = calls.thread.value_or(call, kNoString);
        auto around = ranges.try_emplace(thread, trace.range(), thread).first;
        std::optional<std::int64_t> tokens;
        for (Row range : around->second.at(calls.start[call]))
            if (auto said = tokens_of(trace.text(trace.range().name.value_or(range, kNoString)))) tokens = said;
        replay_of.emplace(call, replays.size());
        replays.push_back({call, thread, calls.process.value_or(call, kNoString), calls.start[call], tokens, {}});
    }
    gather(trace, trace.kernel(), trace.links().kernel_launch, Submission::kernel, replay_of, replays);
    gather(trace, trace.memcpy(), trace.links().memcpy_launch, Submission::copy, replay_of, replays);
    gather(trace, trace.memset(), trace.links().memset_launch, Submission::fill, replay_of, replays);
    std::erase_if(replays, [](const Replay& replay) { return replay.ops.empty(); });
    for (Replay& replay : replays)
        std::stable_sort(replay.ops.begin(), replay.ops.end(), [](auto& a, auto& b) { return a.start < b.start; });
    std::stable_sort(replays.begin(), replays.end(), [](auto& a, auto& b) { return a.thread < b.thread; });
    return replays;
}

bool equal(const ReplayedOp& op, const CapturedCall& call) {
    return op.kind == call.kind && (op.kind != Submission::kernel || call.kernel.empty() || op.name == call.kernel);
}

// The op of each captured call: per stream in order; where several streams could go on, the one that goes on longest. Empty, with the
// reason, if any op or call is left over.
std::vector<std::size_t> match(const Replay& replay, const std::vector<CapturedCall>& calls, std::string_view label,
                               std::string& why) {
    const std::vector<ReplayedOp>& ops = replay.ops;
    if (ops.size() != calls.size()) {
        why = fmt::format("a launch has {} ops, a graph of {} has {}", ops.size(), label, calls.size());
        return {};
    }
    std::map<std::int64_t, std::vector<std::size_t>> streams;
    for (std::size_t i = 0; i < ops.size(); ++i) streams[ops[i].stream].push_back(i);
    auto unnamed = [](const CapturedCall& call) { return call.kind == Submission::kernel && call.kernel.empty(); };
    if (streams.size() > 1 && std::any_of(calls.begin(), calls.end(), unnamed)) {
        why = fmt::format("a launch ran on {} streams, and {} does not name its kernels", streams.size(), label);
        return {};
    }
    std::map<std::int64_t, std::size_t> next;
    std::vector<std::size_t> matched;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        std::size_t longest = 0;
        std::int64_t best = 0;
        for (const auto& [stream, queue] : streams) {
            std::size_t at = next[stream], run = 0;
            while (at + run < queue.size() && i + run < calls.size() && equal(ops[queue[at + run]], calls[i + run]))
                ++run;
            bool earlier = run > 0 && run == longest && ops[queue[at]].start < ops[streams[best][next[best]]].start;
            if (run > longest || earlier) best = stream;
            longest = std::max(longest, run);
        }
        if (longest == 0) {
            const std::string& wanted = calls[i].kernel;
            why = fmt::format("launch {} of {} ({}) is at its place on no stream", i + 1, label,
                              wanted.empty() ? "no name" : wanted);
            return {};
        }
        matched.push_back(streams[best][next[best]++]);
    }
    return matched;
}

// One place of a row in the captures.
struct Choice {
    const Capture* capture = nullptr;
    std::vector<std::vector<std::size_t>> ops;  // of each graph, from the first launch on
};

class Matcher {
public:
    Matcher(const std::vector<Replay>& replays, const std::vector<Capture>& captures, const Trace& trace)
        : replays_(replays) {
        const ProcessTable& process = trace.tables().process;
        for (Row row = 0; row < process.rows; ++row)
            if (process.rank.has(row)) rank_[process.key[row]] = process.rank[row];
        for (const Capture& capture : captures) captures_.push_back(&capture);
    }

    Choice choose(std::size_t first, std::string& why) const {
        const Replay& replay = replays_[first];
        std::vector<Choice> fits;
        for (const Capture* capture : of_rank(replay.process)) {
            if (capture->size && replay.tokens && !size_fits(*capture->size, *replay.tokens, capture->label, why))
                continue;
            Choice choice{capture, {}};
            for (const std::vector<CapturedCall>& graph : capture->graphs) {
                std::size_t at = first + choice.ops.size();
                std::string reason;
                if (at >= replays_.size() || replays_[at].thread != replay.thread ||
                    replays_[at].tokens != replay.tokens)
                    reason = fmt::format("a step has fewer launches than {} has graphs", capture->label);
                else if (auto ops = match(replays_[at], graph, capture->label, reason); reason.empty())
                    choice.ops.push_back(std::move(ops));
                if (reason.empty()) continue;
                if (why.empty()) why = reason;
                break;
            }
            if (choice.ops.size() == capture->graphs.size() && !choice.ops.empty()) fits.push_back(std::move(choice));
        }
        return smallest(std::move(fits), replay, why);
    }

private:
    // Servers take the next larger captured size. Their lists double at most, so a size of twice the tokens was not it.
    static bool size_fits(std::int64_t size, std::int64_t tokens, const std::string& label, std::string& why) {
        if (tokens <= size && size < 2 * tokens) return true;
        if (why.empty()) why = fmt::format("a step has {} tokens, and {} is for {}", tokens, label, size);
        return false;
    }

    std::vector<const Capture*> of_rank(StringId process) const {
        std::vector<const Capture*> same;
        if (auto rank = rank_.find(process); rank != rank_.end())
            for (const Capture* capture : captures_)
                if (capture->rank == rank->second) same.push_back(capture);
        return same.empty() ? captures_ : same;  // servers capture on rank 0 alone
    }

    static Choice smallest(std::vector<Choice> fits, const Replay& replay, std::string& why) {
        if (fits.empty()) return {};
        bool sized = replay.tokens.has_value();
        for (const Choice& choice : fits) sized &= choice.capture->size.has_value();
        if (sized) {
            auto by_size = [](const Choice& a, const Choice& b) { return *a.capture->size < *b.capture->size; };
            std::stable_sort(fits.begin(), fits.end(), by_size);
            std::size_t same = 1;
            while (same < fits.size() && *fits[same].capture->size == *fits[0].capture->size) ++same;
            fits.resize(same);
        }
        if (fits.size() > 1) {
            why = fmt::format("{} and {} match equally", fits[0].capture->label, fits[1].capture->label);
            return {};
        }
        bool named = true;
        for (const std::vector<CapturedCall>& graph : fits[0].capture->graphs)
            for (const CapturedCall& call : graph) named &= call.kind != Submission::kernel || !call.kernel.empty();
        if (!named && !sized) {
            why = fmt::format("{} does not name its kernels, and the size of the step or of the capture is unknown",
                              fits[0].capture->label);
            return {};
        }
        return std::move(fits[0]);
    }

    const std::vector<Replay>& replays_;
    std::vector<const Capture*> captures_;
    std::map<StringId, std::int64_t> rank_;
};

template <class T>
void replace_values(Column<T>& column, std::size_t rows, const std::vector<std::optional<T>>& values) {
    Column<T> changed;
    for (Row row = 0; row < rows; ++row)
        if (std::optional<T> value = values[row] ? values[row] : column.get(row)) changed.set(row, *value);
    changed.pad(rows);
    column = std::move(changed);
}

// Rows and ids that say what matched, for the tables of the recording with the launches.
class Naming {
public:
    explicit Naming(Trace trace) : origin_(trace.origin()), rows_(batch_of(std::move(trace))) {
        Tables& tables = rows_.tables;
        for (Column<std::int64_t>* column :
             {&tables.op.external_id, &tables.range.external_id, &tables.api_call.correlation,
              &tables.api_call.external_id, &tables.kernel.external_id, &tables.kernel.graph_id,
              &tables.memcpy.external_id, &tables.memcpy.graph_id})
            for (Row row = 0; row < column->size(); ++row)
                if (column->has(row) && (*column)[row] < std::numeric_limits<std::int64_t>::max() / 2)
                    next_id_ = std::max(next_id_, (*column)[row] + 1);
        next_graph_ = std::min<std::int64_t>(next_id_, INT32_MAX / 2);
        for (auto* of_kind : {&kernels_, &copies_, &fills_}) of_kind->resize(0);
        kernels_.resize(tables.kernel.rows);
        copies_.resize(tables.memcpy.rows);
        fills_.resize(tables.memset.rows);
    }

    void add(const Replay& replay, const Capture& capture, std::size_t graph, const std::vector<std::size_t>& ops) {
        auto [known, fresh] = graphs_.try_emplace({replay.process, &capture, graph}, next_graph_);
        if (fresh) ++next_graph_;
        std::map<Row, std::int64_t> operators;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const CapturedCall& call = capture.graphs[graph][i];
            Named& named = of(replay.ops[ops[i]]);
            named.graph = known->second;
            named.node = (known->second << 32) | static_cast<std::int64_t>(i + 1);
            if (call.op != kNoRow) {
                auto [op, first] = operators.try_emplace(call.op, next_id_);
                if (first) add_operator(replay, *capture.trace, call, next_id_++);
                named.op = op->second;
            }
            add_node(replay, capture, call, replay.ops[ops[i]], named);
        }
    }

    Trace finish(std::size_t matched, std::size_t all, const std::string& why) && {
        Tables& tables = rows_.tables;
        write(tables.kernel, kernels_);
        write(tables.memcpy, copies_);
        write(tables.memset, fills_);
        Row row = tables.meta.add();
        tables.meta.key.set(row, rows_.intern(schema::meta_key::kNamedGraphOps));
        tables.meta.value.set(row, rows_.intern(fmt::format("{} of {} ops of graphs were named by captures{}",
                                                            readable_count(static_cast<std::int64_t>(matched)),
                                                            readable_count(static_cast<std::int64_t>(all)),
                                                            why.empty() ? "" : ": " + why)));
        TraceBuilder builder(origin_);
        builder.append(std::move(rows_));
        return std::move(builder).finish();
    }

private:
    struct Named {
        std::optional<std::int64_t> op, graph, node;
    };
    Named& of(const ReplayedOp& op) {
        return (op.kind == Submission::kernel ? kernels_ : op.kind == Submission::copy ? copies_ : fills_)[op.row];
    }

    void add_operator(const Replay& replay, const Trace& trace, const CapturedCall& call, std::int64_t id) {
        OpTable& op = rows_.tables.op;
        const OpTable& from = trace.op();
        Row row = op.add();
        op.start.set(row, replay.start);
        op.dur.set(row, 0);
        if (replay.thread != kNoString) op.thread.set(row, replay.thread);
        op.external_id.set(row, id);
        auto copy = [&](Column<StringId>& to, const Column<StringId>& text) {
            if (text.has(call.op)) to.set(row, rows_.intern(trace.text(text[call.op])));
        };
        copy(op.name, from.name);
        copy(op.input_dims, from.input_dims);
        copy(op.input_types, from.input_types);
        copy(op.input_strides, from.input_strides);
        copy(op.concrete_inputs, from.concrete_inputs);
    }

    // One for each node of an executable graph, before its first launch.
    void add_node(const Replay& replay, const Capture& capture, const CapturedCall& call, const ReplayedOp& op,
                  Named& named) {
        Column<std::int64_t>& recorded = op.kind == Submission::kernel ? rows_.tables.kernel.graph_node_id
                                         : op.kind == Submission::copy ? rows_.tables.memcpy.graph_node_id
                                                                       : rows_.tables.memset.graph_node_id;
        if (recorded.has(op.row)) {
            named.node = recorded[op.row];
            named.graph.reset();  // stays as recorded
        }
        if (!nodes_.emplace(replay.process, *named.node).second) return;
        GraphNodeTable& node = rows_.tables.graph_node;
        Row row = node.add();
        node.time.set(row, replay.start);
        if (replay.process != kNoString) node.process.set(row, replay.process);
        if (named.graph) node.graph_id.set(row, *named.graph);
        node.graph_node_id.set(row, *named.node);
        node.action.set(row, rows_.intern(graph_action::kCreated));
        node.kind.set(row, rows_.intern(op.kind == Submission::kernel ? "kernel"
                                        : op.kind == Submission::copy ? "memcpy"
                                                                      : "memset"));
        if (!call.stack.empty()) node.stack.set(row, rows_.intern(call.stack));
        if (!call.module.empty()) node.module.set(row, rows_.intern(call.module));
        for (std::string_view rest = call.module; !rest.empty();) {  // analyses look up each module by its name
            std::string_view name = rest.substr(0, rest.find('/'));
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
            rows_.intern(std::string(kModuleCall) + std::string(name));
        }
        if (call.op == kNoRow) return;
        const OpTable& ops = capture.trace->op();
        if (ops.name.has(call.op)) node.op.set(row, rows_.intern(capture.trace->text(ops.name[call.op])));
        if (ops.input_dims.has(call.op))
            node.input_dims.set(row, rows_.intern(capture.trace->text(ops.input_dims[call.op])));
    }

    template <class Table>
    void write(Table& table, const std::vector<Named>& named) {
        std::vector<std::optional<std::int64_t>> ops, graphs, nodes;
        for (const Named& each : named) {
            ops.push_back(each.op);
            graphs.push_back(each.graph);
            nodes.push_back(each.node);
        }
        replace_values(table.external_id, table.rows, ops);
        replace_values(table.graph_id, table.rows, graphs);
        replace_values(table.graph_node_id, table.rows, nodes);
    }

    Origin origin_;
    Batch rows_;
    std::int64_t next_id_ = 1, next_graph_ = 1;
    std::map<std::tuple<StringId, const Capture*, std::size_t>, std::int64_t> graphs_;
    std::set<std::pair<StringId, std::int64_t>> nodes_;
    std::vector<Named> kernels_, copies_, fills_;
};

}  // namespace

Trace name_graph_ops(Trace trace, const std::vector<JobPart>& parts) {
    std::vector<Capture> captures;
    for (const JobPart& part : parts)
        for (const GraphCapture& capture : graph_captures_of(part.trace, part.name))
            captures.push_back(describe(part.trace, capture, part.name));
    std::vector<Replay> replays = replays_of(trace);
    struct Found {
        std::size_t replay;
        const Capture* capture;
        std::size_t graph;
        std::vector<std::size_t> ops;
    };
    std::vector<Found> found;
    std::map<std::string, std::size_t> refused;
    std::size_t all = 0, matched = 0;
    Matcher matcher(replays, captures, trace);
    for (std::size_t i = 0; i < replays.size();) {
        std::string why;
        Choice choice = matcher.choose(i, why);
        std::size_t launches = std::max<std::size_t>(choice.ops.size(), 1);
        for (std::size_t graph = 0; graph < choice.ops.size(); ++graph) {
            matched += choice.ops[graph].size();
            found.push_back({i + graph, choice.capture, graph, std::move(choice.ops[graph])});
        }
        for (std::size_t j = 0; j < launches; ++j) all += replays[i + j].ops.size();
        if (choice.capture == nullptr) refused[why] += replays[i].ops.size();
        i += launches;
    }
    std::string why = all == 0 ? "no launch of a graph has device ops" : "";
    auto most = std::max_element(refused.begin(), refused.end(), [](auto& a, auto& b) { return a.second < b.second; });
    if (most != refused.end()) why = most->first;
    Naming naming(std::move(trace));
    for (const Found& each : found) naming.add(replays[each.replay], *each.capture, each.graph, each.ops);
    return std::move(naming).finish(matched, all, why);
}

}  // namespace gpuprof::model
