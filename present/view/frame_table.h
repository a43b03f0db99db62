// The distinct frames of call stacks under construction. Private to call_stacks.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/trace.h"
#include "present/view/plain_name.h"
#include "present/view/scene.h"
#include "present/view/stack_frame.h"

namespace gpuprof::inline view {

class FrameTable {
public:
    // Adds frames and names to `stacks`, which must outlive the table.
    FrameTable(const Trace& trace, CallStacks& stacks)
        : trace_(trace), stacks_(stacks), plain_(trace.strings().size(), kNoString) {}

    // A thread has a frame of its own, even if another has the same name.
    std::uint32_t thread(std::string_view name) {
        return add({kNoFrame, SliceTable::none, stacks_.names.intern(name)});
    }
    // A function of a recorded stack.
    std::uint32_t function(std::uint32_t parent, std::string_view name) {
        return known_or_new({parent, SliceTable::python_call, stacks_.names.intern(name)});
    }
    // The same event below another frame.
    std::uint32_t moved(std::uint32_t frame, std::uint32_t parent) {
        StackFrame copy = stacks_.frames[frame];
        copy.parent = parent;
        return known_or_new(copy);
    }
    // The frame of a slice: an event without a name is called like its lane.
    std::uint32_t of(std::uint32_t parent, const Lane& lane, StringId name = kNoString) {
        return known_or_new({parent, lane.table, name == kNoString ? stacks_.names.intern(lane.label) : plain(name)});
    }

private:
    struct Key {
        std::uint32_t parent;
        SliceTable table;
        StringId name;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t bits =
                (std::uint64_t{key.parent} << 32 | index_of(key.name)) + static_cast<std::uint64_t>(key.table);
            return static_cast<std::size_t>((bits * 0x9e37'79b9'7f4a'7c15) >> 16);
        }
    };
    std::uint32_t known_or_new(const StackFrame& frame) {
        auto [found, added] = known_.try_emplace(Key{frame.parent, frame.table, frame.name}, kNoFrame);
        if (added) found->second = add(frame);
        return found->second;
    }
    std::uint32_t add(const StackFrame& frame) {
        stacks_.frames.push_back(frame);
        return static_cast<std::uint32_t>(stacks_.frames.size() - 1);
    }
    StringId plain(StringId name) {
        StringId& known = plain_[index_of(name)];
        if (known == kNoString) known = stacks_.names.intern(plain_name(trace_.text(name)));
        return known;
    }

    const Trace& trace_;
    CallStacks& stacks_;
    std::vector<StringId> plain_;  // by name in the trace
    std::unordered_map<Key, std::uint32_t, Hash> known_;
};

}  // namespace gpuprof::view
