#include "collect/python/interpreter.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "collect/python/debug_offsets.h"
#include "core/base/elf_symbols.h"
#include "core/base/files/file_view.h"

namespace gpuprof::python {
namespace {

constexpr std::size_t kMaxMapsBytes = 4 << 20;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether a file is a candidate: libpython, or the program itself.
bool may_hold_python(std::string_view path, std::string_view program) {
    return path == program || file_name(path).substr(0, 9) == "libpython";
}

// From Py_Version, which 3.11 and later define: 0x030B07F0 is 3.11.7.
std::uint32_t minor_of(std::optional<std::uint64_t> version) {
    return version && (*version >> 24 & 0xFF) == 3 ? static_cast<std::uint32_t>(*version >> 16 & 0xFF) : 0;
}

InterpreterSearch look_inside(pid_t pid, const Mapping& mapping, const std::string& program) {
    static constexpr std::array<std::string_view, 5> kNames = {"_PyRuntime", "Py_Version", "PyCode_Type",
                                                               "PyUnicode_Type", "PyBytes_Type"};
    InterpreterSearch finding;
    FileView file("/proc/" + std::to_string(pid) + "/root" + std::string(mapping.path));
    std::vector<std::uint64_t> values = symbol_values(file.bytes(), kNames);
    std::uint64_t image = image_address(file.bytes(), mapping.offset);
    if (values[0] == 0 || image == ~std::uint64_t{0}) return finding;
    Address bias = mapping.begin - image;
    auto loaded = [&](std::size_t symbol) { return values[symbol] != 0 ? bias + values[symbol] : 0; };
    ProcessMemory memory(pid);
    std::optional<std::uint64_t> version;
    if (values[1] != 0) version = memory.value<std::uint64_t>(loaded(1));
    std::uint64_t ignored = 0;
    if (!memory.read(loaded(0), &ignored, sizeof ignored)) {
        finding.outcome =
            memory.error() == EPERM || memory.error() == ENOSYS ? SearchOutcome::refused : SearchOutcome::none;
        return finding;
    }
    finding.minor = minor_of(version);
    if (finding.minor == 0) finding.minor = minor_in_name(mapping.path);
    if (finding.minor == 0) finding.minor = minor_in_name(program);
    std::optional<Layout> layout = finding.minor >= 13 ? read_layout(memory, loaded(0)) : layout_of(finding.minor);
    finding.outcome = layout ? SearchOutcome::found : SearchOutcome::unsupported;
    if (layout) finding.interpreter = {{loaded(0), loaded(2), loaded(3), loaded(4)}, *layout};
    return finding;
}

bool is_named_python(std::string_view name) { return name.find("python") != std::string_view::npos; }

}  // namespace

std::optional<Mapping> parse_mapping(std::string_view line) {
    Mapping mapping;
    const char* end = line.data() + line.size();
    std::from_chars_result begin = std::from_chars(line.data(), end, mapping.begin, 16);
    if (begin.ec != std::errc{}) return std::nullopt;
    std::size_t path = line.find('/');
    if (path == std::string_view::npos) return std::nullopt;
    mapping.path = line.substr(path);
    // begin-end permissions offset device inode path
    std::size_t permissions = line.find(' ');
    std::size_t offset = permissions == std::string_view::npos ? permissions : line.find(' ', permissions + 1);
    if (offset == std::string_view::npos || offset > path) return std::nullopt;
    if (std::from_chars(line.data() + offset + 1, end, mapping.offset, 16).ec != std::errc{}) return std::nullopt;
    return mapping;
}

std::uint32_t minor_in_name(std::string_view path) {
    std::string_view name = file_name(path);
    std::size_t at = name.find("python3.");
    if (at == std::string_view::npos) return 0;
    name.remove_prefix(at + 8);
    std::uint32_t minor = 0;
    return std::from_chars(name.data(), name.data() + name.size(), minor).ec == std::errc{} && minor < 100 ? minor : 0;
}

InterpreterSearch find_interpreter(ProcFiles& files, pid_t pid) {
    std::string program = files.program(pid);
    errno = 0;
    std::optional<std::string_view> read = files.read(pid, "maps", kMaxMapsBytes);
    if (!read) {
        bool refused = errno == EACCES || errno == EPERM;
        std::optional<ProcStat> stat = files.stat(pid);
        return {
            .outcome = refused && stat && is_named_python(stat->name) ? SearchOutcome::refused : SearchOutcome::none,
            .interpreter = {}};
    }
    std::string maps(*read);
    std::string_view seen;
    InterpreterSearch best;
    for (std::string_view rest = maps; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        std::optional<Mapping> mapping = parse_mapping(line);
        // The first mapping of a file determines its load address.
        if (!mapping || mapping->path == seen || !may_hold_python(mapping->path, program)) continue;
        seen = mapping->path;
        InterpreterSearch found = look_inside(pid, *mapping, program);
        if (found.outcome == SearchOutcome::found) return found;
        if (found.outcome != SearchOutcome::none) best = found;
    }
    return best;
}

}  // namespace gpuprof::python
