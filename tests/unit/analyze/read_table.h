// Runs an analysis by name on a trace and reads the cells of its table by the name of the column.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "present/answer/analyses.h"

namespace gpuprof {

class ReadTable {
public:
    ReadTable(const Trace& trace, std::string_view analysis, Options options = {})
        : table_(run(trace, analysis, std::move(options))) {}

    std::size_t rows() const { return table_.rows(); }
    bool absent(std::size_t row, std::string_view column) const { return cell(row, column).index() == 0; }
    std::int64_t integer(std::size_t row, std::string_view column) const { return get<std::int64_t>(row, column); }
    double real(std::size_t row, std::string_view column) const { return get<double>(row, column); }
    bool boolean(std::size_t row, std::string_view column) const { return get<bool>(row, column); }
    std::string text(std::size_t row, std::string_view column) const {
        return std::string(get<std::string_view>(row, column));
    }
    // The first row whose cell of a text column is `text`.
    std::size_t find(std::string_view column, std::string_view wanted) const {
        for (std::size_t row = 0; row < rows(); ++row)
            if (!absent(row, column) && text(row, column) == wanted) return row;
        ADD_FAILURE() << "no row with " << column << " = " << wanted;
        return 0;
    }
    const std::vector<std::string>& notes() const { return table_.notes; }
    const ResultTable& table() const { return table_; }

private:
    static ResultTable run(const Trace& trace, std::string_view name, Options options) {
        const Analysis* analysis = find_analysis(name);
        Facts facts(trace, std::move(options));
        Result<ResultTable> result = analysis->run(facts);
        EXPECT_TRUE(result.ok());
        return std::move(result).value();
    }
    Cell cell(std::size_t row, std::string_view column) const { return table_.cell(row, table_.column(column)); }
    template <class T>
    T get(std::size_t row, std::string_view column) const {
        Cell found = row < rows() ? cell(row, column) : kAbsent;
        const T* value = std::get_if<T>(&found);
        EXPECT_NE(value, nullptr) << column << " of row " << row << " is absent or of another type";
        return value == nullptr ? T{} : *value;
    }

    ResultTable table_;
};

}  // namespace gpuprof
