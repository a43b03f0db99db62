// The header of an `nsys stats` report, and the values of a row by column name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline importers::nsys_stats {

enum class Report { none, gpu_trace, api_trace, other };

class Columns {
public:
    // The report that these fields are the header of, or `none`.
    static Report report_of(const std::vector<std::string>& fields);
    // From the fields of a header.
    void take(const std::vector<std::string>& fields);
    std::size_t size() const { return size_; }

    std::string_view text(const std::vector<std::string>& row, std::string_view column) const;
    std::optional<std::int64_t> integer(const std::vector<std::string>& row, std::string_view column) const;
    // A time in ns; absent if it is invalid or its unit is unknown.
    std::optional<std::int64_t> time(const std::vector<std::string>& row, std::string_view column) const;
    // A size in bytes. nsys rounds to three decimals of its unit; a value that may be off by more than 1 % is absent.
    std::optional<std::int64_t> bytes(const std::vector<std::string>& row, std::string_view column) const;

private:
    struct Column {
        std::size_t index;
        std::string unit;
    };
    std::map<std::string, Column, std::less<>> columns_;
    std::size_t size_ = 0;
};

}  // namespace gpuprof::importers::nsys_stats
