#include "core/base/csv.h"

namespace gpuprof {

bool needs_csv_quotes(std::string_view text) { return text.find_first_of(",\"\r\n") != std::string_view::npos; }

void append_csv_quoted(std::string& line, std::string_view text) {
    line += '"';
    for (char c : text) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

bool split_csv(std::string_view record, std::vector<std::string>& fields) {
    fields.assign(1, {});
    bool quoted = false;
    for (std::size_t i = 0; i < record.size(); ++i) {
        char c = record[i];
        if (c == '"' && quoted && i + 1 < record.size() && record[i + 1] == '"') {
            fields.back() += c;
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return !quoted;
}

}  // namespace gpuprof
