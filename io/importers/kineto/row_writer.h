// From an Event to rows: which table a category fills, and which field fills which column.
// One writer fills one Block; it remembers the most recent names and threads, because they repeat.
// Kineto does not record the process of a device op; TraceBuilder finds it through the submitting call.
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/text/rank_list.h"
#include "io/importers/kineto/block.h"
#include "io/importers/kineto/event.h"

namespace gpuprof::inline importers::kineto {

class RowWriter {
public:
    // `file` is used in the places of losses.
    RowWriter(std::string_view file, Block& block) : file_(file), block_(block) {}

    // Writes the event at byte `offset` of the (decompressed) input.
    void write(const Event& event, std::uint64_t offset);
    // Counts a loss at byte `offset`.
    void lose(Loss loss, std::uint64_t offset);

private:
    struct Span {
        TimeNs start;
        DurNs dur;
    };
    struct HostThread {
        StringId thread, process;
    };

    void write_complete(const Event& event);
    void write_op(const Event& event, Span span);
    void write_range(const Event& event, Span span);
    void write_call(const Event& event, Span span, std::string_view api);
    void write_python_call(const Event& event, Span span);
    void write_overhead(const Event& event, Span span);
    void write_kernel(const Event& event, Span span);
    void write_memcpy(const Event& event, Span span);
    void write_memset(const Event& event, Span span);
    void write_sync(const Event& event, Span span);
    void write_device_range(const Event& event, Span span);
    void write_profiler_range(const Event& event);
    void write_collective(const Event& event, bool on_device);
    void write_gloo_collective(const Event& event);
    void write_memory_event(const Event& event);
    void write_counter(const Event& event);
    void write_flow(const Event& event, bool begins);
    void write_name(const Event& event);
    void write_note(const Event& event);
    void write_foreign(const Event& event);
    std::string place(std::uint64_t offset) const;

    // Columns that kernel, memcpy and memset share.
    template <class Table>
    void put_device_op(Table& table, Row row, const Event& event, Span span);

    bool read_time(const Event& event, Field field, std::int64_t& ns);
    bool read_span(const Event& event, Span& span);
    std::optional<std::int64_t> integer(const Event& event, Field field, bool bits = false);
    template <class T>
    void put(Column<T>& column, Row row, const Event& event, Field field);
    template <class T>
    void put_ordinal(Column<T>& column, Row row, const Event& event, Field field);
    void put_text(Column<StringId>& column, Row row, const Event& event, Field field, Batch& batch);
    void put_splits(Column<StringId>& column, Row row, const Event& event, Field field);
    void put_flag(Column<std::int32_t>& column, Row row, const Event& event, Field field);
    void put_ranks(CollectiveTable& collective, Row row, const Event& event);
    void put_root(CollectiveTable& collective, Row row, const Event& event, const std::optional<RecordedRanks>& listed,
                  const std::optional<EvenRanks>& even);
    std::optional<EvenRanks> evenly_spaced(const Event& event);
    void put_shape(Column<std::int32_t>* const (&columns)[3], Row row, const Event& event, Field field);
    void put_device(Column<std::int32_t>& column, Row row, const Event& event);
    void put_stream(Column<std::int64_t>& column, Row row, const Event& event);

    // The text of a string field, decoded; valid until the next call.
    std::string_view decoded(const Event& event, Field field);
    StringId intern(std::string_view text);
    // Keys of the thread that an event names, and their rows in the tables of threads and processes.
    HostThread host_thread(const Event& event);
    void add_thread(std::string_view pid, std::string_view tid, HostThread keys);

    std::string_view file_;
    Block& block_;
    std::uint64_t offset_ = 0;
    std::string scratch_, key_;

    std::string last_pid_, last_tid_;
    HostThread last_thread_{kNoString, kNoString};
    std::vector<bool> known_threads_, known_processes_;  // by StringId

    struct CachedName {
        const char* data = nullptr;
        std::size_t size = 0;
        StringId id = kNoString;
    };
    std::array<CachedName, 512> names_{};
};

// Puts an integer field into a column; missing or out-of-range values stay absent.
template <class T>
[[gnu::always_inline]] inline void RowWriter::put(Column<T>& column, Row row, const Event& event, Field field) {
    if (column.is_skipped()) return;
    std::optional<std::int64_t> value = integer(event, field);
    if (!value) return;
    if (*value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max())
        return lose(Loss::bad_number, offset_);
    column.set(row, static_cast<T>(*value));
}

}  // namespace gpuprof::importers::kineto
