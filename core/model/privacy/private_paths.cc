#include "core/model/privacy/private_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/text/ascii.h"
#include "core/model/build/merge_traces.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline model {
namespace {

// First folders of paths.
constexpr std::string_view kHomes[] = {"home", "Users"}, kAdministrator = "root";
constexpr std::string_view kSystem[] = {"usr",  "lib", "lib64", "opt", "bin",  "sbin", "etc",
                                        "proc", "dev", "sys",   "run", "snap", "nix"};
constexpr std::string_view kPackages[] = {"/site-packages/", "/dist-packages/"}, kPython = "/lib/python3.";

// Empty if nothing lies in it.
std::string_view first_folder(std::string_view path) {
    std::size_t end = path.find('/', 1);
    return end == std::string_view::npos ? std::string_view() : path.substr(1, end - 1);
}

bool lies_in(std::string_view path, std::span<const std::string_view> folders) {
    return std::find(folders.begin(), folders.end(), first_folder(path)) != folders.end();
}

// Names that programs choose: a slash in them is rarely a path.
bool is_chosen(Privacy privacy) {
    return privacy == Privacy::term || privacy == Privacy::numbers || privacy == Privacy::metric ||
           privacy == Privacy::op || privacy == Privacy::range || privacy == Privacy::kernel ||
           privacy == Privacy::scope;
}

bool has_extension(std::string_view path) {
    std::string_view name = path.substr(path.rfind('/') + 1);
    std::size_t point = name.rfind('.');
    return point != std::string_view::npos && point > 0 && point + 1 < name.size();
}

// A folder may have a space in its name: what follows a path up to the next path or option belongs to it if it has a
// slash. `ends`: what ends a path besides a space.
std::size_t beyond_spaces(std::string_view text, std::size_t at, std::size_t end, std::string_view ends) {
    if (end == text.size() || text[end] != ' ' || has_extension(text.substr(at, end - at))) return end;
    std::size_t limit =
        std::min({text.find(" /", end), text.find(" -", end), text.find_first_of(ends, end), text.size()});
    std::size_t slash = text.substr(0, limit).rfind('/');
    if (slash == std::string_view::npos || slash < end) return end;
    std::size_t last = std::min(text.find(' ', slash), limit);
    for (std::size_t word = end + 1; word < last; word = text.find(' ', word) + 1) {
        std::size_t to = std::min(text.find(' ', word), last);
        if (to == last || has_extension(text.substr(at, to - at))) return to;
    }
    return last;
}

// Where a path that begins at `at` ends. In frames ("file(line): function", "function (file:line)") it may have spaces,
// elsewhere only between quotes.
std::size_t end_of_path(std::string_view text, std::size_t at, Privacy privacy) {
    char before = at == 0 ? '\0' : text[at - 1];
    if (before == '"' || before == '\'') return std::min(text.find(before, at), text.size());
    constexpr std::string_view kEnds = "\t\n\"'`=,;:()[]{}<>|";
    if (privacy == Privacy::stack) return std::min(text.find_first_of("();:\n", at), text.size());
    std::size_t end = std::min({text.find(' ', at), text.find_first_of(kEnds, at), text.size()});
    return beyond_spaces(text, at, end, kEnds);
}

bool begins_path(std::string_view text, std::size_t at) {
    if (text[at] != '/' || at + 1 == text.size() || text[at + 1] == '/' || text[at + 1] == ' ') return false;
    if (at == 0) return true;
    if (text[at - 1] == '/') return text.substr(0, at + 1).ends_with("file:///");
    return std::string_view(" \t\n\"'`=:,;([{<|>@").find(text[at - 1]) != std::string_view::npos;
}

bool is_private(std::string_view path, const PrivateNames& names) {
    if (lies_in(path, kHomes) || first_folder(path) == kAdministrator) return true;
    return std::any_of(names.folders.begin(), names.folders.end(), [&](const std::string& folder) {
        return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
    });
}

// The part of a path that may be shown; `is_file` if what follows or precedes it says that it is one.
std::string shown(std::string_view path, bool is_file) {
    for (std::string_view folder : kPackages)
        if (std::size_t at = path.rfind(folder); at != std::string_view::npos)
            return std::string(path.substr(at + folder.size()));
    if (std::size_t at = path.rfind(kPython); at != std::string_view::npos)
        if (std::size_t slash = path.find('/', at + kPython.size()); slash != std::string_view::npos)
            return std::string(path.substr(slash + 1));
    std::string_view name = path.substr(path.rfind('/') + 1);
    bool is_home = lies_in(path, kHomes) && std::count(path.begin(), path.end(), '/') < 3;
    return !is_home && !name.empty() && (has_extension(path) || is_file) ? std::string(name) : "~";
}

bool in_word(char c) { return is_alphanumeric(c) || c == '_'; }

// Whole words only: "alice@node" but not "malice".
std::string without_user(std::string text, std::string_view user) {
    for (std::size_t at = text.find(user); at != std::string::npos; at = text.find(user, at + 1)) {
        std::size_t end = at + user.size();
        if ((at > 0 && in_word(text[at - 1])) || (end < text.size() && in_word(text[end]))) continue;
        text.replace(at, user.size(), "user");
    }
    return text;
}

// The users of home folders that a text names.
void learn_users(std::string_view text, std::set<std::string>& users) {
    for (std::string_view folder : kHomes) {
        std::string home = fmt::format("/{}/", folder);
        for (std::size_t at = text.find(home); at != std::string_view::npos; at = text.find(home, at + 1)) {
            std::size_t begin = at + home.size(), end = begin;
            while (end < text.size() && (in_word(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
            if (end > begin) users.emplace(text.substr(begin, end - begin));
        }
    }
}

template <class AnyTables, class Visit>
void each_text(AnyTables& tables, Visit&& visit) {
    tables.each_table([&](const TableSpec&, auto& table) {
        table.each_column([&](const ColumnSpec& spec, auto& column) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, Column<StringId>>)
                visit(spec, column, table.rows);
        });
    });
}

// In a column of files an absolute path is the whole text, whatever characters it has.
std::string shown_file(std::string_view file, const PrivateNames& names) {
    std::string place = names.place ? names.place(file) : std::string();
    return place.empty() ? shown(file, true) : place;
}

void replace(Tables& tables, const StringPool& texts, StringPool& into, const PrivateNames& names) {
    each_text(tables, [&](const ColumnSpec& spec, Column<StringId>& column, std::size_t rows) {
        Column<StringId> made;
        std::unordered_map<std::uint32_t, StringId> known;
        for (Row row = 0; row < rows; ++row) {
            if (!column.has(row)) continue;
            auto [found, added] = known.try_emplace(index_of(column[row]), kNoString);
            std::string_view text = texts[column[row]];
            bool is_path = spec.name == "file" && text.starts_with('/');
            if (added)
                found->second =
                    into.intern(is_path ? shown_file(text, names) : without_folders(text, spec.privacy, names));
            made.set(row, found->second);
        }
        made.pad(rows);
        column = std::move(made);
    });
}

}  // namespace

std::string without_folders(std::string_view text, Privacy privacy, const PrivateNames& names) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = begins_path(text, at) ? end_of_path(text, at, privacy) : at;
        std::string_view path = text.substr(at, end - at);
        bool of_system = lies_in(path, kSystem) && !is_private(path, names);
        if (path.empty() || of_system || (is_chosen(privacy) && !is_private(path, names))) {
            out += text.substr(at, std::max<std::size_t>(path.size(), 1));
            at = std::max(end, at + 1);
            continue;
        }
        std::string place = names.place ? names.place(path) : std::string();
        bool is_file = at == 0 || (end < text.size() && (text[end] == '(' || text[end] == ':'));
        out += place.empty() ? shown(path, is_file && !path.ends_with('/')) : place;
        at = end;
    }
    if (is_chosen(privacy)) return out;
    for (const std::string& user : names.users) out = without_user(std::move(out), user);
    return out;
}

Trace without_folders(Trace trace, PrivateNames names) {
    Origin origin = trace.origin();
    Batch old = batch_of(std::move(trace)), clean;
    std::set<std::string> users(names.users.begin(), names.users.end());
    each_text(old.tables, [&](const ColumnSpec&, const Column<StringId>& column, std::size_t rows) {
        std::vector<bool> seen(old.strings.size());
        for (Row row = 0; row < rows; ++row)
            if (column.has(row) && !seen[index_of(column[row])]) {
                seen[index_of(column[row])] = true;
                learn_users(old.strings[column[row]], users);
            }
    });
    users.erase(std::string(kAdministrator));
    names.users.assign(users.begin(), users.end());
    // Texts keep their order, which lists of names have.
    for (std::uint32_t id = 0; id < old.strings.size(); ++id)
        clean.intern(without_folders(old.strings[StringId{id}], Privacy::term, names));
    replace(old.tables, old.strings, clean.strings, names);
    clean.tables = std::move(old.tables);
    TraceBuilder builder(std::move(origin));
    builder.append(std::move(clean));
    return std::move(builder).finish();
}

}  // namespace gpuprof::model
