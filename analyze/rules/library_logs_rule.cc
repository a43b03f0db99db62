// Libraries wrote that they fell back to something slower, or that something went wrong.
#include "analyze/facts/host/library_logs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::size_t kShown = 3;  // sentences of each kind

void push(const LibraryLogs::Sentences& sentences, std::string_view kind, Finding& finding) {
    std::vector<std::pair<std::string, std::size_t>> sorted(sentences.begin(), sentences.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t at = 0; at < std::min(kShown, sorted.size()); ++at)
        finding.evidence.push_back(fmt::format("{}: {} ({} {})", kind, sorted[at].first,
                                               spoken_count(sorted[at].second),
                                               sorted[at].second == 1 ? "line" : "lines"));
    if (sorted.size() > kShown)
        finding.evidence.push_back(fmt::format("{}: {} more", kind, spoken_count(sorted.size() - kShown)));
}

std::string chosen(const LibraryLogs& logs) {
    std::string text;
    for (const auto& [choice, lines] : logs.choices) text += fmt::format("{}{}", text.empty() ? "" : ", ", choice);
    if (text.empty()) text = "its algorithms";
    if (logs.most_channels > 0)
        text += fmt::format(" with up to {} {}", logs.most_channels, logs.most_channels == 1 ? "channel" : "channels");
    return text;
}

std::string title_of(const LibraryLogs& logs) {
    std::string parts;
    auto add = [&](std::string text) { parts += (parts.empty() ? "" : "; ") + std::move(text); };
    if (!logs.transports.empty()) add("NCCL uses a slow transport");
    if (!logs.fallbacks.empty()) add("cuDNN or cuBLAS rejected an algorithm");
    if (!logs.warnings.empty()) add("libraries logged warnings or retries");
    return parts.empty() ? "NCCL chose " + chosen(logs) : "Logs: " + parts;
}

std::string remedy_of(const LibraryLogs& logs) {
    if (!logs.transports.empty())
        return "Check why NCCL does not use the faster path: nvidia-smi topo -m for links between GPUs, "
               "ibv_devinfo for InfiniBand, and NCCL_P2P_DISABLE, NCCL_IB_DISABLE and NCCL_SOCKET_IFNAME in the "
               "environment.";
    if (!logs.fallbacks.empty())
        return "Change shapes, types or layouts to what the rejected algorithm supports, as the reason says.";
    if (!logs.warnings.empty()) return "Read the lines in the table range (domain log:LIBRARY) and resolve them.";
    return "Nothing to change unless collectives are slow for their size; then compare runs with other values of "
           "NCCL_ALGO and NCCL_PROTO.";
}

Ruling look_for_library_logs(const Facts& facts) {
    const LibraryLogs& logs = facts.get<LibraryLogs>();
    if (!logs.expected) return Ruling::silent();
    if (logs.lines == 0)
        return Ruling::abstain(fmt::format(
            "no library wrote a log although --debug-env {} was set; unset the logging variables of your own",
            logs.groups));
    if (!logs.anything()) return Ruling::silent();
    Finding finding;
    finding.title = title_of(logs);
    push(logs.transports, "transport", finding);
    push(logs.fallbacks, "fallback", finding);
    push(logs.warnings, "warning", finding);
    if (!logs.choices.empty() || logs.most_channels > 0)
        finding.evidence.push_back(fmt::format("NCCL chose {}", chosen(logs)));
    finding.remedy = remedy_of(logs);
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the lines are about a path or an algorithm that the program does not use";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kLibraryLogs{"library-logs", "Libraries logged a fallback, a slow transport, a warning or NCCL's choices.",
                        look_for_library_logs, /*of_idle_time=*/false, /*needs_work=*/false};

}  // namespace gpuprof::rules
