#include "io/cubin/line_table.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>

namespace gpuprof::cubin {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Where every relocated address of .debug_line points to.
LineSections sections_of(const ElfFile& elf) {
    LineSections sections;
    auto bytes_of = [&](std::string_view name) {
        const ElfSection* section = elf.section(name);
        return section == nullptr ? std::string_view() : section->bytes;
    };
    sections.lines = bytes_of(".debug_line");
    sections.line_strings = bytes_of(".debug_line_str");
    sections.strings = bytes_of(".debug_str");
    for (const ElfRelocation& relocation : elf.relocations(".debug_line")) {
        if (relocation.symbol >= elf.symbols.size()) continue;
        const ElfSymbol& symbol = elf.symbols[relocation.symbol];
        std::uint64_t addend = relocation.has_addend ? static_cast<std::uint64_t>(relocation.addend)
                                                     : u64_at(sections.lines, relocation.offset);
        sections.addresses.try_emplace(relocation.offset, LineSections::Target{symbol.section, symbol.value + addend});
    }
    return sections;
}

std::string path_of(const LineFile& file) {
    if (file.folder.empty() || file.name.starts_with('/')) return std::string(file.name);
    return std::string(file.folder) + (file.folder.ends_with('/') ? "" : "/") + std::string(file.name);
}

// The toolkit's headers as nvcc finds them (relative to its program), and where packages, conda and wheels put them; and
// Triton's library of functions. Longer paths are a user's.
bool is_toolkit(const LineFile& file) {
    constexpr std::string_view kParts[] = {"/bin/../include",
                                           "/bin/../targets/",
                                           "/local/cuda",
                                           "/targets/x86_64-linux/include",
                                           "/targets/sbsa-linux/include",
                                           "/nvidia/cu",
                                           "/triton/language/"};
    constexpr std::size_t kMaxPath = 4096;
    if (file.folder.size() + file.name.size() > kMaxPath) return false;
    std::string path = path_of(file);
    return std::any_of(std::begin(kParts), std::end(kParts),
                       [&](std::string_view part) { return path.find(part) != std::string::npos; });
}

}  // namespace

Result<LineTable> LineTable::read(const Cubin& cubin) {
    LineTable table;
    LineSections sections = sections_of(cubin.elf);
    for (std::uint64_t offset = 0; offset < sections.lines.size();) {
        Result<LineProgram> program = read_line_program(sections, offset);
        if (!program.ok()) return program.error();
        table.add(*program);
        offset = program->next;
    }
    table.finish();
    return table;
}

void LineTable::add(const LineProgram& program) {
    std::vector<std::uint32_t> numbers(program.files.size(), kNone);  // only files that rows use
    for (const LineProgram::Row& row : program.rows) {
        LineRow added{row.address, kNone, row.line, row.end, kNone};
        if (row.file < numbers.size()) {
            std::uint32_t& number = numbers[row.file];
            if (number == kNone) {
                number = static_cast<std::uint32_t>(files_.size());
                files_.push_back({program.files[row.file], is_toolkit(program.files[row.file])});
            }
            added.file = number;
        }
        rows_[row.section].push_back(added);
    }
}

void LineTable::finish() {
    for (auto& [section, rows] : rows_) {
        std::stable_sort(rows.begin(), rows.end(), [](const LineRow& a, const LineRow& b) {
            return a.address != b.address ? a.address < b.address : a.end > b.end;
        });
        std::uint32_t user = kNone;
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            if (rows[i].end) user = kNone;
            if (known(rows[i]) && !files_[rows[i].file].toolkit) user = i;
            rows[i].user = user;
        }
    }
}

bool LineTable::known(const LineRow& row) const { return !row.end && row.line != 0 && row.file != kNone; }

// The compiler writes /usr/local/cuda/bin/../include.
SourceLine LineTable::line_of(const LineRow& row) const {
    return {std::filesystem::path(path_of(files_[row.file].path)).lexically_normal().string(), row.line};
}

std::optional<SourcePlace> LineTable::place(const Function& function, std::uint64_t offset) const {
    auto found = rows_.find(function.section);
    if (found == rows_.end() || offset >= function.code_bytes) return std::nullopt;
    const std::vector<LineRow>& rows = found->second;
    auto after = std::upper_bound(rows.begin(), rows.end(), function.start + offset,
                                  [](std::uint64_t address, const LineRow& row) { return address < row.address; });
    if (after == rows.begin()) return std::nullopt;
    const LineRow& row = *std::prev(after);
    if (!known(row) || row.address < function.start) return std::nullopt;  // that of the function before it
    SourcePlace place{line_of(row), std::nullopt};
    if (row.user != kNone && rows[row.user].address >= function.start) place.user = line_of(rows[row.user]);
    return place;
}

bool LineTable::covers(const Function& function) const {
    auto found = rows_.find(function.section);
    if (found == rows_.end()) return false;
    const std::vector<LineRow>& rows = found->second;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        bool last = i + 1 == rows.size() || rows[i + 1].address != rows[i].address;
        bool inside = rows[i].address >= function.start && rows[i].address - function.start < function.code_bytes;
        if (last && inside && known(rows[i])) return true;
    }
    return false;
}

std::vector<SourceRange> LineTable::ranges(const Function& function) const {
    std::vector<SourceRange> result;
    auto found = rows_.find(function.section);
    if (found == rows_.end()) return result;
    std::vector<std::uint64_t> starts;
    for (const LineRow& row : found->second)
        if (row.address >= function.start && row.address - function.start < function.code_bytes)
            starts.push_back(row.address - function.start);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    for (std::size_t i = 0; i < starts.size(); ++i) {
        std::uint64_t bytes = (i + 1 < starts.size() ? starts[i + 1] : function.code_bytes) - starts[i];
        std::optional<SourcePlace> here = place(function, starts[i]);
        if (!here) continue;
        bool adjacent = !result.empty() && result.back().offset + result.back().bytes == starts[i];
        if (adjacent && result.back().place == *here)
            result.back().bytes += bytes;
        else
            result.push_back({starts[i], bytes, *std::move(here)});
    }
    return result;
}

}  // namespace gpuprof::cubin
