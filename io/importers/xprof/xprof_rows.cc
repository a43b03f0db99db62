#include "io/importers/xprof/xprof_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text/ascii.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::xprof {
namespace {

template <class Int = std::int64_t>
std::optional<Int> integer_in(std::string_view text) {
    Int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

// The value of a key in "regs:168 grid:2,66,1"; "" if absent.
std::string_view detail(std::string_view details, std::string_view key) {
    while (!details.empty()) {
        std::size_t end = std::min(details.find_first_of(" \n"), details.size());
        std::string_view word = details.substr(0, end);
        if (word.starts_with(key) && word.substr(key.size()).starts_with(':')) return word.substr(key.size() + 1);
        details.remove_prefix(std::min(end + 1, details.size()));
    }
    return {};
}

// The three numbers of "2,66,1".
void set_shape(Row row, std::string_view text, Column<std::int32_t>& x, Column<std::int32_t>& y,
               Column<std::int32_t>& z) {
    for (Column<std::int32_t>* axis : {&x, &y, &z}) {
        if (auto value = integer_in<std::int32_t>(text)) axis->set(row, *value);
        text.remove_prefix(std::min(text.find(',') + 1, text.size()));
        if (text.find(',') == text.npos && axis == &x) return;  // a single number is not a shape
    }
}

// XLA writes "HtoD" as "H2D".
std::string_view copy_kind(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"H2D", "HtoD"}, {"D2H", "DtoH"}, {"D2D", "DtoD"}, {"H2H", "HtoH"}, {"P2P", "PtoP"}};
    for (auto [theirs, ours] : kKinds)
        if (name.find(theirs) != name.npos) return ours;
    return {};
}

bool is_driver_call(std::string_view name) {
    return name.starts_with("cu") && name.size() > 2 && (is_upper(name[2]) || name.starts_with("cuda"));
}

// "profiler.py:151 start_trace" as "profiler.py(151): start_trace"; anything else as it is.
std::string python_name(std::string_view name) {
    std::size_t colon = name.find(".py:"), space = name.find(' ', colon == name.npos ? 0 : colon);
    if (colon == name.npos || space == name.npos) return std::string(name);
    std::size_t line = colon + 4;
    return fmt::format("{}({}):{}", name.substr(0, colon + 3), name.substr(line, space - line), name.substr(space));
}

}  // namespace

const Stat* Event::find(std::string_view wanted) const {
    for (const Stat& stat : stats)
        if (stat.name == wanted) return &stat;
    return nullptr;
}

std::optional<std::int64_t> Event::number(std::string_view wanted) const {
    const Stat* stat = find(wanted);
    if (stat == nullptr) return std::nullopt;
    if (stat->number) return stat->number;
    std::string_view text = stat->text;
    while (text.starts_with('$')) text.remove_prefix(1);  // "$$1": a number that the viewer links
    return integer_in(text);
}

std::string_view Event::text(std::string_view wanted) const {
    const Stat* stat = find(wanted);
    return stat == nullptr ? std::string_view() : stat->text;
}

std::optional<std::int32_t> device_of(std::string_view plane) {
    constexpr std::string_view kPrefix = "/device:GPU:";
    if (!plane.starts_with(kPrefix)) return std::nullopt;
    return integer_in<std::int32_t>(plane.substr(kPrefix.size()));
}

StringId Rows::process(std::int64_t pid, std::string_view host) {
    StringId key = batch_.intern(fmt::format("{}", pid));
    if (!processes_.insert(pid).second) return key;
    ProcessTable& table = batch_.tables.process;
    Row row = table.add();
    table.key.set(row, key);
    table.pid.set(row, pid);
    set_text(batch_, table.host, row, host);
    return key;
}

