// `sequences`: which kernel sequences repeat on a stream? Candidates for kernel fusion or a CUDA graph, most time
// first. A sequence is --sequence-length consecutive kernels on one stream. Sequences overlap, so do not add counts of
// different rows. gap_ns is the time between the kernels, which fusing them would save.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::size_t kMaxLength = 16;

using Names = std::vector<std::uint32_t>;
struct HashNames {
    std::size_t operator()(const Names& names) const {
        std::size_t hash = 0;
        for (std::uint32_t name : names) hash = hash * 0x9E3779B97F4A7C15ull + name;
        return hash;
    }
};

struct Sequence {
    std::uint64_t count = 0;
    DurNs kernels_ns = 0, gap_ns = 0;
};

using Sequences = std::unordered_map<Names, Sequence, HashNames>;

// The most recent kernels of one stream, newest last.
struct Tail {
    std::vector<Row> rows;
};

Sequences gather_sequences(const Facts& facts, std::size_t length) {
    const KernelTable& kernels = facts.trace().kernel();
    std::map<std::pair<std::int32_t, std::int64_t>, Tail> tails;
    Sequences found;
    Names names(length);
    for (Row row = 0; row < kernels.rows; ++row) {
        std::int32_t device = kernels.device.value_or(row, -1);
        if (facts.options().device >= 0 && device != facts.options().device) continue;
        std::vector<Row>& tail = tails[{device, kernels.stream.value_or(row, -1)}].rows;
        tail.push_back(row);
        if (tail.size() > length) tail.erase(tail.begin());
        if (tail.size() < length) continue;
        DurNs busy = 0, gaps = 0;
        for (std::size_t i = 0; i < length; ++i) {
            names[i] = index_of(kernels.name.value_or(tail[i], kNoString));
            busy += kernels.dur[tail[i]];
            if (i > 0)
                gaps +=
                    std::max<DurNs>(0, kernels.start[tail[i]] - kernels.start[tail[i - 1]] - kernels.dur[tail[i - 1]]);
        }
        Sequence& sequence = found[names];
        ++sequence.count;
        sequence.kernels_ns += busy;
        sequence.gap_ns += gaps;
    }
    return found;
}

std::string text_of(const Trace& trace, const Names& names) {
    std::string text;
    for (std::uint32_t name : names) {
        std::string one = StringId{name} == kNoString ? "?" : short_name(trace.text(StringId{name}));
        text += text.empty() ? one : " > " + one;
    }
    return text;
}

struct NamedSequence {
    std::string kernels;
    Sequence sequence;

    DurNs total_ns() const { return sequence.kernels_ns + sequence.gap_ns; }
};

constexpr auto kSequencesColumns = columns_of<NamedSequence>({
    {"kernels", CellType::text, Unit::none, "Short names of the kernels, in order.",
     [](auto& r) { return std::string_view(r.kernels); }},
    {"count", CellType::integer, Unit::count, "Number of occurrences.", [](auto& r) { return r.sequence.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Kernel durations plus the time between kernels, over all occurrences.",
     [](auto& r) { return r.total_ns(); }},
    {"kernel_ns", CellType::integer, Unit::ns, "Kernel durations, over all occurrences.",
     [](auto& r) { return r.sequence.kernels_ns; }},
    {"gap_ns", CellType::integer, Unit::ns, "Time between the kernels, over all occurrences.",
     [](auto& r) { return r.sequence.gap_ns; }},
});

Result<ResultTable> sequences_table(const Facts& facts) {
    std::int64_t wanted = facts.options().sequence_length;
    if (wanted < 2 || wanted > static_cast<std::int64_t>(kMaxLength))
        return Error{ExitCode::usage,
                     fmt::format("--sequence-length: expected 2-{} kernels, not '{}'", kMaxLength, wanted)};
    Sequences found = gather_sequences(facts, static_cast<std::size_t>(wanted));
    std::vector<NamedSequence> order;
    for (const auto& [names, sequence] : found)
        if (sequence.count > 1) order.push_back({text_of(facts.trace(), names), sequence});
    std::sort(order.begin(), order.end(), [](const NamedSequence& a, const NamedSequence& b) {
        return a.total_ns() != b.total_ns() ? a.total_ns() > b.total_ns() : a.kernels < b.kernels;
    });
    ResultTable table("sequences", kSequencesColumns);
    table.handle_prefix = "seq";
    for (const NamedSequence& each : order) table.add(kSequencesColumns, each);
    if (order.empty()) table.notes.push_back("No sequence of kernels of this length repeats.");
    return table;
}

}  // namespace

const Analysis kSequences{"sequences",
                          "",
                          "Repeated kernel sequences: candidates for fusion.",
                          kSequencesColumns,
                          sequences_table,
                          {.reads = {AnalysisOption::sequence_length}}};

}  // namespace gpuprof::tables
