// XProf events as rows, independent of the file format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/build/trace_builder.h"
#include "io/importers/xprof/hlo_names.h"

namespace gpuprof::inline importers::xprof {

// A statistic of an event. Texts outlive the event.
struct Stat {
    std::string_view name, text;
    std::optional<std::int64_t> number;
};

struct Event {
    std::string_view name;
    TimeNs start = 0;
    DurNs dur = 0;
    std::vector<Stat> stats;

    const Stat* find(std::string_view name) const;
    std::optional<std::int64_t> number(std::string_view name) const;
    std::string_view text(std::string_view name) const;
};

// Where an event belongs.
struct Line {
    StringId process = kNoString;
    std::optional<std::int32_t> device;  // of a device plane
    std::optional<std::int64_t> stream;  // of a line "Stream #14(...)"; without one, XProf derived the line
    StringId thread = kNoString;         // of a host line
    bool of_recorder = false;            // a line of CUPTI's own threads, "Host Threads/457"
};

// The ordinal in "/device:GPU:0".
std::optional<std::int32_t> device_of(std::string_view plane);

class Rows {
public:
    // `programs` outlives this.
    Rows(Batch& batch, const HloNames& programs) : batch_(batch), programs_(programs) {}

    StringId process(std::int64_t pid, std::string_view host);
    // A line of a device plane, or of the host plane.
    Line line(std::string_view name, std::int64_t id, std::optional<std::int32_t> device, StringId process);
    void add(const Line& line, const Event& event);

private:
    void kernel(const Line& line, const Event& event);
    void origin(Row row, const Event& event);
    void copy(const Line& line, const Event& event);
    void fill(const Line& line, const Event& event);
    void call(const Line& line, const Event& event);
    void allocation(const Line& line, const Event& event, bool release);
    template <class Table>
    Row device_row(Table& table, const Line& line, const Event& event);
    template <class Table>
    Row host_row(Table& table, const Line& line, const Event& event);

    Batch& batch_;
    const HloNames& programs_;
    std::set<std::int64_t> processes_;
};

}  // namespace gpuprof::importers::xprof
