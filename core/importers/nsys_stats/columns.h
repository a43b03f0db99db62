// The header of a report of `nsys stats`, and the values of a row by the names of its columns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::nsys_stats {

enum class Report { none, gpu_trace, api_trace, other };

class Columns {
public:
    // What these fields are the header of; `none` when they are none.
    static Report report_of(const std::vector<std::string>& fields);
    // Of the fields of a header.
    void take(const std::vector<std::string>& fields);
    std::size_t size() const { return size_; }

    std::string_view text(const std::vector<std::string>& row, std::string_view column) const;
    std::optional<std::int64_t> integer(const std::vector<std::string>& row, std::string_view column) const;
    // A time in ns; nothing when it is none, or its unit is not known.
    std::optional<std::int64_t> time(const std::vector<std::string>& row, std::string_view column) const;
    // A size in bytes. nsys rounds to three decimals of its unit: what may be off by more than 1 % is not known.
    std::optional<std::int64_t> bytes(const std::vector<std::string>& row, std::string_view column) const;

private:
    struct Column {
        std::size_t index;
        std::string unit;
    };
    std::map<std::string, Column, std::less<>> columns_;
    std::size_t size_ = 0;
};

}  // namespace gpuprof::nsys_stats
