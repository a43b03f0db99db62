// Fuzz target of the annotations of a spool: a chunk as it is, or events made of choices, six bytes each. Of those every push, start and
// mark is a range, with a duration that is not negative, whatever else is open, lost or closed twice.
#include <cstring>
#include <string>

#include "io/importers/spool/spool_import.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/spooled.h"

namespace gpuprof::fuzz {
namespace {

using spool::HostEvent;
using spool::HostEventOp;
using spool::StreamCall;
using spool::StreamCallKind;
using spool::TextKind;

constexpr std::size_t kThreads = 4, kOps = 16;  // all operations, and one that does not exist

template <class T>
void append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A call about streams with what was chosen for an event.
StreamCall call_like(const HostEvent& event) {
    StreamCall call{};
    call.bytes = sizeof call;
    call.op = HostEventOp::stream_call;
    call.kind = static_cast<StreamCallKind>(event.detail % 6u);
    call.time = event.time, call.end = event.time + event.text;
    call.event = event.range;
    call.stream = event.domain == 0 ? StreamCall::kNoStream : static_cast<std::uint32_t>(event.domain);
    call.correlation = static_cast<std::uint32_t>(event.time % 16u);
    return call;
}

struct MadeEvents {
    std::string payloads[kThreads];
    std::size_t ranges = 0;
};

MadeEvents events_of(Choices& choices) {
    MadeEvents made;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) append(made.payloads[thread], thread + 1);
    std::uint64_t time = 1;
    while (!choices.empty()) {
        std::uint32_t what = choices.byte(), who = choices.byte();
        std::string_view text = choices.take(choices.byte() % 16u);
        HostEvent event{};
        event.op = static_cast<HostEventOp>(what % kOps);
        event.text_kind = static_cast<TextKind>(what / kOps % 4);
        event.detail = static_cast<std::uint16_t>(who >> 5u);
        event.time = time += choices.byte();
        event.domain = who / kThreads % 4;
        event.range = choices.byte() % 8u;
        event.text = event.text_kind == TextKind::inline_text ? text.size() : choices.byte() % 8u;
        event.bytes = static_cast<std::uint32_t>(sizeof event + (text.size() + 7) / 8 * 8);
        std::string& payload = made.payloads[who % kThreads];
        if (event.op == HostEventOp::stream_call) {
            append(payload, call_like(event));
            payload.resize((payload.size() + 3) / 8 * 8 + 4);
            continue;
        }
        append(payload, event);
        payload += text;
        payload.resize((payload.size() + 3) / 8 * 8 + 4);
        made.ranges += event.op == HostEventOp::push || event.op == HostEventOp::start || event.op == HostEventOp::mark;
    }
    return made;
}

}  // namespace

void run_nvtx(std::string_view bytes) {
    Choices choices(bytes);
    bool made_here = choices.byte() % 2 == 1;
    Spooled spooled;
    std::size_t ranges = 0;
    if (made_here) {
        MadeEvents made = events_of(choices);
        for (const std::string& payload : made.payloads) spooled.take(ChunkKind::spool_nvtx, payload);
        ranges = made.ranges;
    } else {
        spooled.take(ChunkKind::spool_nvtx, choices.rest());
    }
    Batch batch = std::move(spooled).finish();
    const RangeTable& table = batch.tables.range;
    if (made_here) {
        promise(lost(batch, Loss::damaged_chunk) == 0, "events in order are not damaged");
        promise(table.rows == ranges, "every push, start and mark is a range");
    }
    for (Row row = 0; row < table.rows; ++row) promise(table.dur[row] >= 0, "no range is shorter than nothing");
    Trace trace = trace_of(std::move(batch));
    promise(trace.range().rows >= ranges, "no range is dropped behind the importer");
}

}  // namespace gpuprof::fuzz
