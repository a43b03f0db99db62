// A memory snapshot as rows. Its history and its blocks are two views of one allocator: what was live when the history ends is what
// the blocks say is live. So the totals after each event are counted backwards from the blocks, and are right also where the
// history begins late (its length is bounded) or where memory was there before it began. The history says what was asked for, the
// totals count the blocks that were given.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/importers/pickle.h"
#include "core/model/trace_builder.h"

namespace gpuprof::torch {

struct Action;

class Snapshot {
public:
    // Texts of stacks are kept up to `most_stack_bytes`, then no more: a small file can name one frame any number of times.
    // Rows are made up to `most_bytes`; then over_limit() tells: one entry may be named any number of times, too.
    Snapshot(const Pickle& pickle, Batch& batch, std::size_t most_stack_bytes, std::uint64_t most_bytes)
        : pickle_(pickle), batch_(batch), stack_room_(most_stack_bytes), most_bytes_(most_bytes) {}

    // False when it is no snapshot.
    bool read();
    bool over_limit() const { return over_limit_; }

private:
    // In use on a device when the snapshot was taken, in blocks, as torch.cuda.max_memory_allocated() counts.
    struct Live {
        std::int64_t allocated = 0, reserved = 0;
        std::unordered_map<std::int64_t, std::int64_t> blocks;  // size by address
    };
    void read_segment(const PickleValue& segment);
    void read_block(const PickleValue& segment, const PickleValue& block, std::int64_t& address);
    void read_history(std::int32_t device, const PickleValue& events);
    std::vector<const Action*> actions_of(std::span<const PickleValue> entries);
    std::vector<std::int64_t> block_sizes(std::span<const PickleValue> entries,
                                          const std::vector<const Action*>& actions, const Live& live) const;
    Row write_event(std::int32_t device, const PickleValue& entry);
    void read_settings();
    StringId stack_of(const PickleValue& frames);

    const Pickle& pickle_;
    Batch& batch_;
    bool has_room();

    std::size_t stack_room_;
    std::uint64_t most_bytes_, rows_ = 0;
    bool over_limit_ = false;
    std::map<std::int32_t, Live> live_;
    std::map<std::int64_t, StringId> stacks_;  // by the list of frames
};

}  // namespace gpuprof::torch
