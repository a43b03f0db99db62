#include "capi/summary_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "core/base/json_error.h"

namespace gpuprof::capi {
namespace {

using Value = simdjson::dom::element;

bool read(const Value& value, std::string& to) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    to = text;
    return true;
}
bool read(const Value& value, std::int64_t& to) { return value.get(to) == simdjson::SUCCESS; }
bool read(const Value& value, std::optional<double>& to) {
    double number = 0;
    if (value.is_null()) return to.reset(), true;
    if (value.get(number) != simdjson::SUCCESS) return false;
    to = number;
    return true;
}
bool read(const Value& value, std::vector<std::string>& to) {
    simdjson::dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return false;
    to.clear();
    for (const Value& item : items)
        if (!read(item, to.emplace_back())) return false;
    return true;
}

}  // namespace

Result<GpuSummary> summary_from_json(std::string_view json) {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parse_text(parser, json, object) != simdjson::SUCCESS)
        return Error{ExitCode::usage, "invalid summary: not a JSON object"};
    GpuSummary summary;
#define GPUPROF_READ_FIELD(type, name, unit, doc)                                                 \
    if (Value value; object[#name].get(value) == simdjson::SUCCESS && !read(value, summary.name)) \
        return Error{ExitCode::usage, "invalid summary: field " #name " has the wrong type"};
    GPUPROF_SUMMARY_FIELDS(GPUPROF_READ_FIELD)
#undef GPUPROF_READ_FIELD
    return summary;
}

}  // namespace gpuprof::capi
