// Importer for the Chrome trace of Proton's instrumentation inside kernels (Triton): scopes of warps, in cycles of the
// multiprocessor's clock. A process is a block on a core, a thread a warp, and the category of a scope its kernel's name. These
// are no kernels, and no times of a program: within a block they are cycles, drawn as if the clock ran at `Frequency (MHz)`,
// but blocks are placed by a clock in nanoseconds. They become a tree of each kernel's scopes with the cycles of all warps.
// Without a frequency Proton read that second clock for the scopes too, and they are in nanoseconds.
// Format: triton, third_party/proton/csrc/lib/TraceDataIO/TraceWriter.cpp (StreamChromeTraceWriter).
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/importers/row_values.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

using simdjson::dom::element;

// In cycles or nanoseconds.
struct Scope {
    std::int64_t start, end;
    StringId name;
    bool async;  // of work that went on while the warp did something else
};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Block {
    std::int64_t first = kNever;
    std::map<std::string, std::vector<Scope>> warps = {};
};

// One scope below the scopes around it, in all warps.
struct Node {
    std::optional<std::int64_t> parent;
    StringId name;
    bool async = false;
    std::int64_t count = 0, first = kNever, last_warp = 0;
    double sum = 0, most = 0, of_warp = 0;  // exact below 2^53; no file makes them overflow

    void add(std::int64_t warp, std::int64_t cycles) {
        if (warp != std::exchange(last_warp, warp)) most = std::max(most, std::exchange(of_warp, 0));
        of_warp += static_cast<double>(cycles), sum += static_cast<double>(cycles);
    }
};

class ScopeReader {
public:
    ScopeReader(Batch& batch, std::string_view file) : batch_(batch), file_(file) {}

    void read(simdjson::dom::array events) {
        for (element event : events) {
            double megahertz = 0;
            if (megahertz_ || event["args"]["Frequency (MHz)"].get(megahertz) != simdjson::SUCCESS || !(megahertz > 0))
                continue;
            megahertz_ = megahertz;
        }
        for (element event : events) {
            std::string_view phase;
            if (event["ph"].get(phase) == simdjson::SUCCESS && phase == "X") take(event);
        }
    }

    void write() {
        for (auto& [name, blocks] : kernels_) {
            const auto kernel = std::ssize(nodes_);
            const std::int64_t before = warps_;
            nodes_.push_back({{}, batch_.intern(name)});
            for (auto& [began, block] : blocks)
                for (auto& [warp, scopes] : block.warps) {
                    batch_.lose_named(Loss::unplaced_scope, "", name, scopes.size());
                    ++warps_;
                    add_up(std::move(scopes), kernel, block.first);
                }
            add_call_metric(batch_, kernel, "blocks", "", static_cast<double>(blocks.size()));
            add_call_metric(batch_, kernel, "warps", "", static_cast<double>(warps_ - before));
        }
        CallNodeTable& table = batch_.tables.call_node;
        for (const Node& node : nodes_) {
            Row row = table.add();
            table.node.set(row, static_cast<std::int64_t>(row));
            set_known(table.parent, row, node.parent);
            table.name.set(row, node.name);
        }
        for (bool async : {false, true})
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                if (nodes_[i].parent && nodes_[i].async == async) add_metrics(static_cast<std::int64_t>(i), nodes_[i]);
    }

private:
    void take(element event) {
        std::string_view category, name, pid, tid;
        double start = 0, cycles = 0;
        bool whole = event["cat"].get(category) == simdjson::SUCCESS && event["name"].get(name) == simdjson::SUCCESS &&
                     event["pid"].get(pid) == simdjson::SUCCESS && event["tid"].get(tid) == simdjson::SUCCESS &&
                     event["ts"].get(start) == simdjson::SUCCESS && event["dur"].get(cycles) == simdjson::SUCCESS;
        const double per_microsecond = megahertz_.value_or(1000);
        start *= per_microsecond, cycles *= per_microsecond;
        constexpr double kMostCycles = 1e15, kMostStart = 4e18, kExact = 1LL << 53;
        if (!whole || !(per_microsecond > 0 && cycles >= 0 && cycles < kMostCycles && std::abs(start) < kMostStart))
            return batch_.lose(Loss::malformed_event, file_);
        // "matmul Core5 CTA1"
        const std::string_view kernel = pid.substr(0, pid.find(" CTA") == pid.npos ? 0 : pid.rfind(" Core"));
        const bool async = category == "async" && kernel != category;
        if (kernel.empty() || (category != kernel && !async))
            return batch_.lose_named(Loss::unknown_event, file_, category);
        // Launches of a kernel have the same blocks; async scopes, which follow those of their block, do not say when it began.
        if (std::int64_t began = 0; event["args"]["Init Time (ns)"].get(began) == simdjson::SUCCESS) began_ = began;
        exact_ &= std::abs(start) < kExact;
        one_line_ &= tid.ends_with("(line 0)");
        const std::int64_t begin = std::llround(start);
        Block& block = kernels_[std::string(kernel)][fmt::format("{} {}", began_, pid)];
        block.first = std::min(block.first, begin);
        block.warps[std::string(tid.substr(0, tid.find(" (line ")))].push_back(
            {begin, begin + std::llround(cycles), batch_.intern(name), async});
    }

