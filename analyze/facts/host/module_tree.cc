#include "analyze/facts/host/module_tree.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuprof::inline facts {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

bool is_module(const Trace& trace, StringId name) { return name != kNoString && trace.text(name).starts_with(kModule); }

bool is_backward(const OpTable& ops, Row row) {
    return ops.sequence.has(row) && ops.forward_thread.value_or(row, 0) > 0;
}
bool is_forward(const OpTable& ops, Row row) {
    return ops.sequence.has(row) && ops.forward_thread.has(row) && ops.forward_thread[row] == 0;
}

bool any_module(const Trace& trace) {
    const PythonCallTable& calls = trace.tables().python_call;
    for (Row row = 0; row < calls.rows; ++row)
        if (is_module(trace, calls.name.value_or(row, kNoString))) return true;
    return !trace.tables().graph_node.module.none_present();
}

}  // namespace

ModuleTree::ModuleTree(const Trace& trace)
    : trace_(trace),
      thread_by_string_(trace.strings().size(), kNoSpan),
      owner_of_call_(trace.api_call().rows, ModuleOwner{}) {
    if (!any_module(trace)) return;
    read_threads();
    find_forward_operators();
    place_calls();
    place_nodes();
}

// Nodes whose capture was recorded elsewhere name their modules in one text, whose parts are names of the trace too.
void ModuleTree::place_nodes() {
    const GraphNodeTable& nodes = trace_.tables().graph_node;
    owner_of_node_.resize(nodes.rows);
    for (Row row = 0; row < nodes.rows; ++row) {
        std::string_view rest = trace_.text(nodes.module.value_or(row, kNoString));
        while (!rest.empty()) {
            std::string_view name = rest.substr(0, rest.find('/'));
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
            StringId known = trace_.strings().find(std::string(kModule) + std::string(name));
            if (known != kNoString) owner_of_node_[row].path = paths_.inside(owner_of_node_[row].path, known);
        }
    }
    calls_.resize(paths_.all().size());
}

std::string ModuleTree::text(std::uint32_t path) const {
    return paths_.text(path, [&](StringId name) { return trace_.text(name).substr(kModule.size()); });
}

bool ModuleTree::is_mark(const HostSpan& span) const {
    return span.kind == HostKind::python_call ? is_module(trace_, span.name) : is_backward(trace_.op(), span.row);
}

void ModuleTree::read_threads() {
    HostTimeline timeline(trace_, {HostKind::python_call, HostKind::op});
    const ThreadTable& known = trace_.tables().thread;
    std::vector<StringId> process(trace_.strings().size(), kNoString);
    for (Row row = 0; row < known.rows; ++row)
        if (known.key.has(row)) process[index_of(known.key[row])] = known.process.value_or(row, kNoString);
    for (StringId key : timeline.threads()) {
        if (key == kNoString) continue;  // calls without a known thread do not nest
        Thread& thread = threads_.emplace_back();
        thread.process = process[index_of(key)];
        thread.marks = timeline.spans(key);
        thread_by_string_[index_of(key)] = static_cast<std::uint32_t>(threads_.size() - 1);
        PodVector<HostSpan>& marks = thread.marks.spans;
        auto others = std::remove_if(marks.begin(), marks.end(), [&](const HostSpan& span) { return !is_mark(span); });
        marks.resize(static_cast<std::size_t>(others - marks.begin()));
        nest(marks);
        for (const HostSpan& mark : marks) {
            std::uint32_t around = mark.parent == kNoSpan ? kNoPath : thread.module[mark.parent];
            bool module = mark.kind == HostKind::python_call;
            thread.module.push_back(module ? paths_.inside(around, mark.name) : around);
            thread.owner.push_back(module ? ModuleOwner{thread.module.back(), false} : ModuleOwner{});
        }
        calls_.resize(paths_.all().size());
        add_times(thread);
    }
}

void ModuleTree::add_times(const Thread& thread) {
    const PodVector<HostSpan>& marks = thread.marks.spans;
    if (marks.empty()) return;
    Interval all{marks[0].start, marks[0].end};
    for (std::size_t i = 0; i < marks.size(); ++i) {
        all.end = std::max(all.end, marks[i].end);
        if (marks[i].kind != HostKind::python_call) continue;
        ++calls_[thread.module[i]].count;
        calls_[thread.module[i]].host_total.add(marks[i].end - marks[i].start);
    }
    thread.marks.each_innermost(all, [&](std::uint32_t mark, DurNs dur) {
        if (mark != kNoSpan && thread.module[mark] != kNoPath) calls_[thread.module[mark]].host_self.add(dur);
    });
}

ModuleTree::Thread* ModuleTree::thread_of(StringId key) {
    if (key == kNoString || thread_by_string_[index_of(key)] == kNoSpan) return nullptr;
    return &threads_[thread_by_string_[index_of(key)]];
}

// Times must not decrease from call to call, so every mark is opened and closed once.
std::uint32_t ModuleTree::Thread::open_at(TimeNs time) {
    for (; next < marks.spans.size() && marks.spans[next].start <= time; ++next) open = next;
    while (open != kNoSpan && marks.spans[open].end <= time) open = marks.spans[open].parent;
    return open;
}
ModuleOwner ModuleTree::Thread::owner_at(TimeNs time) {
    std::uint32_t mark = open_at(time);
    return mark == kNoSpan ? ModuleOwner{} : owner[mark];
}
std::uint32_t ModuleTree::Thread::next_backward_mark() {
    while (marks.spans[next_backward].kind != HostKind::op) ++next_backward;
    return next_backward++;
}

// Operators come by start, so those seen before a backward operator began before it.
void ModuleTree::find_forward_operators() {
    struct Forward {
        const Thread* thread = nullptr;
        std::uint32_t path = kNoPath;
        bool several_threads = false;
    };
    const OpTable& ops = trace_.op();
    std::map<std::pair<StringId, std::int64_t>, Forward> forward;  // by process and sequence number
    for (Row row = 0; row < ops.rows; ++row) {
        Thread* thread = thread_of(ops.thread.value_or(row, kNoString));
        if (thread == nullptr || !ops.sequence.has(row)) continue;
        if (is_forward(ops, row)) {
            Forward& last = forward[{thread->process, ops.sequence[row]}];
            bool several = last.several_threads || (last.thread != nullptr && last.thread != thread);
            last = {thread, thread->owner_at(ops.start[row]).path, several};
        } else if (is_backward(ops, row)) {
            std::uint32_t mark = thread->next_backward_mark();
            std::uint32_t around = thread->marks.spans[mark].parent;
            auto found = forward.find({thread->process, ops.sequence[row]});
            bool known = found != forward.end() && !found->second.several_threads;
            if (known)
                thread->owner[mark] = {found->second.path, true};
            else if (around != kNoSpan)
                thread->owner[mark] = thread->owner[around];
            backward_known_ |= known && found->second.path != kNoPath;
        }
    }
}

void ModuleTree::place_calls() {
    for (Thread& thread : threads_) {
        thread.next = 0;
        thread.open = kNoSpan;
    }
    const ApiCallTable& calls = trace_.api_call();
    for (Row call = 0; call < calls.rows; ++call)
        if (Thread* thread = thread_of(calls.thread.value_or(call, kNoString)))
            owner_of_call_[call] = thread->owner_at(calls.start[call]);
}

}  // namespace gpuprof::facts
