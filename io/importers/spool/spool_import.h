// Decodes the raw chunks that the collector of one process wrote (core/format/spool.h) into tables. Joins are left to
// the trace's links: here ids become names and records become rows. Annotations that a killed process left open end at
// its last known time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/format/chunk_reader.h"
#include "core/format/cupti_records.h"
#include "core/format/spool.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/spool/native_names.h"
#include "io/importers/spool/spool_annotations.h"
#include "io/importers/spool/spool_clock.h"
#include "io/importers/spool/spool_launch_stacks.h"
#include "io/importers/spool/spool_steps.h"
#include "io/importers/spool/spool_stream_calls.h"

namespace gpuprof::inline importers {

class SpoolDecoder {
public:
    SpoolDecoder(Batch& batch, std::string file, CodeFiles code = CodeFiles::closed);

    static bool takes(const ChunkHeader& header);
    // Whether a chunk of kind spool_process begins another part of the same process (core/format/spool.h).
    bool is_continued_by(std::string_view process) const;
    // Takes a chunk of its kinds; an invalid one is counted as damaged.
    void take(const RawChunk& chunk);
    // After the last chunk of the process.
    void finish();

private:
    void take_process(std::string_view payload);
    void continue_with(std::uint64_t part);
    bool take_activity(std::string_view payload);
    bool take_names(std::string_view payload);
    bool take_host_events(std::string_view payload);
    bool take_stream_call(std::string_view bytes);
    bool take_clock(std::string_view payload);
    bool take_facts(std::string_view payload);
    bool take_windows(std::string_view payload);
    bool take_lost(std::string_view payload);
    bool has_times(const cupti::Record& record, cupti::Field<std::uint64_t> start, cupti::Field<std::uint64_t> end,
                   const char* kind);
    void add_kernel(const cupti::Record& record);
    void add_memcpy(const cupti::Record& record);
    void add_memcpy_p2p(const cupti::Record& record);
    void add_memset(const cupti::Record& record);
    void add_api(const cupti::Record& record, spool::NameSpace space, std::string_view api);
    void add_overhead(const cupti::Record& record);
    void add_device(const cupti::Record& record);
    void add_sync(const cupti::Record& record);
    void add_memory(const cupti::Record& record);
    void add_jit(const cupti::Record& record);
    void add_graph(const cupti::Record& record, bool by_device);
    void add_host_function(const cupti::Record& record, bool node);
    void add_threads();
    void add_facts();
    void align_clocks();
    std::optional<Row> call_of(std::uint32_t correlation);
    bool in_window(TimeNs start, DurNs dur) const;
    void leave_out_what_is_outside();
    void keep_only_steps();
    void forget_losses_before();
    void count_left_out();
    void name_allocator(Row event, std::uint32_t correlation);
    void resolve_external();

    StringId thread_key(std::uint32_t thread);
    StringId kernel_name(std::uint64_t address);
    StringId function_name(spool::NameSpace space, std::uint32_t cbid);
    void seen(TimeNs time) { last_time_ = std::max(last_time_, time); }
    std::string where(const RawChunk& chunk) const;

    Batch& batch_;
    std::string file_;
    CodeFiles code_;
    std::string process_ = "unknown process";
    StringId process_key_ = kNoString;
    std::string pid_, first_part_;  // of a process with several parts; else ""
    std::uint64_t part_ = 0;        // the number of the one being read
    std::string boot_id_;
    TimeNs last_time_ = 0;
    std::unordered_map<std::uint64_t, StringId> pointers_;
    std::unordered_map<std::uint64_t, StringId> functions_;  // space and callback id
    std::unordered_map<std::uint32_t, StringId> threads_;
    std::vector<std::pair<Row, std::uint32_t>> allocations_;  // memory_event and correlation of its call
    std::unordered_map<std::int64_t, Row> call_of_;           // by correlation
    std::map<std::string_view, std::uint64_t> left_out_;      // records without times, by the fact that counts them
    std::uint64_t whole_graphs_ = 0;
    std::map<std::string, std::string> facts_;
    std::uint32_t recorder_thread_ = 0;  // 0: unknown
    std::uint64_t recorder_calls_ = 0;   // dropped
    std::vector<SpoolClock> clocks_;
    std::map<TimeNs, TimeNs> windows_;  // when the window was open, start and end; 0: it had not closed
    bool only_windows_ = false;         // rows outside all windows are dropped, even without any window
    SpoolSteps steps_;
    SpoolAnnotations annotations_;
    SpoolStreamCalls stream_calls_;
    SpoolLaunchStacks launch_stacks_;
    SpoolGraphNodes graph_nodes_;
    std::unordered_map<std::uint32_t, std::int64_t> external_;  // by correlation
    SpoolRows first_;                                           // of this process
    std::map<spool::Lost, std::uint64_t> lost_, lost_before_;   // so far; as the first part says
    std::uint64_t missing_parts_ = 0;
};

}  // namespace gpuprof::importers
