// Importers for PyTorch's memory files: snapshots of its CUDA allocator (`torch.cuda.memory._dump_snapshot`, a pickle
// of plain values) and the raw memory timeline of its profiler (`export_memory_timeline`, JSON).
// Formats: pytorch, torch/cuda/memory.py and c10/cuda/CUDACachingAllocator.h; torch/profiler/_memory_profiler.py.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "io/importers/source/memory_limit.h"
#include "io/importers/source/pickle.h"
#include "io/importers/source/read_all.h"
#include "io/importers/torch/snapshot.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::size_t kMaxSnapshotBytes = std::size_t{16} << 30;

// One number of `[[time, action, bytes, category], ...]`; `at` moves past it and its separator.
bool next_number(std::string_view text, std::size_t& at, std::int64_t& value) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',' || text[at] == '\n' || text[at] == '\r')) ++at;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    at = static_cast<std::size_t>(end - text.data());
    return error == std::errc{};
}

bool skip_to(std::string_view text, std::size_t& at, char wanted) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',' || text[at] == '\n' || text[at] == '\r')) ++at;
    return at < text.size() && text[at] == wanted && (++at, true);
}

struct TimelineEvent {
    std::int64_t time, action, bytes, category;
};

// Source: torch/profiler/_memory_profiler.py, _CATEGORY_TO_INDEX; the last one is memory of unknown use.
constexpr std::string_view kCategories[] = {"parameter",  "optimizer_state", "input",           "temporary",
                                            "activation", "gradient",        "autograd_detail", ""};

bool next_event(std::string_view text, std::size_t& at, TimelineEvent& event) {
    return skip_to(text, at, '[') && next_number(text, at, event.time) && next_number(text, at, event.action) &&
           next_number(text, at, event.bytes) && next_number(text, at, event.category) && skip_to(text, at, ']');
}

}  // namespace

int sniff_torch_snapshot(std::string_view head) {
    bool binary = head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
    bool plain = head.starts_with("(d") || head.starts_with("}q");
    bool named = head.find("segments") != head.npos || head.find("device_traces") != head.npos;
    if ((binary || plain) && named) return 90;
    return binary ? 30 : 0;
}

Status import_torch_snapshot(Source& source, TraceBuilder& builder) {
    Result<std::string> bytes = read_all(source, kMaxSnapshotBytes);
    if (!bytes.ok()) return bytes.error();
    auto fail = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", source.name(), why)};
    };
    MemoryLimit limit(source);
    Result<Pickle> pickle = Pickle::read(*bytes, limit.bytes() - std::min<std::uint64_t>(limit.bytes(), bytes->size()));
    if (!pickle.ok() && pickle.error().code == ExitCode::internal) return limit.error();
    if (!pickle.ok()) return fail(pickle.error().message);
    Batch batch;
    constexpr std::size_t kMaxStackBytes = std::size_t{16} << 20;
    torch::Snapshot snapshot(*pickle, batch,
                             kMaxStackBytes + std::min<std::size_t>(64 * bytes->size(), limit.bytes() / 4),
                             limit.bytes() - std::min(limit.bytes(), bytes->size() + pickle->bytes()));
    if (!snapshot.read())
        return fail(pickle->cut().empty() ? "not a PyTorch memory snapshot: the pickle has no segments"
                                          : pickle->cut());
    if (snapshot.over_limit()) return limit.error();
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("torch.cuda.memory");
    builder.append(std::move(batch));
    return {};
}

int sniff_torch_timeline(std::string_view head) {
    std::size_t at = 0;
    TimelineEvent event{};
    bool known = skip_to(head, at, '[') && next_event(head, at, event);
    return known && event.action >= 1 && event.action <= 4 && event.category >= 0 && event.category <= 7 ? 80 : 0;
}

