// The names of a rocpd recording: texts, processes, threads, agents, kernels, counters and events.
#include "io/importers/rocpd/rocpd_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

#include "io/importers/amd_rows.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::rocpd {
namespace {

constexpr std::int64_t kMaxTime = std::int64_t{1} << 60;  // ns
constexpr std::string_view kMarkers = "MARKER_";

}  // namespace

void Texts::read(Scan& rows, const char* column) {
    auto id = rows.column("id"), text = rows.column(column);
    while (rows.next())
        if (auto number = rows.integer(id)) entries_[*number].text = rows.text(text);
}

StringId Texts::id(std::optional<std::int64_t> number, Batch& batch) {
    auto known = number ? entries_.find(*number) : entries_.end();
    if (known == entries_.end() || known->second.text.empty()) return kNoString;
    if (known->second.id == kNoString) known->second.id = batch.intern(known->second.text);
    return known->second.id;
}

std::string_view Texts::text(std::optional<std::int64_t> number) const {
    auto known = number ? entries_.find(*number) : entries_.end();
    return known == entries_.end() ? std::string_view() : std::string_view(known->second.text);
}

std::optional<std::pair<TimeNs, TimeNs>> times_of(Scan& rows, Scan::Field start, Scan::Field end, Batch& batch) {
    std::optional<std::int64_t> from = rows.integer(start), to = rows.integer(end);
    if (!from) {
        batch.lose(Loss::missing_field, "start");
        return std::nullopt;
    }
    if (*from <= -kMaxTime || *from >= kMaxTime) {
        batch.lose(Loss::time_out_of_range, "start");
        return std::nullopt;
    }
    return std::pair(*from, to.value_or(*from));
}

std::pair<std::int32_t, bool> GpuNumbers::number(const std::string& host, std::int64_t agent, std::int32_t wanted) {
    auto [known, added] = known_.try_emplace({host, agent}, wanted);
    if (added)
        while (known->second < 0 || !taken_.insert(known->second).second)
            known->second = taken_.empty() ? 0 : *taken_.rbegin() + 1;
    return {known->second, added};
}

Status Reader::read(const std::string& file) {
    std::string version;
    {
        Scan rows = scan("metadata");
        auto tag = rows.column("tag"), value = rows.column("value");
        while (rows.next())
            if (rows.text(tag) == "schema_version") version = rows.text(value);
    }
    constexpr int kOldest = 3, kNewest = 4;
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    auto dispatches = database_.tables().find("rocpd_kernel_dispatch" + guid_);
    bool other = dispatches != database_.tables().end() && !dispatches->second.contains("agent_id");
    if (major < kOldest || major > kNewest || other)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: its rocpd schema is version {}; supported: 3 and 4", file,
                                 version.empty() ? "unknown" : version.substr(0, 20))};
    Scan texts = scan("string");
    strings_.read(texts, "string");
    read_names();
    read_agents();
    read_symbols();
    read_events();
    read_counter_values();
    read_regions();
    read_kernels();
    read_copies();
    read_allocations();
    read_samples();
    if (copies_ == 0) amd::lose_untraced_copies(batch_, copy_calls_);
    return {};
}

// The column `environment` is not read.
void Reader::read_names() {
    std::unordered_map<std::int64_t, std::string> hosts;
    Scan nodes = scan("info_node");
    auto node = nodes.column("id"), name = nodes.column("hostname");
    while (nodes.next())
        if (auto id = nodes.integer(node)) host_ = hosts[*id] = nodes.text(name);
    Scan processes = scan("info_process");
    auto id = processes.column("id"), pid = processes.column("pid"), on = processes.column("nid"),
         command = processes.column("command");
    while (processes.next()) {
        auto number = processes.integer(id), system = processes.integer(pid);
        if (!number || !system || processes_.contains(*number)) continue;
        auto [row, key] = places_.add_process(*system);
        processes_.emplace(*number, key);
        ProcessTable& table = batch_.tables.process;
        set_text(batch_, table.command, row, processes.text(command));
        auto host = hosts.find(processes.integer(on).value_or(-1));
        if (host != hosts.end() && !host->second.empty()) table.host.set(row, batch_.intern(host->second));
    }
    Scan threads = scan("info_thread");
    auto thread = threads.column("id"), tid = threads.column("tid"), called = threads.column("name");
    while (threads.next())
        if (auto number = threads.integer(thread))
            if (auto system = threads.integer(tid)) thread_ids_[*number] = {*system, std::string(threads.text(called))};
}