Line Rows::line(std::string_view name, std::int64_t id, std::optional<std::int32_t> device, StringId process) {
    Line line{process, device, {}, kNoString, false};
    if (device) {
        constexpr std::string_view kStream = "Stream #";
        if (name.starts_with(kStream)) line.stream = integer_in(name.substr(kStream.size()));
        return line;
    }
    line.of_recorder = name.starts_with("Host Threads/");
    ThreadTable& table = batch_.tables.thread;
    Row row = table.add();
    line.thread = batch_.intern(fmt::format("{}/{}", process == kNoString ? "" : batch_.strings[process], id));
    table.key.set(row, line.thread);
    set_known(table.process, row, process);
    table.tid.set(row, id);
    set_text(batch_, table.name, row, name);
    return line;
}

template <class Table>
Row Rows::device_row(Table& table, const Line& line, const Event& event) {
    Row row = add_span(table, event.start, event.dur);
    DeviceWork work;
    work.process = line.process;
    work.device = line.device;
    work.stream = line.stream;
    if (auto id = event.number("context_id"); id && *id == static_cast<std::int32_t>(*id))
        work.context = static_cast<std::int32_t>(*id);
    work.correlation = event.number("correlation_id");
    work.graph = event.number("cuda_graph_id");
    work.graph_node = event.number("cuda_graph_node_id");
    set_work(table, row, work);
    return row;
}

template <class Table>
Row Rows::host_row(Table& table, const Line& line, const Event& event) {
    Row row = add_span(table, event.start, event.dur);
    set_known(table.thread, row, line.thread);
    return row;
}

// The operator that XLA compiled a kernel from. JAX stores it under "name" (tf_op is then "XlaModule:"), TensorFlow
// under tf_op, as "model/dense/MatMul:MatMul".
void Rows::origin(Row row, const Event& event) {
    KernelTable& table = batch_.tables.kernel;
    std::string_view op = event.text("tf_op");
    op = op.substr(0, op.rfind(':'));
    if (op.empty() || op == "XlaModule") op = event.text("name");
    std::string_view hlo = event.text("hlo_op"), module = event.text("hlo_module");
    if (auto program = event.number("program_id"); program && HloNames::is_command_buffer(hlo))
        if (const HloInstruction* made = programs_.find(fmt::format("{}({})", module, *program), event.name)) {
            hlo = made->name;
            if (!made->op.empty()) op = made->op;
        }
    set_text(batch_, table.framework_op, row, op);
    set_text(batch_, table.hlo_op, row, hlo);
    set_text(batch_, table.hlo_module, row, module);
}

void Rows::kernel(const Line& line, const Event& event) {
    KernelTable& table = batch_.tables.kernel;
    Row row = device_row(table, line, event);
    table.name.set(row, batch_.intern(event.name));
    origin(row, event);
    std::string_view details = event.text("kernel_details");
    set_shape(row, detail(details, "grid"), table.grid_x, table.grid_y, table.grid_z);
    set_shape(row, detail(details, "block"), table.block_x, table.block_y, table.block_z);
    set_known(table.registers, row, integer_in<std::int32_t>(detail(details, "regs")));
    auto fixed = integer_in<std::int32_t>(detail(details, "static_shared")),
         dynamic = integer_in<std::int32_t>(detail(details, "dynamic_shared"));
    if (fixed || dynamic)
        table.shared_bytes.set(row, std::int64_t{fixed.value_or(0)} + dynamic.value_or(0));
    else
        set_count(table.shared_bytes, row, integer_in(detail(details, "group_mem")));  // of AMD's GPUs
    set_count(table.local_bytes, row, integer_in(detail(details, "private_mem")));
}

void Rows::copy(const Line& line, const Event& event) {
    MemcpyTable& table = batch_.tables.memcpy;
    Row row = device_row(table, line, event);
    std::string_view details = event.text("memcpy_details");
    set_text(batch_, table.kind, row, copy_kind(event.name));
    set_text(batch_, table.src, row, detail(details, "kind_src"));
    set_text(batch_, table.dst, row, detail(details, "kind_dst"));
    auto bytes = integer_in(detail(details, "size"));
    if (!bytes) bytes = integer_in(detail(details, "num_bytes"));
    set_known(table.bytes, row, bytes);
}

