// RowWriter's host side: operators, ranges, calls, Python frames, overhead, allocations, autograd arrows, names.
#include <charconv>

#include "io/importers/kineto/key_table.h"
#include "io/importers/kineto/kineto_number.h"
#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

void mark(std::vector<bool>& known, StringId id) {
    if (known.size() <= index_of(id)) known.resize(index_of(id) + 1);
    known[index_of(id)] = true;
}

bool is_known(const std::vector<bool>& known, StringId id) {
    return index_of(id) < known.size() && known[index_of(id)];
}

// Kineto names threads "thread 4711 (python3)"; the part in brackets is the name.
std::string_view bare_thread_name(std::string_view name) {
    std::size_t open = name.find('(');
    if (!name.starts_with("thread ") || open == std::string_view::npos || name.back() != ')') return name;
    return name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

RowWriter::HostThread RowWriter::host_thread(const Event& event) {
    std::string_view pid = event.text(Field::pid), tid = event.text(Field::tid);
    // Paddle: "1136(C++)" and "1136(Python)" are one thread.
    if (tid.ends_with(')')) tid = tid.substr(0, tid.find('('));
    if (same_text(pid, last_pid_) && same_text(tid, last_tid_) && last_thread_.thread != kNoString) {
        ++block_.process_events[index_of(last_thread_.process)];
        return last_thread_;
    }
    key_.assign(pid).append("/").append(tid);
    HostThread keys{block_.rows.intern(key_), block_.rows.intern(pid)};
    add_thread(pid, tid, keys);
    if (block_.process_events.size() <= index_of(keys.process))
        block_.process_events.resize(index_of(keys.process) + 1);
    ++block_.process_events[index_of(keys.process)];
    last_pid_ = pid;
    last_tid_ = tid;
    last_thread_ = keys;
    return keys;
}

void RowWriter::add_thread(std::string_view pid, std::string_view tid, HostThread keys) {
    if (!is_known(known_processes_, keys.process)) {
        ProcessTable& process = block_.rows.tables.process;
        Row row = process.add();
        process.key.set(row, keys.process);
        if (auto id = whole_number(pid)) process.pid.set(row, *id);
        mark(known_processes_, keys.process);
    }
    if (is_known(known_threads_, keys.thread)) return;
    ThreadTable& thread = block_.rows.tables.thread;
    Row row = thread.add();
    thread.key.set(row, keys.thread);
    thread.process.set(row, keys.process);
    if (auto id = whole_number(tid)) thread.tid.set(row, *id);
    mark(known_threads_, keys.thread);
}

void RowWriter::write_op(const Event& event, Span span) {
    OpTable& op = block_.rows.tables.op;
    Row row = op.add();
    op.start.set(row, span.start);
    op.dur.set(row, span.dur);
    op.thread.set(row, host_thread(event).thread);
    put_text(op.name, row, event, Field::name, block_.rows);
    put(op.external_id, row, event, Field::external_id);
    put(op.sequence, row, event, Field::sequence);
    put(op.forward_thread, row, event, Field::forward_thread);
    put_text(op.input_dims, row, event, Field::input_dims, block_.rows);
    put_text(op.input_types, row, event, Field::input_types, block_.rows);
    put_text(op.input_strides, row, event, Field::input_strides, block_.rows);
    put_text(op.concrete_inputs, row, event, Field::concrete_inputs, block_.rows);
    put_text(op.call_stack, row, event, Field::call_stack, block_.rows);
    put_text(op.module, row, event, Field::module, block_.rows);
    if (event.has(Field::collective)) write_collective(event, false);
}

void RowWriter::write_range(const Event& event, Span span) {
    RangeTable& range = block_.rows.tables.range;
    Row row = range.add();
    range.start.set(row, span.start);
    range.dur.set(row, span.dur);
    range.thread.set(row, host_thread(event).thread);
    put_text(range.name, row, event, Field::name, block_.rows);
    range.domain.set(row, intern("user_annotation"));
    put(range.external_id, row, event, Field::external_id);
    if (event.has(Field::collective)) return write_collective(event, false);
    write_gloo_collective(event);
}

void RowWriter::write_call(const Event& event, Span span, std::string_view api) {
    ApiCallTable& call = block_.rows.tables.api_call;
    Row row = call.add();
    call.start.set(row, span.start);
    call.dur.set(row, span.dur);
    HostThread keys = host_thread(event);
    call.thread.set(row, keys.thread);
    call.process.set(row, keys.process);
    call.api.set(row, intern(api));
    put_text(call.name, row, event, Field::name, block_.rows);
    put(call.correlation, row, event, Field::correlation);
    put(call.external_id, row, event, Field::external_id);
    if (event.has(Field::kernel)) put_text(call.kernel, row, event, Field::kernel, block_.rows);
    if (event.has(Field::size) || event.has(Field::grid)) write_note(event);
}

void RowWriter::write_python_call(const Event& event, Span span) {
    PythonCallTable& call = block_.rows.tables.python_call;
    Row row = call.add();
    call.start.set(row, span.start);
    call.dur.set(row, span.dur);
    call.thread.set(row, host_thread(event).thread);
    put_text(call.name, row, event, Field::name, block_.rows);
    put(call.python_id, row, event, Field::python_id);
    put(call.python_parent_id, row, event, Field::python_parent_id);
}

void RowWriter::write_overhead(const Event& event, Span span) {
    OverheadTable& overhead = block_.rows.tables.overhead;
    Row row = overhead.add();
    overhead.start.set(row, span.start);
    overhead.dur.set(row, span.dur);
    // Kineto writes process -1 for "unknown".
    if (event.has(Field::pid) && !event.text(Field::pid).starts_with('-'))
        overhead.thread.set(row, host_thread(event).thread);
    put_text(overhead.name, row, event, Field::name, block_.rows);
}

void RowWriter::write_memory_event(const Event& event) {
    std::int64_t time = 0;
    if (!read_time(event, Field::ts, time)) return;
    ++block_.events;
    MemoryEventTable& memory = block_.rows.tables.memory_event;
    Row row = memory.add();
    memory.time.set(row, time);
    memory.thread.set(row, host_thread(event).thread);
    put(memory.device_type, row, event, Field::device_type);
    std::optional<std::int64_t> device = integer(event, Field::device_id);
    if (device && *device >= 0 && integer(event, Field::device_type) != 0)
        put(memory.device, row, event, Field::device_id);
    if (auto address = integer(event, Field::address, true)) memory.address.set(row, *address);
    put(memory.bytes, row, event, Field::memory_bytes);
    put(memory.total_allocated, row, event, Field::total_allocated);
    put(memory.total_reserved, row, event, Field::total_reserved);
}

void RowWriter::write_flow(const Event& event, bool begins) {
    if (block_.rows.tables.flow.from_time.is_skipped()) return;
    std::int64_t time = 0;
    std::optional<std::int64_t> id = integer(event, Field::id);
    if (!id || !read_time(event, Field::ts, time)) return lose(Loss::missing_field, offset_);
    block_.flow_ends.push_back({*id, time, host_thread(event).thread, begins});
}

void RowWriter::write_name(const Event& event) {
    ++block_.events;
    ++block_.labels;
    std::string_view what = event.text(Field::name);
    bool thread = what == "thread_name";
    if ((!thread && what != "process_name") || !event.has(Field::label_name)) return;
    NameRecord fact;
    fact.process = event.text(Field::pid);
    if (thread) fact.thread = fact.process + "/" + std::string(event.text(Field::tid));
    std::string_view name = decoded(event, Field::label_name);
    fact.name = thread ? bare_thread_name(name) : name;
    block_.names.push_back(std::move(fact));
}

}  // namespace gpuprof::importers::kineto
