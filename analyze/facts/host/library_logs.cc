#include "analyze/facts/host/library_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/schema/debug_env.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMaxSentences = 1000, kMaxSentence = 160;  // of each kind; bytes

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

void count(LibraryLogs::Sentences& sentences, std::string_view text) {
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

std::int64_t number(std::string_view text) {
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
    count(logs.choices, fmt::format("{}/{}", named(algorithm, kAlgorithms), named(protocol, kProtocols)));
    if (std::size_t to = text.find("={"); to != std::string_view::npos) {
        std::string_view range = text.substr(to + 2);
        std::size_t dots = range.find("..");
        if (dots != std::string_view::npos)
            logs.most_channels = std::max(logs.most_channels, number(range.substr(dots + 2)) - number(range) + 1);
    }
}

// The sentences of NCCL's init.cc, paths.cc and transport/*.cc.
void read_nccl(std::string_view text, LibraryLogs& logs) {
    if (has(text, " Bytes -> Algo ")) return read_choice(text, logs);
    if (has(text, " coll channels,")) logs.most_channels = std::max(logs.most_channels, number(text));
    if (text.starts_with("Using network Socket")) count(logs.transports, "the network is Socket (TCP), not InfiniBand");
    if (text.starts_with("NET/IB : No device found")) count(logs.transports, "no InfiniBand device was found");
    if (has(text, "P2P is disabled")) count(logs.transports, "P2P is disabled between GPUs");
    if (has(text, " via SHM")) count(logs.transports, "GPUs exchange data through host memory (SHM)");
    if (has(text, " via NET/Socket")) count(logs.transports, "channels use NET/Socket");
    if (has(text, "GPU Direct RDMA Disabled")) count(logs.transports, "GPUDirect RDMA is disabled");
}

bool is_fallback(std::string_view text) {
    return has(text, "NOT_SUPPORTED") || has(text, "fallback") || has(text, "falling back") || has(text, "Fallback");
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
        count(logs.fallbacks, fmt::format("{}: {}", library, text));
    else if (alarm || (library == "nccl" && (has(text, "retry") || has(text, "Retry"))))
        count(logs.warnings, fmt::format("{}: {}", library, text));
}

}  // namespace

LibraryLogs LibraryLogs::make(const Facts& facts) {
    LibraryLogs logs;
    const Trace& trace = facts.trace();
    logs.groups = trace.meta(debug_env::kGroups);
    logs.expected = debug_env::wants_logs(logs.groups);
    if (!logs.expected) return logs;
    for (Row row = 0; row < trace.range().rows; ++row)
        read_line(trace.text(trace.range().name.value_or(row, kNoString)), logs);
    return logs;
}

}  // namespace gpuprof::facts
