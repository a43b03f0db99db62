// A memory snapshot as rows. Its history and its blocks are two views of one allocator: the blocks are the memory that
// is live when the history ends. So the totals after each event are counted backwards from the blocks. They are right
// even if the history starts late (its length is limited) or memory existed before it. The history has the requested
// sizes; the totals count the allocated blocks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/text/json_writer.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/source/pickle.h"

namespace gpuprof::inline importers::torch {

struct Action;

class Snapshot {
public:
    // Keeps texts of stacks up to `max_stack_bytes`: a small file can refer to one frame any number of times.
    // Creates rows up to `max_bytes`; over_limit() reports the limit: an entry may also be referenced any number of
    // times.
    Snapshot(const Pickle& pickle, Batch& batch, std::size_t max_stack_bytes, std::uint64_t max_bytes)
        : pickle_(pickle), batch_(batch), stack_room_(max_stack_bytes), max_bytes_(max_bytes) {}

    // False if it is not a snapshot.
    bool read();
    bool over_limit() const { return over_limit_; }

private:
    // Bytes in use on a device at the time of the snapshot, in blocks, as torch.cuda.max_memory_allocated() counts.
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
    bool write_json(const PickleValue& value, JsonWriter& json, std::size_t& room, int depth) const;

    const Pickle& pickle_;
    Batch& batch_;
    bool has_room();

    std::size_t stack_room_;
    std::uint64_t max_bytes_, rows_ = 0;
    bool over_limit_ = false;
    std::map<std::int32_t, Live> live_;
    std::map<std::int64_t, StringId> stacks_;  // by the list of frames
};

}  // namespace gpuprof::importers::torch
