// Importer for the Chrome trace of Proton's instrumentation inside kernels (Triton): scopes of warps, in cycles of the
// multiprocessor's clock. The category is the kernel's name, a process is a block on a core, a thread a warp. These are no
// kernels: they become a tree of each kernel's scopes, with the cycles of all warps.
// Format: triton, third_party/proton/csrc/lib/TraceDataIO/TraceWriter.cpp (StreamChromeTraceWriter).
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "io/importers/row_values.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

using simdjson::dom::element;

struct ScopeCycles {
    std::int64_t sum = 0, most = 0, count = 0;
};

struct ScopesOfKernel {
    std::map<std::string, ScopeCycles, std::less<>> scopes;
    std::set<std::string, std::less<>> blocks, warps;  // a warp with its block
};

std::int64_t add_node(Batch& batch, std::string_view name, std::optional<std::int64_t> parent) {
    CallNodeTable& table = batch.tables.call_node;
    Row row = table.add();
    table.node.set(row, static_cast<std::int64_t>(row));
    set_known(table.parent, row, parent);
    table.name.set(row, batch.intern(name));
    return static_cast<std::int64_t>(row);
}

void add_metric(Batch& batch, std::int64_t node, std::string_view metric, std::string_view unit, std::int64_t value) {
    CallMetricTable& table = batch.tables.call_metric;
    Row row = table.add();
    table.node.set(row, node);
    table.metric.set(row, batch.intern(metric));
    set_text(batch, table.unit, row, unit);
    table.value.set(row, static_cast<double>(value));
}

}  // namespace

// More certain than the reader of PyTorch's traces, which have the same outer form.
int sniff_proton_scopes(std::string_view head) {
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    return has("\"traceEvents\"") && has("\"Finalization Time (ns)\"") && has("\"Frequency (MHz)\"") ? 95 : 0;
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
    std::map<std::string, ScopesOfKernel, std::less<>> kernels;
    for (element event : events) {
        std::string_view phase, kernel, name, block, warp;
        double micros = 0;
        if (event["ph"].get(phase) != simdjson::SUCCESS || phase != "X") continue;
        bool whole = event["cat"].get(kernel) == simdjson::SUCCESS && event["name"].get(name) == simdjson::SUCCESS &&
                     event["dur"].get(micros) == simdjson::SUCCESS;
        constexpr double kMostCycles = 1e15;
        double cycles = micros * 1000;
        if (!whole || !(cycles >= 0 && cycles < kMostCycles)) {
            batch.lose(Loss::malformed_event, source.name());
            continue;
        }
        ScopesOfKernel& of = kernels.try_emplace(std::string(kernel)).first->second;
        if (event["pid"].get(block) == simdjson::SUCCESS && event["tid"].get(warp) == simdjson::SUCCESS) {
            of.blocks.emplace(block);
            of.warps.insert(fmt::format("{} {}", block, warp));
        }
        ScopeCycles& scope = of.scopes.try_emplace(std::string(name)).first->second;
        auto exact = static_cast<std::int64_t>(std::llround(cycles));
        scope.sum += exact;
        scope.most = std::max(scope.most, exact);
        ++scope.count;
    }
    for (const auto& [kernel, of] : kernels) {
        std::int64_t node = add_node(batch, kernel, std::nullopt);
        add_metric(batch, node, "blocks", "", static_cast<std::int64_t>(of.blocks.size()));
        add_metric(batch, node, "warps", "", static_cast<std::int64_t>(of.warps.size()));
        for (const auto& [name, scope] : of.scopes) {
            std::int64_t child = add_node(batch, name, node);
            add_metric(batch, child, "cycles", "cycles", scope.sum);
            add_metric(batch, child, "most cycles of a warp", "cycles", scope.most);
            add_metric(batch, child, "count", "", scope.count);
        }
    }
    if (!document.cut().empty()) batch.lose(Loss::truncated, document.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    if (MemoryLimit limit(source); limit.is_below(bytes_of(batch) + document.bytes())) return limit.error();
    builder.set_tool("Proton (warp scopes inside kernels)");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
