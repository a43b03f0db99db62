// The state of the ncu importer: columns of the last header, launches seen, and values whose numbers are decided at the
// end, once the decimal mark of the file is known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers::ncu {

// Numbers as Nsight Compute prints them in the user's locale: 1,234.5 or 1.234,5 or 1 234,5. The other numbers of the
// file decide what a single separator before three digits means ("454,555").
enum class DecimalMark { unknown, point, comma };

// What a number reveals about the decimal mark of its file.
DecimalMark mark_of(std::string_view text);

// The number; absent if it is not one. `mark` decides if the text does not; unknown means a point. Text after a number
// in brackets ("12 (4; 8)", the values of its instances) is ignored.
std::optional<double> number_of(std::string_view text, DecimalMark mark);

// Whether a line starts a table of ncu.
bool is_header(std::string_view line);

// The page of instructions (`--page source`): for each kernel a line with its name, a header, and a line per instruction or source
// line. It has no launches and times; its kernels are known by their names, and the counters of several launches of one add up.
class SourcePage {
public:
    explicit SourcePage(Batch& batch) : batch_(batch) {}

    // Whether the beginning of a file has such a page.
    static bool is_in(std::string_view head);
    // Takes one record of the page. False if it is none.
    bool take(const std::vector<std::string>& fields, std::uint64_t line);
    bool any() const { return kernels_ > 0; }

private:
    struct Counter {
        std::size_t column;
        StringId metric, unit;
    };
    void take_header(const std::vector<std::string>& fields);
    void take_row(const std::vector<std::string>& fields);

    Batch& batch_;
    std::uint64_t kernels_ = 0;
    StringId kernel_ = kNoString, file_ = kNoString;
    std::size_t width_ = 0;  // of the header; 0: it is still to come
    std::optional<std::size_t> address_, line_column_, source_;
    std::optional<std::uint64_t> first_;  // address of the kernel
    std::optional<std::int32_t> line_;    // of the instructions that follow
    std::vector<Counter> counters_;
};

class Reader {
public:
    explicit Reader(Batch& batch) : batch_(batch) {}

    // Takes one record of a table. False if it is other output.
    bool take(const std::vector<std::string>& fields, std::uint64_t line);
    bool any_table() const { return tables_ > 0; }
    void finish();

private:
    struct Metric {
        std::size_t column;
        std::string name, unit;
    };
    using LaunchKey = std::tuple<std::uint64_t, std::string, std::string>;  // table, ID, process

    bool take_header(const std::vector<std::string>& fields);
    bool take_units(const std::vector<std::string>& fields);
    const std::string& field(const std::vector<std::string>& fields, std::string_view name) const;
    std::int64_t launch_of(const std::vector<std::string>& fields);
    StringId process_of(const std::vector<std::string>& fields);
    void device_of(const std::vector<std::string>& fields);
    void describe(const std::vector<std::string>& fields, std::int64_t launch);
    void counter(std::int64_t launch, std::string_view section, const std::string& metric, const std::string& unit,
                 const std::string& value);
    void advice(std::int64_t launch, const std::vector<std::string>& fields);
    void resolve_gains(DecimalMark mark);
    void resolve_durations(const std::vector<std::optional<double>>& numbers);

    Batch& batch_;
    std::uint64_t tables_ = 0;
    std::size_t width_ = 0;  // fields of the header; two may share a name
    bool raw_ = false, units_due_ = false;
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::vector<Metric> metrics_;  // of the raw page
    std::map<LaunchKey, std::int64_t> launches_;
    std::set<std::int64_t> numbers_used_;
    std::set<std::string> processes_;
    std::set<std::int32_t> devices_;
    std::vector<StringId> values_;  // of kernel_counter, by row
    std::map<std::string, bool, std::less<>> is_known_unit_;
    int points_ = 0, commas_ = 0;
    std::vector<StringId> gains_;  // of kernel_advice, by row
};

}  // namespace gpuprof::importers::ncu