// Memory that existed before the recording has the time -1: it takes the first time of the file.
Status import_torch_timeline(Source& source, TraceBuilder& builder) {
    Result<std::string> text = read_all(source, kMaxSnapshotBytes);
    if (!text.ok()) return text.error();
    std::vector<TimelineEvent> events;
    std::size_t at = 0;
    TimelineEvent event{};
    Batch batch;
    bool begun = skip_to(*text, at, '[');
    constexpr std::size_t kBytesPerEvent = 2 * sizeof event + 64;  // here and as a row
    MemoryLimit limit(source);
    while (begun && next_event(*text, at, event)) {
        events.push_back(event);
        if (limit.is_below(text->size() + events.size() * kBytesPerEvent)) return limit.error();
    }
    if (!begun || !skip_to(*text, at, ']')) batch.lose(Loss::truncated, fmt::format("byte {}", at));
    TimeNs first = std::numeric_limits<TimeNs>::max();
    for (const TimelineEvent& each : events)
        if (each.time >= 0) first = std::min(first, each.time);
    MemoryEventTable& table = batch.tables.memory_event;
    for (const TimelineEvent& each : events) {
        Row row = table.add();
        if (each.time >= 0)
            table.time.set(row, each.time);
        else if (first != std::numeric_limits<TimeNs>::max())
            table.time.set(row, first);
        table.bytes.set(row, each.bytes);
        bool named =
            each.category >= 0 && each.category < std::ssize(kCategories) && !kCategories[each.category].empty();
        if (named) table.category.set(row, batch.intern(kCategories[each.category]));
    }
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("torch.profiler");
    builder.append(std::move(batch));
    return {};
}

// [[time, ...], [[bytes of each category], ...]]: sums at each time in us, instead of events. The first column is unused.
int sniff_torch_rows(std::string_view head) {
    std::size_t at = 0, times = 0;
    std::int64_t number = 0;
    if (!skip_to(head, at, '[') || !skip_to(head, at, '[')) return 0;
    while (next_number(head, at, number)) ++times;
    if (times == 0) return 0;
    // The times of a long recording fill the head.
    if (at >= head.size()) return 60;
    constexpr int kColumns = 9;
    int columns = 0;
    if (!skip_to(head, at, ']') || !skip_to(head, at, '[') || !skip_to(head, at, '[')) return 0;
    while (next_number(head, at, number)) ++columns;
    return columns == kColumns ? 80 : 0;
}

// The difference of two sums becomes an event.
Status import_torch_rows(Source& source, TraceBuilder& builder) {
    constexpr std::int64_t kMostMicros = std::int64_t{1} << 50;
    Result<std::string> text = read_all(source, kMaxSnapshotBytes);
    if (!text.ok()) return text.error();
    std::vector<std::int64_t> times;
    std::int64_t number = 0, held[std::size(kCategories) + 1] = {};
    std::size_t at = 0, row_of_time = 0;
    Batch batch;
    MemoryLimit limit(source);
    bool begun = skip_to(*text, at, '[') && skip_to(*text, at, '[');
    while (begun && next_number(*text, at, number)) times.push_back(number);
    begun = begun && skip_to(*text, at, ']') && skip_to(*text, at, '[');
    MemoryEventTable& table = batch.tables.memory_event;
    while (begun && row_of_time < times.size() && skip_to(*text, at, '[')) {
        std::int64_t time = times[row_of_time++];
        bool near = time > -kMostMicros && time < kMostMicros;
        if (!near) batch.lose(Loss::time_out_of_range, source.name());
        for (std::size_t i = 0; i < std::size(held) && next_number(*text, at, number); ++i) {
            std::int64_t change = 0;
            if (__builtin_sub_overflow(number, held[i], &change) || change == 0 || i == 0 || !near) continue;
            held[i] = number;
            Row row = table.add();
            table.time.set(row, time * 1000);
            table.bytes.set(row, change);
            if (!kCategories[i - 1].empty()) table.category.set(row, batch.intern(kCategories[i - 1]));
        }
        if (!skip_to(*text, at, ']')) break;
        if (limit.is_below(batch, text->size() + times.size() * sizeof times[0])) return limit.error();
    }
    if (row_of_time < times.size() || !skip_to(*text, at, ']')) batch.lose(Loss::truncated, fmt::format("byte {}", at));
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("torch.profiler");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