    Node& node_of(std::int64_t parent, const Scope& scope) {
        auto [known, fresh] = children_.try_emplace({parent, scope.name, scope.async}, nodes_.size());
        if (fresh) nodes_.push_back({parent, scope.name, scope.async});
        return nodes_[known->second];
    }

    // The scopes of a warp. One is below the one that contains it, which has the cycles that no scope within it covers. Rounded
    // starts do not show what contains what.
    void add_up(std::vector<Scope> scopes, std::int64_t kernel, std::int64_t first) {
        struct Open {
            std::int64_t node, end, covered;
        };
        constexpr std::size_t kMostOpen = 256;
        std::sort(scopes.begin(), scopes.end(), [](const Scope& a, const Scope& b) {
            return std::tuple(a.start, -a.end, a.name) < std::tuple(b.start, -b.end, b.name);
        });
        std::vector<Open> open;
        for (const Scope& scope : scopes) {
            const bool nests = exact_ && !scope.async;
            while (nests && !open.empty() && (open.back().end <= scope.start || open.back().end < scope.end))
                open.pop_back();
            if (nests && open.size() == kMostOpen) {
                batch_.lose(Loss::too_deep, file_);
                continue;
            }
            const bool within = nests && !open.empty();
            Node& node = node_of(within ? open.back().node : kernel, scope);
            node.add(warps_, scope.end - scope.start);
            node.first = std::min(node.first, scope.start - first);
            ++node.count;
            if (within) {
                Open& outer = open.back();
                nodes_[static_cast<std::size_t>(outer.node)].add(
                    warps_, -std::max<std::int64_t>(0, scope.end - std::max(scope.start, outer.covered)));
                outer.covered = std::max(outer.covered, scope.end);
            }
            if (nests) open.push_back({&node - nodes_.data(), scope.end, scope.start});
        }
    }

    void add_metrics(std::int64_t number, const Node& node) {
        const std::string_view what = megahertz_ ? "cycles" : "time", unit = megahertz_ ? "cycles" : "ns";
        const std::string_view with = exact_ || one_line_ ? "" : " (inc)";
        add_call_metric(batch_, number, fmt::format("{}{}{}", node.async ? "asynchronous " : "", what, with), unit,
                        node.sum);
        add_call_metric(batch_, number, fmt::format("most {} of a warp{}", what, with), unit,
                        std::max(node.most, node.of_warp));
        if (exact_) add_call_metric(batch_, number, "earliest start in a block", unit, static_cast<double>(node.first));
        add_call_metric(batch_, number, "count", "", static_cast<double>(node.count));
    }

    Batch& batch_;
    std::string_view file_;
    std::optional<double> megahertz_;
    bool exact_ = true, one_line_ = true;
    std::int64_t began_ = 0, warps_ = 0;
    std::map<std::string, std::map<std::string, Block>> kernels_;
    std::map<std::tuple<std::int64_t, StringId, bool>, std::size_t> children_;
    std::vector<Node> nodes_;  // parents before their children
};

}  // namespace

// More certain than the reader of PyTorch's traces, which have the same outer form.
int sniff_proton_scopes(std::string_view head) {
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    return has("\"traceEvents\"") && has("\"Finalization Time (ns)\"") ? 95 : 0;
}

Status import_proton_scopes(Source& source, TraceBuilder& builder) {
    constexpr std::size_t kDepthOfEvents = 2;
    JsonDocument document;
    Result<element> root = document.read(source, kDepthOfEvents);
    if (!root.ok()) return root.error();
    simdjson::dom::array events;
    if ((*root)["traceEvents"].get(events) != simdjson::SUCCESS)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not a trace of Proton: expected traceEvents", source.name())};
    Batch batch;
    ScopeReader reader(batch, source.name());
    reader.read(events);
    reader.write();
    if (!document.cut().empty()) batch.lose(Loss::truncated, document.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    if (MemoryLimit limit(source); limit.is_below(bytes_of(batch) + document.bytes())) return limit.error();
    builder.set_tool("Proton (warp scopes inside kernels)");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
