// Fuzz target of the reader of CUPTI's activity records. The first byte chooses: a buffer as it is, or records of any kind, of the lengths
// of CUPTI 13 or cut, with the bytes that follow. Of those each is a row, or counted: without times, unfinished.
#include <string>

#include "core/format/cupti_records.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/spooled.h"

namespace gpuprof::fuzz {
namespace {

using cupti::Kind;

struct Length {
    Kind kind;
    std::uint32_t bytes;
};
constexpr Length kLengths[] = {{Kind::memcpy, 96},
                               {Kind::memset, 88},
                               {Kind::driver, 40},
                               {Kind::runtime, 40},
                               {Kind::device, 160},
                               {Kind::context, 48},
                               {Kind::concurrent_kernel, 208},
                               {Kind::marker, 56},
                               {Kind::overhead, 56},
                               {Kind::memcpy_p2p, 96},
                               {Kind::stream, 24},
                               {Kind::synchronization, 56},
                               {Kind::external_correlation, 24},
                               {Kind::memory2, 128},
                               {Kind::graph_trace, 56},
                               {Kind::jit, 64}};

void append(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

// Of work and calls: those that have times, or are counted because they have none.
bool is_counted(Kind kind) {
    return kind == Kind::memcpy || kind == Kind::memset || kind == Kind::driver || kind == Kind::runtime ||
           kind == Kind::concurrent_kernel || kind == Kind::memcpy_p2p || kind == Kind::graph_trace;
}

std::string records_of(Choices& choices, bool cut, std::size_t& counted) {
    std::string payload;
    append(payload, std::size(kLengths));
    auto length_of = [&](const Length& each) { return cut ? each.bytes / 2 / 8 * 8 : each.bytes; };
    for (const Length& each : kLengths) {
        append(payload, static_cast<std::uint32_t>(each.kind));
        append(payload, length_of(each));
    }
    while (!choices.empty()) {
        const Length& each = kLengths[choices.byte() % std::size(kLengths)];
        append(payload, static_cast<std::uint32_t>(each.kind));
        std::string_view fields = choices.take(length_of(each) - sizeof(std::uint32_t));
        payload += fields;
        payload.append(length_of(each) - sizeof(std::uint32_t) - fields.size(), '\0');
        counted += is_counted(each.kind);
    }
    return payload;
}

}  // namespace

void run_cupti(std::string_view bytes) {
    Choices choices(bytes);
    std::uint32_t form = choices.byte() % 4u;
    std::size_t counted = 0;
    std::string payload = form < 2 ? std::string(choices.rest()) : records_of(choices, form == 3, counted);
    Spooled spooled;
    spooled.take(ChunkKind::spool_activity, payload);
    Batch batch = std::move(spooled).finish();
    if (form >= 2) {
        const Tables& tables = batch.tables;
        std::size_t rows = tables.kernel.rows + tables.memcpy.rows + tables.memset.rows + tables.api_call.rows;
        promise(lost(batch, Loss::damaged_chunk) == 0, "whole records are not damaged");
        promise(rows + lost(batch, Loss::untimed_op) + lost(batch, Loss::unfinished_op) == counted,
                "every record of work is a row, or counted");
    }
    Trace trace = trace_of(std::move(batch));
    promise(trace.links().kernel_launch.size() == trace.kernel().rows, "every kernel has its place among the links");
}

}  // namespace gpuprof::fuzz
