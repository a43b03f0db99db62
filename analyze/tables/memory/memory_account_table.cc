// `memory_account`: what is the memory that NVML reports as used, at the peak or at --at? One row per device and part,
// after a row with what is used. The parts except free memory add up to it to the byte; how they are found is explained in
// facts/memory_account.h. A part whose source was not recorded has no row: its bytes are in the remainder, which says so.
#include <fmt/format.h>

#include "analyze/facts/memory/memory_account.h"
#include "analyze/facts/moments.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct MemoryAccountRow {
    std::int32_t device;
    std::string_view part;
    std::int64_t bytes;
    std::optional<std::int64_t> used;  // absent if the part is none of it
    std::optional<std::int64_t> uncertain, pid;
    std::string_view evidence;
    DurNs at;  // since the start
};

constexpr auto kMemoryAccountColumns = columns_of<MemoryAccountRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device < 0 ? kAbsent : integer(r.device); }},
    {"part", CellType::text, Unit::none,
     "Part of the device's memory; used is all of it that is in use, to which the following parts except free add up.",
     [](auto& r) { return text_cell(r.part); }},
    {"bytes", CellType::integer, Unit::bytes, "Its size; negative if the sources contradict each other.",
     [](auto& r) { return r.bytes; }},
    {"share_pct", CellType::real, Unit::percent, "bytes as a share of used memory; absent for free memory.",
     [](auto& r) { return r.used ? percent(r.bytes, *r.used) : kAbsent; }},
    {"uncertain_bytes", CellType::integer, Unit::bytes,
     "Bytes by which it may be wrong because its sources were not read at the same moment; absent when unknown.",
     [](auto& r) { return r.uncertain; }},
    {"pid", CellType::integer, Unit::none, "Process it belongs to.", [](auto& r) { return r.pid; }},
    {"evidence", CellType::text, Unit::none, "How it is known.", [](auto& r) { return text_cell(r.evidence); }},
    {"at_ns", CellType::integer, Unit::ns, "Time of the account, relative to the window start.",
     [](auto& r) { return r.at; }},
});

std::string size_of(std::int64_t bytes) { return readable_bytes(static_cast<double>(bytes)); }

DurNs since_start(const Trace& trace, const MemoryAccount& account) { return span_between(trace.zero(), account.at); }

std::string moment_of(const Trace& trace, const MemoryAccount& account) {
    return readable_duration(since_start(trace, account));
}

// The rows of one device.
class AccountRows {
public:
    AccountRows(ResultTable& result, const Trace& trace, std::int32_t device, const DeviceMemory& memory,
                const MemoryAccount& account)
        : result_(result), trace_(trace), device_(device), memory_(memory), account_(account) {}

    void add() {
        if (account_.used)
            row("used", *account_.used, std::nullopt, std::nullopt,
                fmt::format("NVML at {}", moment_of(trace_, account_)));
        for (const ProcessAccount& process : account_.processes) add_process(process);
        for (auto [pid, bytes] : account_.others)
            row("other process", bytes, remainder_error(), pid, "NVML" + list_time());
        if (account_.device_rest)
            row("rest of the device", *account_.device_rest, remainder_error(), std::nullopt,
                "used minus all processes");
        if (account_.not_attributed)
            row("not attributed", *account_.not_attributed, account_.churn, std::nullopt, account_.reason);
        if (account_.used && memory_.total)
            row("free", *memory_.total - *account_.used, std::nullopt, std::nullopt,
                "total minus used; includes what the driver reserves");
    }

private:
    // A remainder is wrong by what changed between its sources.
    std::int64_t remainder_error() const { return std::abs(account_.unexplained) + account_.churn; }

    std::string list_time() const {
        DurNs before = account_.at - account_.listed_at.value_or(account_.at);
        if (before == 0) return "";
        return fmt::format(", listed {} {}", readable_duration(std::abs(before)), before > 0 ? "before" : "after");
    }

    void add_process(const ProcessAccount& process) {
        const ProcessMemory& memory = *process.memory;
        if (process.allocated)
            row("allocated by the framework", *process.allocated, std::nullopt, memory.pid,
                memory.has_totals ? "totals of its allocator" : "recorded allocations; older ones are unknown");
        if (process.cached)
            row("cached by the framework", *process.cached, std::nullopt, memory.pid,
                memory.reserved.empty() ? "its segments minus allocated" : "reserved minus allocated");
        if (process.calls)
            row("CUDA allocations", *process.calls, process.calls_may_be_segments, memory.pid, calls_evidence(process));
        if (process.rest)
            row("rest of the process", *process.rest, remainder_error(), memory.pid, rest_evidence(process));
    }

