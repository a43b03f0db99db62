// Tab completion of the SQL shell: which words may stand at the cursor.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "present/query/catalogue.h"

namespace gpuprof::inline cli {

struct Completion {
    std::size_t begin = 0;           // where the word at the cursor starts
    std::vector<std::string> words;  // whole words that start as the typed one does, sorted
};

// From the text before the cursor.
using Completer = std::function<Completion(std::string_view text)>;

// Completes tables and analyses after FROM and JOIN; elsewhere functions, keywords, and columns of the tables in the
// statement (of all tables if it names none); and dot commands with their arguments. Ignores the case of the typed
// word.
Completion complete_sql(const Catalogue& catalogue, std::string_view text);

// The tables whose names occur in a statement; all of them if none does.
std::vector<const Relation*> mentioned(const Catalogue& catalogue, std::string_view sql);

}  // namespace gpuprof::cli
