// GitHub Markdown, for issues, chats and the reference page.
#pragma once

#include <string>
#include <string_view>

#include "present/report/report.h"

namespace gpuprof::inline report {

// Text that Markdown takes as it is, on one line.
std::string markdown_escaped(std::string_view text);
// The rows a limit leaves, all columns, names in full, then what was left off and the notes.
void write_markdown_table(const ResultTable& table, std::int64_t limit, Sink& sink);

}  // namespace gpuprof::report