void Rows::fill(const Line& line, const Event& event) {
    MemsetTable& table = batch_.tables.memset;
    Row row = device_row(table, line, event);
    const Stat* stat = event.find("memset_details");
    std::string_view details = stat != nullptr ? stat->text : event.text("Memset_details");
    set_text(batch_, table.kind, row, detail(details, "kind"));
    set_known(table.bytes, row, integer_in(detail(details, "num_bytes")));
}

// XLA names a call after the work it submitted; the function family of the driver API then replaces the name.
void Rows::call(const Line& line, const Event& event) {
    ApiCallTable& table = batch_.tables.api_call;
    Row row = host_row(table, line, event);
    set_known(table.process, row, line.process);
    std::string_view name = event.name.substr(0, event.name.find(" ("));
    bool hip = name.starts_with("hip");
    table.api.set(row, batch_.intern(hip ? "hip" : "driver"));
    if (!hip && !is_driver_call(name)) {
        bool copies = event.find("memcpy_details") != nullptr,
             async = event.text("memcpy_details").ends_with("async:1");
        bool fills = event.find("memset_details") != nullptr || event.find("Memset_details") != nullptr;
        name = fills ? "cuMemset" : "cuLaunchKernel";
        if (copies) name = async ? "cuMemcpyAsync" : "cuMemcpy";
    }
    table.name.set(row, batch_.intern(name));
    set_id(table.correlation, row, event.number("correlation_id"));
}

// The allocators of devices are named "GPU_0_bfc".
void Rows::allocation(const Line& line, const Event& event, bool release) {
    constexpr std::int32_t kCpu = 0, kCuda = 1;
    constexpr std::string_view kPrefix = "GPU_";
    auto bytes = event.number("allocation_bytes");
    if (!bytes || *bytes < 0) return batch_.lose(Loss::missing_field, "MemoryAllocation");
    std::string_view allocator = event.text("allocator_name");
    std::optional<std::int32_t> device;
    if (allocator.starts_with(kPrefix)) device = integer_in<std::int32_t>(allocator.substr(kPrefix.size()));
    MemoryEventTable& table = batch_.tables.memory_event;
    Row row = table.add();
    table.time.set(row, event.start);
    set_known(table.thread, row, line.thread);
    table.device_type.set(row, device ? kCuda : kCpu);
    set_known(table.device, row, device);
    set_known(table.address, row, event.number("addr"));
    table.bytes.set(row, release ? -*bytes : *bytes);
    set_known(table.total_allocated, row, event.number("bytes_allocated"));
}

void Rows::add(const Line& line, const Event& event) {
    Tables& tables = batch_.tables;
    if (line.device && !line.stream) {
        Row row = add_span(tables.device_range, event.start, event.dur);
        tables.device_range.device.set(row, *line.device);
        return tables.device_range.name.set(row, batch_.intern(event.name));
    }
    if (line.device) {
        if (event.find("memcpy_details") != nullptr) return copy(line, event);
        if (event.find("memset_details") != nullptr || event.find("Memset_details") != nullptr)
            return fill(line, event);
        return kernel(line, event);
    }
    if (event.find("correlation_id") != nullptr) return call(line, event);
    if (line.of_recorder) {
        Row row = host_row(tables.overhead, line, event);
        return tables.overhead.name.set(row, batch_.intern(event.name));
    }
    if (event.name == "MemoryAllocation" || event.name == "MemoryDeallocation")
        return allocation(line, event, event.name == "MemoryDeallocation");
    if (event.name.starts_with('$')) {
        Row row = host_row(tables.python_call, line, event);
        return tables.python_call.name.set(row, batch_.intern(python_name(event.name.substr(1))));
    }
    Row row = host_row(tables.range, line, event);
    tables.range.name.set(row, batch_.intern(event.name));
    auto step = event.number("step_num");
    tables.range.domain.set(row, batch_.intern(step ? "xprof step" : "xprof"));
    if (step) tables.range.payload.set(row, static_cast<double>(*step));
}

}  // namespace gpuprof::importers::xprof