    static std::string calls_evidence(const ProcessAccount& process) {
        std::string text =
            process.allocated ? "recorded CUDA calls outside the framework's segments" : "recorded CUDA calls";
        if (process.calls_may_be_segments > 0)
            text += fmt::format("; {} more are taken to be segments", size_of(process.calls_may_be_segments));
        return text;
    }

    std::string rest_evidence(const ProcessAccount& process) const {
        std::string text = fmt::format("NVML: {} in the process{}", size_of(process.listed.value_or(0)), list_time());
        if (process.rest.value_or(0) >= 0) return text;
        if (!process.agrees_after) return text + "; less than was recorded within a second";
        return text + fmt::format("; agrees with the recording {} {}",
                                  readable_duration(std::abs(*process.agrees_after)),
                                  *process.agrees_after > 0 ? "earlier" : "later");
    }

    void row(std::string_view part, std::int64_t bytes, std::optional<std::int64_t> uncertain,
             std::optional<std::int64_t> pid, const std::string& evidence) {
        std::optional<std::int64_t> used = part == "free" ? std::nullopt : account_.used;
        result_.add(kMemoryAccountColumns,
                    {device_, part, bytes, used, uncertain, pid, evidence, since_start(trace_, account_)});
    }

    ResultTable& result_;
    const Trace& trace_;
    std::int32_t device_;
    const DeviceMemory& memory_;
    const MemoryAccount& account_;
};

void add_notes(ResultTable& result, const Trace& trace, std::int32_t device, const DeviceMemory& memory,
               const MemoryAccount& account) {
    std::string name = device < 0 ? "Device" : fmt::format("Device {}", device);
    auto note = [&](const std::string& text) { result.notes.push_back(name + ": " + text); };
    if (!account.used)
        note(fmt::format(
            "used memory was not sampled, so the parts at {} cannot be compared with NVML; record --sample samples it.",
            moment_of(trace, account)));
    bool records = false;
    for (const ProcessAccount& process : account.processes) {
        records |= process.allocated || process.calls;
        if (auto managed = process.memory->managed.at(account.at); managed.value_or(0) > 0)
            note(fmt::format(
                "{} of managed memory is not a part of its own: how much of it is on the device is unknown.",
                size_of(*managed)));
        if (process.rest.value_or(0) < 0)
            note(fmt::format("{} more were recorded in process {} than NVML reports; its rest is negative.",
                             size_of(-*process.rest), process.memory->pid.value_or(0)));
        if (process.memory->is_assumed)
            note(fmt::format(
                "the allocator's process is not recorded; it is taken to be process {}, the only one listed.",
                process.memory->pid.value_or(0)));
    }
    if (account.used && !records)
        note(
            "no allocations were recorded at this time; record --memory records those of CUDA calls, torch.profiler "
            "with profile_memory=True those of PyTorch.");
    if (memory.unmatched_releases > 0)
        note(fmt::format(
            "{} of memory whose allocation was not recorded; such memory is in the rest of the process.",
            memory.unmatched_releases == 1 ? "1 release" : fmt::format("{} releases", memory.unmatched_releases)));
}

Result<ResultTable> memory_account_table(const Facts& facts) {
    ResultTable result("memory_account", kMemoryAccountColumns);
    result.handle_prefix = "ma";
    result.whole = true;
    Result<std::optional<TimeNs>> at = requested_moment(facts);
    if (!at.ok()) return at.error();
    for (const auto& [device, memory] : facts.get<DeviceMemories>().by_device) {
        std::optional<MemoryAccount> account = *at ? account_near(memory, **at) : account_at_peak(memory);
        if (!account) continue;
        explain(*account);
        AccountRows(result, facts.trace(), device, memory, *account).add();
        add_notes(result, facts.trace(), device, memory, *account);
    }
    if (result.rows() == 0)
        result.notes.push_back(
            "Neither samples of device memory nor allocations were recorded; "
            "gpu-profile record --memory -- CMD records both.");
    return result;
}

}  // namespace

const Analysis kMemoryAccount{"memory_account",
                              "",
                              "Per device: the parts of the used memory at its peak, or at the time given by --at.",
                              kMemoryAccountColumns,
                              memory_account_table,
                              {.of_whole = true, .reads = {AnalysisOption::at}}};

}  // namespace gpuprof::tables
