// Part of the nsys importer: thread stacks at the times when the recorder sampled the CPUs. A sample is a row of
// COMPOSITE_EVENTS; its frames are rows of SAMPLING_CALLCHAINS with its id, the innermost with depth 0. Likewise the stacks of
// CUDA calls, whose frames are rows of CUDA_CALLCHAINS.
#include <algorithm>
#include <vector>

#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/spool/native_names.h"

namespace gpuprof::inline importers::nsys {
namespace {

struct Frame {
    std::int64_t chain, depth;
    StringId text;
    bool operator<(const Frame& other) const {
        return chain != other.chain ? chain < other.chain : depth > other.depth;  // outermost first
    }
};

// A row of a few bytes refers to a symbol of any length, and each stack writes its symbols out. Names are truncated so
// that a small file cannot become a large recording.
constexpr std::size_t kMaxSymbolLength = 400;

// ";" separates the frames of a stack.
std::string frame_text(std::string_view symbol, std::string_view module) {
    std::string text(symbol.substr(0, kMaxSymbolLength));
    if (text.size() < symbol.size()) text += "...";
    module = module.substr(module.rfind('/') + 1);
    module = module.substr(0, kMaxSymbolLength);
    if (!module.empty()) text.append(" (").append(module).append(")");
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

}  // namespace

StringId Reader::frame(std::optional<std::int64_t> symbol, std::string_view place) {
    return batch_.intern(frame_text(symbol ? text(symbol) : "?", place));
}

Reader::Stacks Reader::stacks_in(const char* table, ChainsOf of) {
    std::vector<Frame> frames;
    {
        Scan rows = scan(table);
        auto id = rows.column("id"), symbol = rows.column("symbol"), module = rows.column("module"),
             depth = rows.column("stackDepth");
        struct Named {
            StringId text = kNoString;
            bool launching = false;
        };
        std::map<std::pair<std::int64_t, std::int64_t>, Named> known;  // by symbol and module
        while (rows.next()) {
            auto chain = rows.integer(id), what = rows.integer(symbol), where = rows.integer(module);
            auto [at, added] = known.try_emplace({what.value_or(-1), where.value_or(-1)});
            if (added) {
                std::string_view function = what ? text(what) : "?", file = text(where);
                at->second = {frame(what, file), is_launching(function, file.substr(file.rfind('/') + 1))};
            }
            if (chain && !(of == ChainsOf::calls && at->second.launching))
                frames.push_back({*chain, rows.integer(depth).value_or(0), at->second.text});
        }
    }
    if (!std::is_sorted(frames.begin(), frames.end())) std::sort(frames.begin(), frames.end());

    Stacks stacks;
    std::uint64_t stack_bytes = 0;  // a row of a few bytes refers to a symbol of hundreds
    for (auto first = frames.begin(), last = first; first != frames.end(); first = last) {
        std::string stack;
        if (stack_bytes > database_.max_memory() / 4) {
            batch_.lose(Loss::too_deep, table);
            break;
        }
        for (; last != frames.end() && last->chain == first->chain; ++last)
            stack.append(last == first ? "" : ";").append(batch_.strings[last->text]);
        stack_bytes += stack.size();
        stacks[first->chain] = {batch_.intern(stack), static_cast<std::int32_t>(last - first)};
    }
    return stacks;
}

void Reader::read_stacks() {
    Stacks stacks = stacks_in("SAMPLING_CALLCHAINS", ChainsOf::samples);
    Scan rows = scan("COMPOSITE_EVENTS");
    auto id = rows.column("id"), start = rows.column("start"), thread = rows.column("globalTid");
    StackSampleTable& table = batch_.tables.stack_sample;
    while (rows.next()) {
        auto at = times(rows, start, start);
        if (!at) continue;
        Row row = table.add();
        table.time.set(row, at->first);
        if (auto global = rows.integer(thread)) {
            Host sampled = host(*global);
            table.process.set(row, sampled.process);
            table.thread.set(row, sampled.thread);
        }
        auto sample = rows.integer(id);
        auto known = sample ? stacks.find(*sample) : stacks.end();
        if (known == stacks.end()) continue;
        table.stack.set(row, known->second.text);
        table.depth.set(row, known->second.depth);
    }
}

}  // namespace gpuprof::importers::nsys
