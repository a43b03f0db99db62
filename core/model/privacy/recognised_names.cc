#include "core/model/privacy/recognised_names.h"

#include <algorithm>

#include "core/base/text/ascii.h"
#include "core/base/text/word_list.h"

namespace gpuprof::inline model {
namespace {

constexpr std::string_view kExtensions =
    " .py .pyc .pyx .pyi .ipynb .c .cc .cpp .cxx .cu .cuh .h .hh .hpp .inl .so .dll .exe .jl .rs .go .js .mjs"
    " .ts .java .sh .json .yaml .yml .toml .txt .csv .tsv .log .pt .pth .ckpt .bin .npy .npz .h5 .safetensors"
    " .onnx .pkl .tar .gz .zip .parquet .arrow .db .ini .cfg .gpuprof .sqlite .jpg .jpeg .jsonl ";
// First folders of absolute paths.
constexpr std::string_view kRoots =
    " home Users root data mnt scratch tmp var usr opt etc work nfs lustre gpfs beegfs ceph srv workspace"
    " workspaces dev proc media net Volumes private shared share fsx efs lib bin sbin sys run snap nix local"
    " users user store storage src code groups group project projects nvme ssd raid vol content app lib64 repo"
    " repos build datasets export cluster kaggle ";
constexpr std::string_view kBlank = " \t\n\r\"'`<>|";

// A word with dots, slashes and "@" in it.
bool in_long_name(char c) { return in_name(c) || std::string_view("-./\\@+%~").find(c) != std::string_view::npos; }
bool is_slash(char c) { return c == '/' || c == '\\'; }
char at_or_nul(std::string_view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }
std::size_t end_before(std::string_view text, std::string_view ends, std::size_t from) {
    return std::min(text.find_first_of(ends, from), text.size());
}

std::string_view last_component(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

// "C:\" or "C:/".
bool has_drive(std::string_view text, std::size_t at) {
    return is_letter(text[at]) && at_or_nul(text, at + 1) == ':' && is_slash(at_or_nul(text, at + 2));
}

// Where the path that begins at `at` ends. What follows a blank or bracket belongs to it if a slash comes later.
std::size_t end_of_path(std::string_view text, std::size_t at) {
    constexpr std::size_t kMaxName = 256;
    constexpr std::string_view kEndsOfWord = " :\t\n\r\"'`,;()[]{}<>|=", kEnds = "\t\n\r\"'`,;<>|";
    char before = at == 0 ? '\0' : text[at - 1];
    if (before == '"' || before == '\'') return std::min(text.find(before, at), text.size());
    std::size_t from = has_drive(text, at) ? at + 2 : at;
    for (;;) {
        std::size_t end = end_before(text, kEndsOfWord, from);
        char ending = at_or_nul(text, end);
        bool goes_on = ending == ' ' || ending == '(' || ending == ')' || ending == '=';
        if (!goes_on || !file_extension(text.substr(at, end - at)).empty()) return end;
        std::string_view rest = text.substr(end, kMaxName);
        rest = rest.substr(0, std::min({end_before(rest, kEnds, 0), rest.find(" /"), rest.find("://")}));
        std::size_t slash = rest.find_first_of("/\\");
        if (slash == std::string_view::npos) return end;
        from = end + slash;
    }
}

bool is_absolute(std::string_view text, std::size_t at) {
    char next = at_or_nul(text, at + 1);
    if (has_drive(text, at)) return true;
    if (text[at] == '\\') return next == '\\' && in_name(at_or_nul(text, at + 2));
    if (text[at] == '.') return is_slash(text[std::min(at + 1 + (next == '.'), text.size() - 1)]);
    if (text[at] == '~') {
        while (in_name(at_or_nul(text, at + 1)) || at_or_nul(text, at + 1) == '-') ++at;
        return is_slash(at_or_nul(text, at + 1));
    }
    if (text[at] != '/' || !in_name(next)) return false;
    std::size_t end = at + 1;
    while (end < text.size() && in_name(text[end])) ++end;
    return at_or_nul(text, end) == '/' && listed(kRoots, text.substr(at + 1, end - at - 1));
}

// After "scheme://" the end of the address, else `at`.
std::size_t end_of_address(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && (is_alphanumeric(text[end]) || std::string_view("+-.").find(text[end]) != text.npos))
        ++end;
    if (end == at || text.substr(end, 3) != "://") return at;
    if (text.substr(at, end - at) == "file") return end_of_path(text, end + 2);
    return end_before(text, kBlank, end);
}

// "10.0.0.1:29500": numbers with points alone may be a version.
bool is_ip_with_port(std::string_view text, std::size_t at, std::size_t end) {
    if (at_or_nul(text, end) != ':' || !is_digit(at_or_nul(text, end + 1))) return false;
    std::string_view word = text.substr(at, end - at);
    return std::count(word.begin(), word.end(), '.') == 3 && word.find_first_not_of("0123456789.") == word.npos;
}

bool is_mail_address(std::string_view word) {
    std::size_t sign = word.find('@');
    return sign != word.npos && sign > 0 && is_letter(at_or_nul(word, sign + 1)) && word.find('/') == word.npos &&
           word.find('.', sign) != word.npos && word.find('@', sign + 1) == word.npos;
}

// A backslash between two words; "\n" is none, because programs escape texts.
bool has_backslash(std::string_view word) {
    for (std::size_t i = 2; i + 2 < word.size(); ++i)
        if (word[i] == '\\' && in_name(word[i - 1]) && in_name(word[i + 1]) && in_name(word[i + 2])) return true;
    return false;
}

// A path of a home folder after anything: "load-/home/alice/x".
bool has_home(std::string_view word) { return contains_any(word, {"/home/", "/Users/", "\\Users\\"}); }

// The name that begins at the start of a word; its kind is empty if there is none.
RecognisedName name_at(std::string_view text, std::size_t at) {
    char before = at == 0 ? '\0' : text[at - 1];
    bool after_bracket = before == ')' || before == ']' || before == '}';
    if (!after_bracket) {
        if (std::size_t end = end_of_address(text, at); end > at)
            return {at, end, text.substr(at, 5) == "file:" ? "file" : "address"};
        if (is_absolute(text, at)) return {at, end_of_path(text, at), "file"};
    }
    std::size_t end = at;
    while (end < text.size() && in_long_name(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    while (!word.empty() && (word.back() == '.' || word.back() == '/')) word.remove_suffix(1);
    if (has_home(word)) return {at, end_of_path(text, at), "file"};
    if (is_mail_address(word)) return {at, at + word.size(), "user"};
    word = word.substr(0, word.find('@'));
    if (is_ip_with_port(text, at, at + word.size())) return {at, at + word.size(), "address"};
    bool is_file = !file_extension(word).empty() || has_backslash(word);
    return {at, at + word.size(), is_file ? "file" : std::string_view()};
}

}  // namespace

std::string_view file_extension(std::string_view path) {
    std::string_view name = last_component(path);
    std::size_t point = name.rfind('.');
    if (point == name.npos || point == 0) return {};
    if (listed(kExtensions, name.substr(point))) return name.substr(point);
    std::size_t library = name.find(".so.");  // "libx.so.1.2"
    return library != name.npos && library > 0 ? name.substr(library, 3) : std::string_view();
}

RecognisedName find_name(std::string_view text, std::size_t from) {
    for (std::size_t at = from; at < text.size();) {
        bool begins = at == 0 || !in_long_name(text[at - 1]) || text[at - 1] == '@';
        if (!begins || !(in_long_name(text[at]))) {
            ++at;
            continue;
        }
        if (RecognisedName name = name_at(text, at); !name.kind.empty() && name.end > at) return name;
        while (at < text.size() && in_long_name(text[at])) ++at;
    }
    return {text.size(), text.size(), {}};
}

}  // namespace gpuprof::model
