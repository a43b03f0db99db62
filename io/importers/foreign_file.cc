// Sources of the tables: rocprof-compute's analysis database, SnapViewer's
// convert_snap.py, nvprof's export, and Huawei's description of msprof's .db files.
#include "io/importers/foreign_file.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "io/importers/source/database.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 sequence at the beginning of `text`; 0 if it is none, or cut.
std::size_t sequence_bytes(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char first = byte(0);
    std::size_t size = first < 0x80                    ? 1
                       : first >= 0xC2 && first < 0xE0 ? 2
                       : first >= 0xE0 && first < 0xF0 ? 3
                       : first >= 0xF0 && first < 0xF5 ? 4
                                                       : 0;
    if (size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    return size;
}

struct OtherDatabase {
    std::array<std::string_view, 2> tables;  // that it has; "" for none. An ending * stands for any rest
    std::string_view column;                 // of the first; "" for any
    std::string_view what, instead;
};
constexpr OtherDatabase kOthers[] = {
    {{"rocpd_*", ""}, "", "a ROCm profile (rocpd) without its tables", "copy or export the file again"},
    {{"compute_*", ""},
     "",
     "an analysis database of rocprof-compute without its kernels",
     "make it again with rocprof-compute analyze --output-format db"},
    {{"allocs", ""},
     "callstack",
     "a PyTorch memory snapshot that a viewer converted to SQLite",
     "name the pickle that torch.cuda.memory._dump_snapshot wrote instead"},
    {{"segments", "blocks"},
     "",
     "a PyTorch memory snapshot that was converted to SQLite",
     "name the pickle that torch.cuda.memory._dump_snapshot wrote instead"},
    {{"StringTable", "CUPTI_ACTIVITY_KIND_*"},
     "",
     "an nvprof profile",
     "it is not supported; record with Nsight Systems and export to SQLite"},
    {{"STRING_IDS", "CANN_API"}, "", "an Ascend profile (msprof)", "it is not supported"},
};

struct OtherFile {
    std::string_view begins;                // after blanks; "" for anything
    std::array<std::string_view, 3> parts;  // that it contains; "" for none
    std::string_view what;
};
constexpr std::string_view kExecutionTrace =
    "a PyTorch execution trace, which has no times; name the trace of torch.profiler that was recorded with it";
constexpr OtherFile kOtherFiles[] = {
    {"{", {"\"schema\"", "\"nodes\"", "\"rf_id\""}, kExecutionTrace},
    {"{", {"\"schema\"", "\"nodes\"", "\"ctrl_deps\""}, kExecutionTrace},
    {"PAR1",
     {"", "", ""},
     "a Parquet file; for tables of Nsight Systems export the report as SQLite: nsys export --type sqlite -o "
     "OUT.sqlite FILE.nsys-rep"},
    {"ARROW1",
     {"", "", ""},
     "an Arrow file; for tables of Nsight Systems export the report as SQLite: nsys export --type sqlite -o OUT.sqlite "
     "FILE.nsys-rep"},
    {"<",
     {"<html", "<img src=\"data:image/png;base64", "Memory"},
     "a PyTorch memory timeline as HTML, which holds only a picture; export it with the ending .json or .raw.json.gz"},
};

bool has_table(const Database& database, std::string_view wanted) {
    if (wanted.empty()) return true;
    bool begins = wanted.ends_with('*');
    if (begins) wanted.remove_suffix(1);
    for (const auto& [table, columns] : database.tables())
        if (begins ? table.starts_with(wanted) : table == wanted) return true;
    for (const std::string& view : database.computed())
        if (begins ? view.starts_with(wanted) : view == wanted) return true;
    return false;
}

}  // namespace

bool was_converted_to_text(std::string_view head) {
    // Formats whose first bytes are no text: gzip, zstd, captures, pickles of protocol 2 to 5.
    constexpr std::string_view kGzip = "\x1F\xEF\xBF\xBD\x08", kZstd = "(\xEF\xBF\xBD/\xEF\xBF\xBD",
                               kCapture = "\xEF\xBF\xBDgpuprof";
    bool begins = head.starts_with(kGzip) || head.starts_with(kZstd) || head.starts_with(kCapture) ||
                  (head.starts_with(kReplacement) && head.size() > 3 && head[3] >= 2 && head[3] <= 5);
    if (begins) return true;
    // Other binary files begin with text. Text has no zero bytes, and what is not converted is no UTF-8.
    if (head.find(kReplacement) == head.npos || head.find('\0') == head.npos) return false;
    constexpr std::size_t kLongest = 4;
    while (!head.empty()) {
        std::size_t size = sequence_bytes(head);
        if (size == 0) return head.size() < kLongest;
        head.remove_prefix(size);
    }
    return true;
}

std::string_view foreign_file(std::string_view head) {
    std::size_t at = head.find_first_not_of(" \t\r\n");
    if (at == head.npos) return "";
    for (const OtherFile& other : kOtherFiles) {
        bool found = head.substr(at).starts_with(other.begins);
        for (std::string_view part : other.parts) found = found && head.find(part) != head.npos;
        if (found) return other.what;
    }
    return "";
}

std::string foreign_database(const Database& database) {
    for (const OtherDatabase& other : kOthers) {
        if (!has_table(database, other.tables[0]) || !has_table(database, other.tables[1])) continue;
        auto first = database.tables().find(std::string(other.tables[0]));
        if (!other.column.empty() &&
            (first == database.tables().end() || !first->second.contains(std::string(other.column))))
            continue;
        return fmt::format("{}: {}", other.what, other.instead);
    }
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (const auto& [table, columns] : database.tables())
        if (names.size() < kMostNamed) names.push_back(table.substr(0, 40));
    if (names.empty()) return "a SQLite database without tables";
    return fmt::format(
        "a SQLite database of another tool: it has the tables {}{} but not StringIds; export Nsight "
        "Systems reports with nsys export --type sqlite",
        fmt::join(names, ", "), database.tables().size() > kMostNamed ? ", ..." : "");
}

}  // namespace gpuprof::importers
