// Part of the nsys importer: calls, annotations and the recorder's overhead on host threads.
#include <fmt/format.h>

#include <algorithm>

#include "io/importers/autograd_range.h"
#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers::nsys {

void Reader::read_calls() {
    constexpr std::int64_t kDriver = 1;
    Stacks stacks = stacks_in("CUDA_CALLCHAINS", ChainsOf::calls);
    Scan rows = scan("CUPTI_ACTIVITY_KIND_RUNTIME");
    auto start = rows.column("start"), end = rows.column("end"), event = rows.column("eventClass"),
         thread = rows.column("globalTid"), correlation = rows.column("correlationId"), name = rows.column("nameId"),
         result = rows.column("returnValue"), chain = rows.column("callchainId");
    StringId runtime = batch_.intern("runtime"), driver = batch_.intern("driver");
    std::unordered_map<std::uint32_t, StringId> bare;  // name without version suffix, by the full name
    ApiCallTable& table = batch_.tables.api_call;
    while (rows.next()) {
        auto row = span_row(table, rows, start, end);
        if (!row) continue;
        if (auto global = rows.integer(thread)) {
            Host caller = host(*global);
            table.thread.set(*row, caller.thread);
            table.process.set(*row, caller.process);
        }
        table.api.set(*row, rows.integer(event).value_or(0) == kDriver ? driver : runtime);
        auto id = rows.integer(name);
        if (StringId whole = string(id); whole != kNoString) {
            auto [known, added] = bare.try_emplace(index_of(whole), kNoString);
            if (added) known->second = batch_.intern(cuda::without_version(text(id)));
            table.name.set(*row, known->second);
        }
        set_id(table.correlation, *row, rows.integer(correlation));
        if (auto error = rows.integer(result); error && *error > 0 && *error <= INT32_MAX)
            table.error.set(*row, static_cast<std::int32_t>(*error));
        auto stack = stacks.find(rows.integer(chain).value_or(-1));
        if (stack != stacks.end()) table.stack.set(*row, stack->second.text);
    }
}

void Reader::read_os_calls() {
    Stacks stacks = stacks_in("OSRT_CALLCHAINS", ChainsOf::samples);
    Scan rows = scan("OSRT_API");
    auto start = rows.column("start"), end = rows.column("end"), thread = rows.column("globalTid"),
         name = rows.column("nameId"), chain = rows.column("callchainId");
    OsCallTable& table = batch_.tables.os_call;
    while (rows.next()) {
        auto row = span_row(table, rows, start, end);
        if (!row) continue;
        if (auto global = rows.integer(thread)) table.thread.set(*row, host(*global).thread);
        set_known(table.name, *row, string(rows.integer(name)));
        auto stack = stacks.find(rows.integer(chain).value_or(0));  // 0: the call has none
        if (stack != stacks.end() && stack->first != 0) table.stack.set(*row, stack->second.text);
    }
}

void Reader::read_overhead(const char* name_of_table) {
    // Source: ENUM_CUPTI_OVERHEAD_TYPE.
    constexpr std::string_view kTypes[] = {"",
                                           "unknown",
                                           "driver compiler",
                                           "CUPTI buffer flush",
                                           "CUPTI instrumentation",
                                           "CUPTI resource",
                                           "module loading",
                                           "lazy function loading",
                                           "command buffer full"};
    Scan rows = scan(name_of_table);
    auto start = rows.column("start"), end = rows.column("end"), thread = rows.column("globalTid"),
         name = rows.column("nameId"), type = rows.column("overheadType");
    OverheadTable& table = batch_.tables.overhead;
    while (rows.next()) {
        auto row = span_row(table, rows, start, end);
        if (!row) continue;
        if (auto global = rows.integer(thread)) table.thread.set(*row, host(*global).thread);
        auto kind = rows.integer(type);
        if (kind && *kind > 1 && *kind < std::ssize(kTypes))
            table.name.set(*row, batch_.intern(kTypes[*kind]));
        else if (StringId known = string(rows.integer(name)); known != kNoString)
            table.name.set(*row, known);
    }
}

