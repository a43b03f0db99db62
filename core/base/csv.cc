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

}  // namespace gpuprof
