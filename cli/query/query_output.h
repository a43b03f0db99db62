// Rows of queries as text, CSV or JSON, written as they arrive.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result_table.h"
#include "core/model/trace.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {

// One answer after another: begin(), row() for each row, end().
class AnswerWriter {
public:
    virtual ~AnswerWriter() = default;
    virtual void begin(std::vector<std::string> columns) = 0;
    virtual void row(std::span<const Cell> cells) = 0;
    // `more`: some rows were not written.
    virtual void end(bool more) = 0;
    // Call after the last answer.
    virtual void finish() {}
};

struct AnswerFormat {
    std::string_view name;
    std::int64_t default_limit;  // rows written without an explicit limit; 0: all
    std::unique_ptr<AnswerWriter> (*make)(const Trace& trace, const Style& style, Sink& sink);
};

std::span<const AnswerFormat> answer_formats();
const AnswerFormat* find_answer_format(std::string_view name);

}  // namespace gpuprof::cli
