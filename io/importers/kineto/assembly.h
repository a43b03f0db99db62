// Combines the blocks of a file in order: accepts blocks parsed on a correct guess, parses the others again, pairs the
// arrows, completes device ops from their calls, and names processes and threads.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "io/importers/kineto/kineto_pipeline.h"

namespace gpuprof::inline importers::kineto {

class Assembly {
public:
    Assembly(std::string_view file, TraceBuilder& builder) : file_(file), builder_(builder) {
        skip_unselected(rest_.tables, builder.selected());
    }

    // Takes the pieces in input order.
    void take(ParsedPiece& piece);
    // After the last piece. Fails if the input was not a trace.
    Status finish();

private:
    void accept(Block& block);
    void take_flow_end(const FlowEnd& end, const Batch& rows);
    void note_threads(const Block& block);
    void number_launches(Tables& tables);
    void finish_late_rows();
    void finish_flows();
    void finish_names();
    void finish_facts();
    void note_devices(Block& block);
    void finish_devices();
    std::string_view main_process() const;
    // Fills a column that has no value yet from the notes of the calls.
    template <class Table, class T, class Value>
    void complete(const Table& table, Column<T>& column, Value value_of);

    std::string_view file_;
    TraceBuilder& builder_;
    State state_ = State::start;
    char before_ = ',';  // the last non-blank byte consumed; a comma means none
    bool is_object_ = false, has_events_ = false, cut_off_ = false, paddle_ = false;
    PaddedBytes pending_;  // bytes of an item that continues in the next piece
    std::uint64_t pending_offset_ = 0;
    std::size_t wanted_ = 0;  // bytes to gather before pending_ is parsed again
    std::uint64_t end_offset_ = 0;

    Batch rest_;  // rows created or completed here
    std::unordered_map<std::int64_t, LaunchNote> notes_;
    std::unordered_map<std::int64_t, FlowEnd> open_flows_[2];  // by whether they begin; threads are of rest_.strings
    std::vector<NameRecord> names_;
    std::map<std::string, std::uint64_t, std::less<>> process_events_;  // host events by process key
    std::set<std::string, std::less<>> threads_;
    std::optional<ProfilerSpan> profiler_span_;
    std::optional<std::int64_t> base_time_, rank_, world_size_;
    std::string host_;
    std::vector<GroupEntry> groups_;
    Batch devices_;  // those of the header
    std::set<std::int32_t> used_devices_;
    std::int64_t launches_ = 0;  // that counters were collected for
    std::uint64_t events_ = 0, labels_ = 0, foreign_ = 0;
    Batch::LossCount foreign_kinds_;
};

}  // namespace gpuprof::importers::kineto
