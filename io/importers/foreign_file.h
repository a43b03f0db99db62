// What a file is that no importer can read: named by its content, with what to do instead.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline importers {

class Database;

// Whether a file was binary and something converted it as text: bytes that are no text became U+FFFD, the replacement
// character, and cannot be restored. `head` is the file's beginning.
bool was_converted_to_text(std::string_view head);
inline constexpr std::string_view kConvertedToText =
    "the file was damaged by a text conversion: bytes were replaced by U+FFFD and cannot be restored; copy the "
    "original "
    "file again as binary data";

// What a file of a known tool is that has nothing to read, by its beginning, and what to do instead; "" if unknown.
std::string_view foreign_file(std::string_view head);

// What a database of another tool is, by its tables, and what to do instead. Of an unknown one, its tables.
std::string foreign_database(const Database& database);

}  // namespace gpuprof::importers