void Reader::read_agents() {
    Scan rows = scan("info_agent");
    auto id = rows.column("id"), type = rows.column("type"), index = rows.column("type_index"),
         absolute = rows.column("absolute_index"), product = rows.column("product_name"), name = rows.column("name"),
         facts = rows.column("extdata");
    while (rows.next()) {
        auto number = rows.integer(id);
        if (!number) continue;
        Agent& agent = agents_[*number];
        agent.gpu = rows.text(type) == "GPU";
        agent.type_index = rows.narrow(index).value_or(0);
        agent.index = rows.integer(absolute).value_or(*number);
        agent.name = rows.text(product);
        if (agent.name.empty()) agent.name = rows.text(name);
        agent.facts = rows.text(facts);
    }
}

void Reader::read_symbols() {
    Scan rows = scan("info_kernel_symbol");
    auto id = rows.column("id"), shown = rows.column("display_name"), name = rows.column("kernel_name"),
         registers = rows.column("arch_vgpr_count");
    while (rows.next()) {
        auto number = rows.integer(id);
        if (!number) continue;
        std::string_view text = rows.text(shown);
        if (text.empty()) text = rows.text(name);
        if (text.ends_with(".kd")) text.remove_suffix(3);
        symbols_[*number] = {text.empty() ? kNoString : batch_.intern(text), rows.narrow(registers)};
    }
}

void Reader::read_events() {
    Scan rows = scan("event");
    auto id = rows.column("id"), category = rows.column("category_id"), stack = rows.column("stack_id"),
         facts = rows.column("extdata");
    simdjson::dom::parser parser;
    while (rows.next()) {
        auto number = rows.integer(id);
        if (!number) continue;
        Event event{rows.integer(category).value_or(-1), rows.integer(stack).value_or(0)};
        events_.emplace(*number, event);
        if (!strings_.text(event.category).starts_with(kMarkers)) continue;
        simdjson::dom::element about;
        std::string_view message;
        std::string text(rows.text(facts));
        if (parser.parse(text).get(about) == simdjson::SUCCESS && about["message"].get(message) == simdjson::SUCCESS &&
            !message.empty())
            messages_.emplace(*number, batch_.intern(message));
    }
}

// The recorder writes one row for each instance of a hardware unit: they add up.
void Reader::read_counter_values() {
    Scan info = scan("info_pmc");
    auto id = info.column("id"), name = info.column("symbol"), full = info.column("name"), unit = info.column("units"),
         agent = info.column("agent_id");
    while (info.next()) {
        auto number = info.integer(id);
        if (!number) continue;
        std::string_view text = info.text(name);
        Counter counter;
        counter.name = batch_.intern(text.empty() ? info.text(full) : text);
        if (auto units = info.text(unit); !units.empty()) counter.unit = batch_.intern(units);
        counter.agent = info.integer(agent).value_or(-1);
        counters_[*number] = counter;
    }
    Scan rows = scan("pmc_event");
    auto event = rows.column("event_id"), counter = rows.column("pmc_id"), value = rows.column("value"),
         sample = rows.column("sample_id");
    while (rows.next()) {
        auto of = rows.integer(event), which = rows.integer(counter);
        auto number = rows.real(value);
        if (!of || !which || !number || rows.integer(sample)) continue;
        Values& values = values_[*of];
        std::size_t at = 0;
        while (at < values.size() && values[at].first != *which) ++at;
        if (at == values.size()) values.emplace_back(*which, 0);
        values[at].second += *number;
    }
}

Reader::Place Reader::place(std::optional<std::int64_t> process, std::optional<std::int64_t> thread) {
    Place place;
    auto owner = processes_.find(process.value_or(-1));
    if (owner != processes_.end()) place.process = owner->second;
    auto known = thread ? thread_ids_.find(*thread) : thread_ids_.end();
    if (known != thread_ids_.end())
        place.thread = places_.thread(place.process, known->second.first, known->second.second);
    else if (thread)
        place.thread = places_.thread(place.process, *thread);
    return place;
}

Reader::Event Reader::event(std::optional<std::int64_t> id) const {
    auto known = id ? events_.find(*id) : events_.end();
    return known == events_.end() ? Event{} : known->second;
}

bool Reader::is_gpu(std::optional<std::int64_t> agent) const {
    auto known = agent ? agents_.find(*agent) : agents_.end();
    return known != agents_.end() && known->second.gpu;
}

// A file lists all agents of the machine; GPUs that did something become rows.
std::optional<std::int32_t> Reader::device(std::optional<std::int64_t> id) {
    if (!is_gpu(id)) return std::nullopt;
    const Agent& agent = agents_.find(*id)->second;
    auto [number, added] = gpus_.number(host_, agent.index, agent.type_index);
    if (!added) return number;
    simdjson::dom::parser parser;
    simdjson::dom::element facts;
    bool known = parser.parse(agent.facts).get(facts) == simdjson::SUCCESS ||
                 parser.parse(std::string("{}")).get(facts) == simdjson::SUCCESS;
    if (known) amd::add_gpu(batch_, number, agent.name, facts);
    return number;
}

}  // namespace gpuprof::importers::rocpd
