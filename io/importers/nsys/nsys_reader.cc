#include "io/importers/nsys/nsys_reader.h"

#include <fmt/format.h>

#include "io/importers/row_values.h"

namespace gpuprof::inline importers::nsys {

namespace {

// Times of the file, or their sum with the session start, beyond this are invalid: over 36 years in ns.
constexpr std::int64_t kMaxTime = std::int64_t{1} << 60;

bool is_near(std::int64_t time) { return time > -kMaxTime && time < kMaxTime; }

}  // namespace

void Reader::read() {
    read_strings();
    read_session();
    read_devices();
    read_calls();
    read_os_calls();
    read_scheduling();
    read_context_switches();
    read_stacks();
    read_payload_schemas();
    read_ranges();
    read_libraries();
    read_graph_marks();
    read_mpi();
    read_overhead("CUPTI_ACTIVITY_KIND_OVERHEAD");
    read_overhead("PROFILER_OVERHEAD");
    read_kernels();
    nccl_.write(batch_);
    read_graphs();
    read_copies();
    read_fills();
    read_graph_nodes();
    read_page_faults();
    read_syncs();
    read_allocations();
    read_metrics();
    read_network();
    read_names();
    read_diagnostics();
    count_unread();
}

std::string Reader::recorder() const {
    auto version = facts_.find("EXPORT_PRODUCT_VERSION");
    auto product = facts_.find("EXPORT_PRODUCT_NAME");
    std::string name = product == facts_.end() ? "NVIDIA Nsight Systems" : product->second;
    return version == facts_.end() ? name : name + " " + version->second;
}

std::string Reader::computed_table() const {
    for (const std::string& name : database_.computed())
        if (used_.contains(name)) return name;
    return "";
}

void Reader::read_strings() {
    Scan rows = scan("StringIds");
    auto id = rows.column("id"), value = rows.column("value");
    while (rows.next())
        if (auto number = rows.integer(id)) strings_[*number].text = rows.text(value);
}

StringId Reader::string(std::optional<std::int64_t> id) {
    auto known = id ? strings_.find(*id) : strings_.end();
    if (known == strings_.end()) return kNoString;
    if (known->second.id == kNoString) known->second.id = batch_.intern(known->second.text);
    return known->second.id;
}

std::string_view Reader::text(std::optional<std::int64_t> id) {
    auto known = id ? strings_.find(*id) : strings_.end();
    return known == strings_.end() ? std::string_view() : std::string_view(known->second.text);
}

StringId Reader::process(std::int64_t global) {
    std::int64_t pid = pid_of(global);
    auto [known, added] = processes_.try_emplace(pid, kNoString);
    if (!added) return known->second;
    ProcessTable& table = batch_.tables.process;
    Row row = table.add();
    known->second = batch_.intern(fmt::format("{}", pid));
    table.key.set(row, known->second);
    table.pid.set(row, pid);
    set_text(batch_, table.host, row, host_name_);
    return known->second;
}

Reader::Host Reader::host(std::int64_t global) {
    auto [known, added] = hosts_.try_emplace(global);
    if (!added) return known->second;
    constexpr std::int64_t kBoth = (std::int64_t{1} << 48) - 1;
    std::int64_t tid = global & 0xFFFFFF;
    known->second.process = process(global);
    auto [thread, is_new] = threads_.try_emplace(global & kBoth, kNoString);
    if (is_new) {
        ThreadTable& table = batch_.tables.thread;
        Row row = table.add();
        thread->second = batch_.intern(fmt::format("{}/{}", pid_of(global), tid));
        table.key.set(row, thread->second);
        table.process.set(row, known->second.process);
        table.tid.set(row, tid);
    }
    known->second.thread = thread->second;
    return known->second;
}

std::int32_t Reader::device(std::int64_t pid, std::int32_t ordinal) const {
    auto known = gpus_.find({pid, ordinal});
    return known == gpus_.end() ? ordinal : known->second;
}

std::optional<std::pair<TimeNs, TimeNs>> Reader::times(Scan& scan, Scan::Field start, Scan::Field end) {
    std::optional<std::int64_t> from = scan.integer(start), to = scan.integer(end);
    if (!from) {
        batch_.lose(Loss::missing_field, "start");
        return std::nullopt;
    }
    if (!is_near(*from)) {
        batch_.lose(Loss::time_out_of_range, "start");
        return std::nullopt;
    }
    return std::pair(*from, to.value_or(*from));
}

void Reader::count_unread() {
    for (const auto& [table, columns] : database_.tables()) {
        bool definition = table.starts_with("ENUM_") || table.starts_with("TARGET_INFO_") ||
                          table.starts_with("META_DATA_") || table.starts_with("ANALYSIS_") ||
                          table.starts_with("sqlite_") || table == "ProcessStreams" ||
                          table.starts_with("NVTX_PAYLOAD_");
        if (definition || used_.contains(table) || columns.empty()) continue;
        Scan rows(database_, table, batch_);
        (void)rows.column(columns.begin()->c_str());
        while (rows.next()) {
        }
        if (rows.rows() > 0) batch_.lose_named(Loss::unread_table, "", table, rows.rows());
    }
}

}  // namespace gpuprof::importers::nsys
