#include "io/importers/spool/spool_launch_stacks.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "io/importers/spool/native_names.h"

namespace gpuprof::inline importers {
namespace {

struct Frame {
    NativeNames::Name name;
    std::uint64_t address = 0;
};

// Innermost first.
std::vector<Frame> native_frames(std::string_view lines, NativeNames& names) {
    std::vector<Frame> frames;
    std::string_view path;
    while (!lines.empty()) {
        std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        std::size_t plus = line.rfind("+0x");
        std::uint64_t address = 0;
        if (plus == std::string_view::npos) break;  // cut, or damaged
        const char* end = line.data() + line.size();
        if (std::from_chars(line.data() + plus + 3, end, address, 16).ptr != end) break;
        if (plus > 0) path = line.substr(0, plus);
        frames.push_back({names.of(path, address), address});
    }
    return frames;
}

}  // namespace

std::string launch_stack_text(std::string_view stack, NativeNames& names) {
    std::string_view python = stack.substr(0, stack.find('\n'));
    std::vector<Frame> frames = native_frames(stack.substr(std::min(python.size() + 1, stack.size())), names);
    std::size_t begin = 0, end = frames.size();
    while (begin < end && is_launching(frames[begin].name.function, frames[begin].name.module)) ++begin;
    if (!python.empty())
        for (std::size_t i = begin; i < end; ++i)
            if (is_interpreter(frames[i].name.function, frames[i].name.module)) end = i;
    while (end > begin && starts_thread(frames[end - 1].name.function, frames[end - 1].name.module)) --end;
    std::string text(python);
    for (std::size_t i = end; i-- > begin;) {
        if (!text.empty()) text += ';';
        text += NativeNames::text(frames[i].name, frames[i].address);
    }
    return text;
}

void SpoolLaunchStacks::add_stack(const spool::HostEvent& event, std::string_view text) { stacks_[event.range] = text; }

void SpoolLaunchStacks::add_launch(const spool::HostEvent& event) {
    launches_[static_cast<std::int64_t>(event.domain)] = event.range;
}

void SpoolLaunchStacks::finish(Batch& batch, Row first, NativeNames names) const {
    std::unordered_map<std::uint64_t, StringId> texts;
    ApiCallTable& calls = batch.tables.api_call;
    if (launches_.empty()) return;
    for (Row row = first; row < calls.rows; ++row) {
        auto launch = launches_.find(calls.correlation.value_or(row, -1));
        StringId text = launch == launches_.end() ? kNoString : text_of(batch, launch->second, names, texts);
        if (text != kNoString) calls.stack.set(row, text);
    }
}

StringId SpoolLaunchStacks::text_of(Batch& batch, std::uint64_t stack, NativeNames& names,
                                    std::unordered_map<std::uint64_t, StringId>& known) const {
    auto found = stacks_.find(stack);
    if (found == stacks_.end()) return kNoString;
    auto [text, added] = known.try_emplace(stack, kNoString);
    if (added) text->second = batch.intern(launch_stack_text(found->second, names));
    return text->second;
}

}  // namespace gpuprof::importers
