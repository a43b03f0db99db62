// Libraries wrote that they fell back to something slower, or that something went wrong, as the log lines in the recording
// say (`record --debug-env`).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/ascii.h"
#include "core/schema/debug_env.h"

namespace gpuprof::inline rules {
namespace {

// What the log lines say about algorithms, transports and warnings.
struct LibraryLogs {
    std::string groups;     // of --debug-env; "" if the option was not given
    bool expected = false;  // libraries were told to write logs
    std::size_t lines = 0;
    // The same sentence counts once, with how often it was written.
    using Sentences = std::map<std::string, std::size_t>;
    Sentences fallbacks;             // cuDNN and cuBLAS: what was not supported
    Sentences transports;            // NCCL: a slow path between GPUs or hosts
    Sentences warnings;              // warnings, errors and retries of all libraries
    Sentences choices;               // NCCL: "TREE/LL"
    std::int64_t most_channels = 0;  // of one collective of NCCL, or of a communicator; 0: not in the log

    bool anything() const {
        return !fallbacks.empty() || !transports.empty() || !warnings.empty() || !choices.empty() || most_channels > 0;
    }
};

constexpr std::size_t kMaxSentences = 1000, kMaxSentence = 160;  // of each kind; bytes

void count_sentence(LibraryLogs::Sentences& sentences, std::string_view text) {
    std::string sentence(text.substr(0, kMaxSentence));
    if (auto known = sentences.find(sentence); known != sentences.end())
        ++known->second;
    else if (sentences.size() < kMaxSentences)
        sentences.emplace(std::move(sentence), 1);
}

std::string_view word_after(std::string_view text, std::string_view before) {
    std::size_t at = text.find(before);
    if (at == std::string_view::npos) return "";
    text.remove_prefix(at + before.size());
    return text.substr(0, text.find_first_of(" ,;"));
}

std::int64_t leading_number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::clamp<std::int64_t>(value, 0, 1'000'000);
}

// "AllReduce: 4 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..3}"; NCCL before 2.24 has numbers: Algo 0 proto 1.
void read_choice(std::string_view text, LibraryLogs& logs) {
    constexpr std::string_view kAlgorithms[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                                "NVLS_TREE", "PAT"};
    constexpr std::string_view kProtocols[] = {"LL", "LL128", "SIMPLE"};
    std::string_view algorithm = word_after(text, "Algo "), protocol = word_after(text, "proto ");
    auto named = [](std::string_view word, auto& names) {
        bool digit = word.size() == 1 && word[0] >= '0' && word[0] <= '9';
        std::size_t at = digit ? static_cast<std::size_t>(word[0] - '0') : std::size(names);
        return at < std::size(names) ? names[at] : word;
    };
    if (algorithm.empty() || protocol.empty()) return;
    count_sentence(logs.choices, fmt::format("{}/{}", named(algorithm, kAlgorithms), named(protocol, kProtocols)));
    if (std::size_t to = text.find("={"); to != std::string_view::npos) {
        std::string_view range = text.substr(to + 2);
        std::size_t dots = range.find("..");
        if (dots != std::string_view::npos)
            logs.most_channels =
                std::max(logs.most_channels, leading_number(range.substr(dots + 2)) - leading_number(range) + 1);
    }
}

// The sentences of NCCL's init.cc, paths.cc and transport/*.cc.
void read_nccl(std::string_view text, LibraryLogs& logs) {
    if (contains(text, " Bytes -> Algo ")) return read_choice(text, logs);
    if (contains(text, " coll channels,")) logs.most_channels = std::max(logs.most_channels, leading_number(text));
    if (text.starts_with("Using network Socket"))
        count_sentence(logs.transports, "the network is Socket (TCP), not InfiniBand");
    if (text.starts_with("NET/IB : No device found")) count_sentence(logs.transports, "no InfiniBand device was found");
    if (contains(text, "P2P is disabled")) count_sentence(logs.transports, "P2P is disabled between GPUs");
    if (contains(text, " via SHM")) count_sentence(logs.transports, "GPUs exchange data through host memory (SHM)");
    if (contains(text, " via NET/Socket")) count_sentence(logs.transports, "channels use NET/Socket");
    if (contains(text, "GPU Direct RDMA Disabled")) count_sentence(logs.transports, "GPUDirect RDMA is disabled");
}

bool is_fallback(std::string_view text) {
    return contains(text, "NOT_SUPPORTED") || contains(text, "fallback") || contains(text, "falling back") ||
           contains(text, "Fallback");
}

// "nccl warning: text", as collect/logs writes the name of the range.
void read_line(std::string_view name, LibraryLogs& logs) {
    std::string_view head = debug_env::head_of_log_line(name);
    if (head.empty()) return;
    std::string_view text = name.substr(head.size()), library = head.substr(0, head.find_first_of(" :"));
    bool alarm = library.size() + 2 < head.size();
    ++logs.lines;
    if (library == "nccl") read_nccl(text, logs);
    bool math = library == "cudnn" || library == "cublas";
    if (math && is_fallback(text))
        count_sentence(logs.fallbacks, fmt::format("{}: {}", library, text));
    else if (alarm || (library == "nccl" && (contains(text, "retry") || contains(text, "Retry"))))
        count_sentence(logs.warnings, fmt::format("{}: {}", library, text));
}

LibraryLogs read_logs(const Facts& facts) {
    LibraryLogs logs;
    const Trace& trace = facts.trace();
    logs.groups = trace.meta(debug_env::kGroups);
    logs.expected = debug_env::wants_logs(logs.groups);
    if (!logs.expected) return logs;
    for (Row row = 0; row < trace.range().rows; ++row)
        read_line(trace.text(trace.range().name.value_or(row, kNoString)), logs);
    return logs;
}

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
    const LibraryLogs logs = read_logs(facts);
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

const Rule kLibraryLogs{
    "library-logs",         "Libraries logged a fallback, a slow transport, a warning or NCCL's choices.",
    look_for_library_logs,  Effort::option,
    /*of_idle_time=*/false, /*needs_work=*/false};

}  // namespace gpuprof::rules
