// The lines of an nvidia-smi log as samples. The last header defines the columns; other lines between rows are counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/trace_builder.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline importers::smi_log {

struct LogColumn {
    enum class Kind { ignored, time, date, clock, index, uuid, bus, name, metric, other } kind = Kind::ignored;
    Metric metric{};
    std::string title, unit;  // of other
};

// Columns of a header line of a query or of dmon; empty if it is neither.
std::optional<std::vector<LogColumn>> header_of(std::string_view line);

class Log {
public:
    explicit Log(Batch& batch) : batch_(batch) {}

    void take(std::string_view line, std::uint64_t number);
    bool any() const { return !columns_.empty(); }
    // What the reader must know about the times; "" if nothing.
    std::string_view about_times() const;

private:
    struct Moment {
        std::optional<TimeNs> time;
        std::int32_t device = -1;
    };
    bool take_units(std::string_view line);
    void describe(const std::vector<std::string>& cells, std::int32_t device);
    std::int32_t device_of(const std::vector<std::string>& cells);
    std::optional<TimeNs> time_of(const std::vector<std::string>& cells) const;
    void sample(const Moment& at, const LogColumn& column, const std::string& cell, std::uint64_t number);

    Batch& batch_;
    std::vector<LogColumn> columns_;
    bool dmon_ = false;
    std::map<std::string, std::int32_t> known_;  // uuid, bus id or name -> device
    std::map<std::int32_t, bool> described_;
    bool timed_ = false, untimed_ = false;
};

}  // namespace gpuprof::importers::smi_log