void Reader::read_payload_schemas() {
    Scan rows = scan("NVTX_PAYLOAD_SCHEMA_ENTRIES");
    auto domain = rows.column("domainId"), schema = rows.column("schemaId"), type = rows.column("type"),
         name = rows.column("name"), offset = rows.column("offset");
    while (rows.next()) {
        auto in = rows.integer(domain), number = rows.integer(schema), kind = rows.integer(type);
        if (in && number && kind)
            payloads_.add_field(*in, *number, *kind, rows.integer(offset).value_or(0), rows.text(name));
    }
}

// A range without an end was open when the recording ended.
void Reader::read_ranges() {
    constexpr std::int64_t kCategory = 33, kMark = 34, kPushPop = 59, kStartEnd = 60, kDomain = 75;
    Scan rows = scan("NVTX_EVENTS");
    auto start = rows.column("start"), end = rows.column("end"), event = rows.column("eventType"),
         category = rows.column("category"), own_text = rows.column("text"), text_id = rows.column("textId"),
         thread = rows.column("globalTid"), domain = rows.column("domainId"), binary = rows.column("binaryData");
    const std::pair<Scan::Field, bool> payloads[] = {
        {rows.column("uint64Value"), false}, {rows.column("int64Value"), false}, {rows.column("doubleValue"), true},
        {rows.column("uint32Value"), false}, {rows.column("int32Value"), false}, {rows.column("floatValue"), true}};
    struct Names {
        std::int64_t pid, domain, category;
        auto operator<=>(const Names&) const = default;
    };
    std::map<Names, StringId> names;  // of domains (category -1) and categories
    struct PendingRange {
        Row row;
        Names domain, category;
    };
    std::vector<PendingRange> about;
    TimeNs last = 0;
    std::vector<Row> open;
    RangeTable& table = batch_.tables.range;
    while (rows.next()) {
        auto kind = rows.integer(event);
        auto global = rows.integer(thread);
        std::string_view inside = rows.text(own_text);
        std::string_view name = inside.empty() ? text(rows.integer(text_id)) : inside;
        std::int64_t pid = global ? pid_of(*global) : 0, in = rows.integer(domain).value_or(0),
                     group = rows.integer(category).value_or(0);
        if (kind == kDomain || kind == kCategory) {
            if (!name.empty()) names[{pid, in, kind == kDomain ? -1 : group}] = batch_.intern(name);
            continue;
        }
        if (kind != kMark && kind != kPushPop && kind != kStartEnd) continue;  // names of threads and resources
        auto added = span_row(table, rows, start, end);
        if (!added) continue;
        Row row = *added;
        auto closed = rows.integer(end);
        last = std::max({last, table.start[row], closed.value_or(last)});
        if (kind != kMark && !closed) open.push_back(row);
        if (global) {
            Host at = host(*global);
            table.thread.set(row, at.thread);
            if (kind != kMark && in != 0 && name.starts_with(NcclCalls::kPrefix))
                nccl_.add(name, at.process, at.thread, table.start[row], closed.value_or(table.start[row]),
                          payloads_.decode(in, rows.bytes(binary)));
        }
        set_range_text(batch_, row, name);
        for (auto [field, real] : payloads)
            if (auto value = rows.real(field)) {
                table.payload.set(row, *value);
                break;
            }
        if (in != 0 || group != 0) about.push_back({row, {pid, in, -1}, {pid, in, group}});
    }
    for (Row row : open) table.dur.change(row, span_between(table.start[row], last));
    for (const PendingRange& range : about) {
        if (auto known = names.find(range.domain); known != names.end()) table.domain.set(range.row, known->second);
        if (range.category.category == 0) continue;
        auto known = names.find(range.category);
        table.category.set(range.row, known != names.end() ? known->second
                                                           : batch_.intern(fmt::format("{}", range.category.category)));
    }
}

}  // namespace gpuprof::importers::nsys
