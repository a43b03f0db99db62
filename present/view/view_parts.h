// The parts of a document: the entries of its manifest and the contents of its blobs.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "present/view/answer_json.h"
#include "present/view/call_stacks.h"
#include "present/view/chunk_sums.h"
#include "present/view/event_tables.h"
#include "present/view/levels.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {

inline constexpr std::size_t kChunkRows = 8192;  // of tables
inline constexpr std::size_t kLaneRows = 4096;   // of lanes: a measured range reads the whole chunks at its ends

// The rows that a blob contains.
struct Blob {
    enum Kind : std::uint8_t {
        kLane,
        kStacks,
        kTable,
        kNames,
        kFrames,
        kCuts,
        kSums,
        kReport,
        kBusyShares,
        kKernel,
        kJob,
        kCells,
        kStep,
        kRows
    } kind;
    std::uint32_t of = 0;     // index of the lane, table, kernel, quantity or step of a job, long table
    std::uint32_t level = 0;  // of a lane; 0: the events
    std::size_t first = 0, count = 0;
};

// A distinct name of one table.
struct NameTotal {
    std::int64_t count = 0;
    DurNs total = 0;
    TimeNs first = 0, last = 0;
};

struct ViewParts {
    // The timeline: everything but the answer.
    ViewParts(Trace rebase_to_start, std::optional<Trace> job, const Options& options);
    // Computes call stacks, once, on another thread, which has the priority of the calling one.
    void start_stacks() const;
    // For them, before anything is added.
    void wait() const;
    // Its blobs follow those of the timeline. Releases the facts.
    void add_answer(AnswerJson answer);

    Trace trace;
    std::optional<Trace> summaries;  // the summaries that the answer is about; absent: the trace
    const Trace& answered() const { return summaries ? *summaries : trace; }
    std::unique_ptr<Facts> facts;  // until the answer is there
    Scene scene;
    AnswerJson answer;   // empty until it is there
    StringPool strings;  // the trace's, and names of causes
    std::vector<EventTable> tables;
    std::vector<LaneParts> lanes;  // as in the scene; of levels with many items, only the chunks
    std::unique_ptr<LongTableRows> long_rows;
    std::map<std::pair<SliceTable, StringId>, NameTotal> names;
    std::vector<Blob> blobs;
    std::vector<std::size_t> first_blob_of_table, first_blob_of_long_table;
    std::size_t first_blob_of_kernels = 0, iterations = 0;
    std::vector<std::size_t> blob_of_cells, blob_of_steps;  // of a job
    std::size_t early = 0;                                  // number of blobs for the first frame
    bool has_stacks = false;                                // whether there are events with call stacks

    // Both start what they need, and wait until it is known. Thread-safe. Only with `has_stacks`: `sums`.
    const CallStacks& stacks() const {
        start_stacks();
        return computed_.get().stacks;
    }
    const ChunkSums& sums() const {
        start_stacks();
        return computed_.get().sums;
    }

private:
    struct Stacks {
        CallStacks stacks;
        ChunkSums sums;
    };
    mutable std::once_flag started_;
    mutable std::shared_future<Stacks> computed_;  // reads everything above
    void arrange_lanes(std::size_t first, std::size_t last);
    void count_names();
    void number_timeline();
    void number_job();
    void number_events();
    void number_level(std::uint32_t lane, std::size_t level);
};

std::string manifest_of(const ViewParts& parts, std::string_view version, TimeNs time_origin);
std::string encode_blob(const ViewParts& parts, std::size_t id, EncodingGoal goal);

}  // namespace gpuprof::view
