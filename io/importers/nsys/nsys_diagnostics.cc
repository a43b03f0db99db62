// Part of the nsys importer: what the recorder says of itself (DIAGNOSTIC_EVENT). Its messages are ranked by their
// meaning for the answer, so that the first example of a loss is the gravest one, and a recording without GPU work quotes
// the message that explains it. Messages of launchers and other helpers, which do not use CUDA, say nothing about the
// processes that do.
// Source of the texts: the tables of 46 public exports of Nsight Systems 2020 to 2026.
#include <array>

#include "core/base/text/ascii.h"
#include "io/importers/nsys/nsys_reader.h"

namespace gpuprof::inline importers::nsys {
namespace {

// Gravest first.
enum class Gravity : std::uint8_t { cuda_failed, cuda_doubtful, cuda_lost, no_cuda, lost, other };
constexpr std::size_t kGravities = 6;

// "Not all NVTX events might have been collected." and reports of dropped or lost records.
bool reports_loss(std::string_view said) {
    for (std::string_view word : {"dropped", "lost", "Not all", "overflow"})
        if (said.find(word) != said.npos) return true;
    return false;
}

Gravity gravity_of(std::string_view said) {
    std::string text(said);
    for (char& c : text) c = to_lower(c);
    auto has = [&](std::initializer_list<std::string_view> words) {
        for (std::string_view word : words)
            if (text.find(word) != text.npos) return true;
        return false;
    };
    bool lost = reports_loss(said);
    // What was done instead worked, and unified memory is an addition.
    bool harmless = has({"collected instead", "unified memory", "nvtx", "hardware tracing"});
    bool failed = has({"error", "fail", "unable", "cannot", "could not", "not support", "unsupported", "incompatible",
                       "denied", "permission", "privilege", "not initialized"});
    if (failed && !harmless && has({"cupti", "cuda driver", "cuda trac", "cuda inject", "cuda profil", "cuda event"}))
        return Gravity::cuda_failed;
    if (has({"cuda profiling might have not been started"})) return Gravity::cuda_doubtful;
    if (lost && !harmless && has({"cuda", "cupti", "gpu", "kernel"})) return Gravity::cuda_lost;
    if (has({"no cuda events"})) return Gravity::no_cuda;
    return lost ? Gravity::lost : Gravity::other;
}

}  // namespace

void Reader::read_diagnostics() {
    constexpr std::int64_t kWarning = 2, kError = 3;
    struct Tally {
        std::uint64_t count = 0;
        std::string first;
    };
    std::array<std::array<Tally, 2>, kGravities> tallies;  // by gravity, and whether it reports a loss
    batch_.tables.api_call.close();                        // columns that end with their last value are read now
    const Tables& tables = batch_.tables;
    bool any_work = tables.kernel.rows + tables.memcpy.rows + tables.memset.rows > 0;
    std::set<StringId> callers;
    for (Row row = 0; row < tables.api_call.rows; ++row)
        callers.insert(tables.api_call.process.value_or(row, kNoString));
    Scan rows = scan("DIAGNOSTIC_EVENT");
    auto severity = rows.column("severity"), text = rows.column("text"), process = rows.column("globalPid");
    while (rows.next()) {
        auto level = rows.integer(severity);
        if (!level || (*level != kWarning && *level != kError)) continue;
        std::string_view said = rows.text(text);
        auto owner = rows.integer(process);
        auto known = owner ? processes_.find(pid_of(*owner)) : processes_.end();
        bool of_helper = any_work && owner && (known == processes_.end() || !callers.contains(known->second));
        bool lost = reports_loss(said);
        Gravity gravity = of_helper ? (lost ? Gravity::lost : Gravity::other) : gravity_of(said);
        Tally& tally = tallies[static_cast<std::size_t>(gravity)][lost ? 1 : 0];
        if (tally.count++ == 0) tally.first = said;
    }
    for (const auto& of_gravity : tallies)
        for (bool lost : {false, true})
            if (const Tally& tally = of_gravity[lost ? 1 : 0]; tally.count > 0)
                batch_.lose(lost ? Loss::recorder_loss : Loss::recorder_warning, tally.first, tally.count);
    if (any_work) return;
    bool traced = tables.api_call.rows > 0;
    for (const auto& [key, value] : facts_) traced = traced || (key.ends_with("COLLECT_CUDA_TRACE") && value == "true");
    for (Gravity gravity : {Gravity::cuda_failed, Gravity::cuda_doubtful, Gravity::cuda_lost, Gravity::no_cuda})
        for (const Tally& tally : tallies[static_cast<std::size_t>(gravity)])
            if (traced && tally.count > 0) return batch_.lose(Loss::untraced_gpu, tally.first);
}

}  // namespace gpuprof::importers::nsys
