#include "core/model/privacy/frame_parts.h"

#include <algorithm>

#include "core/base/text/ascii.h"
#include "core/model/privacy/recognised_names.h"

namespace gpuprof::inline model {
namespace {

using Kind = FramePart::Kind;
constexpr std::size_t kNowhere = std::string_view::npos;

bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool looks_like_path(std::string_view text) {
    return text.find_first_of("/\\") != kNowhere || !file_extension(text).empty() ||
           (text.starts_with('<') && text.ends_with('>'));
}

bool begins_with_name(std::string_view text) {
    RecognisedName name = find_name(text.substr(0, 256));
    return !name.kind.empty() && name.begin == 0;
}

// "operator/" is the only symbol with a slash. Blanks are in C++ and Rust: "void f<int>(int)", "<T as Trait>::f".
bool is_symbol(std::string_view text) {
    if (text.empty() || text.front() == ' ') return false;
    bool attached = false, blank = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i], before = i == 0 ? ' ' : text[i - 1];
        if (c == '/' && !text.substr(0, i).ends_with("operator") && !text.substr(0, i).ends_with("operator/"))
            return false;
        if (c == '\\' || c == '"' || static_cast<unsigned char>(c) < ' ') return false;
        if (c == '@' && before != '@' && !text.substr(i).starts_with("@plt") && text.substr(i, 2) != "@@") return false;
        blank |= c == ' ';
        attached |= (c == '(' && in_name(before)) || c == '<' || text.substr(i, 2) == "::";
    }
    bool module = text.starts_with("nn.Module: ") && text.find(' ', 11) == kNowhere;
    return (!blank || attached || module) && find_name(text).kind.empty();
}

// Where ":12" or ":12:3", a line and a column, begins at the end of a place.
std::size_t line_of(std::string_view place) {
    std::size_t line = place.size();
    for (int i = 0; i < 2; ++i) {
        std::size_t colon = place.substr(0, line).rfind(':');
        if (colon == kNowhere || colon == 0 || !all_digits(place.substr(colon + 1, line - colon - 1))) break;
        line = colon;
    }
    return line;
}

// "+0x1f" after a module.
std::size_t offset_of(std::string_view module) {
    std::size_t plus = module.rfind("+0x");
    bool is_offset = plus != kNowhere && plus > 0 && module.find_first_not_of("0123456789abcdef", plus + 3) == kNowhere;
    return is_offset ? plus : module.size();
}

// Names of files and functions may look like the mark between them, but only a few times.
constexpr int kMaxTries = 8;

FrameParts torch_form(std::string_view frame) {
    int tries = 0;
    for (std::size_t close = frame.find("): "); close != kNowhere && tries < kMaxTries;
         close = frame.find("): ", close + 1)) {
        std::size_t digits = close;
        while (digits > 0 && is_digit(frame[digits - 1])) --digits;
        if (digits == close || digits < 2 || frame[digits - 1] != '(') continue;
        ++tries;
        std::string_view function = frame.substr(close + 3);
        if (is_symbol(function))
            return {{Kind::file, frame.substr(0, digits - 1)},
                    {Kind::text, frame.substr(digits - 1, close + 4 - digits)},
                    {Kind::function, function}};
    }
    return {};
}

// The place in "function (place)" begins at `open`.
FrameParts with_place(std::string_view frame, std::size_t open) {
    std::string_view function = frame.substr(0, open), place = frame.substr(open + 2, frame.size() - open - 3);
    std::size_t end = std::min(line_of(place), offset_of(place));
    if (end == 0 || !is_symbol(function)) return {};
    return {{Kind::function, function},
            {Kind::text, " ("},
            {Kind::file, place.substr(0, end)},
            {Kind::text, frame.substr(open + 2 + end)}};
}

FrameParts sampler_form(std::string_view frame) {
    if (!frame.ends_with(')')) return {};
    std::size_t last = frame.rfind(" (");
    bool plain = last != kNowhere && frame.substr(last + 2).find_first_of("()") == frame.size() - last - 3;
    std::size_t open = frame.find(" (");
    for (int tries = 0; open != kNowhere && open < last && tries < kMaxTries;
         ++tries, open = frame.find(" (", open + 1))
        if (begins_with_name(frame.substr(open + 2)))  // a folder may have " (" in its name
            return with_place(frame, open);
    if (plain) return with_place(frame, last);
    return last != kNowhere && looks_like_path(frame.substr(last)) ? with_place(frame, last) : FrameParts();
}

FrameParts proton_form(std::string_view frame) {
    std::size_t sign = frame.rfind('@'), colon = frame.substr(0, sign).rfind(':');
    if (sign == kNowhere || colon == kNowhere || colon == 0) return {};
    std::string_view middle = frame.substr(colon + 1, sign - colon - 1), last = frame.substr(sign + 1);
    bool line_first = all_digits(middle) && is_symbol(last);
    if (!line_first && !(all_digits(last) && is_symbol(middle))) return {};
    return {{Kind::file, frame.substr(0, colon)},
            {Kind::text, ":"},
            {line_first ? Kind::text : Kind::function, middle},
            {Kind::text, "@"},
            {line_first ? Kind::function : Kind::text, last}};
}

FrameParts traceback_form(std::string_view frame) {
    std::size_t open = frame.find("File \""), close = frame.rfind("\", line ");
    if (open == kNowhere || close == kNowhere || close < open + 7 || frame.find_first_not_of(' ') != open) return {};
    std::size_t line = close + 8, end = std::min(frame.find_first_not_of("0123456789", line), frame.size());
    FrameParts parts = {{Kind::text, frame.substr(0, open + 6)},
                        {Kind::file, frame.substr(open + 6, close - open - 6)},
                        {Kind::text, frame.substr(close, end - close)}};
    if (end == frame.size()) return parts;
    std::string_view in = frame.substr(end, 5), function = frame.substr(std::min(end + 5, frame.size()));
    if (in != ", in " || !is_symbol(function)) return {};
    parts.push_back({Kind::text, in});
    parts.push_back({Kind::function, function});
    return parts;
}

FrameParts place_form(std::string_view frame) {
    std::string_view at = frame.substr(0, frame.starts_with("at ") ? 3 : 0), place = frame.substr(at.size());
    std::size_t line = line_of(place);
    if (line == 0 || !looks_like_path(place.substr(0, line))) return {};
    return {{Kind::text, at}, {Kind::file, place.substr(0, line)}, {Kind::text, place.substr(line)}};
}

}  // namespace

FrameParts frame_parts(std::string_view frame) {
    for (auto form : {torch_form, sampler_form, proton_form, traceback_form})
        if (FrameParts parts = form(frame); !parts.empty()) return parts;
    if (is_symbol(frame)) return {{Kind::function, frame}};
    return place_form(frame);
}

bool names_a_file(const FrameParts& parts) {
    bool has_line = false, has_path = false, has_name = false;
    bool alone =
        std::none_of(parts.begin(), parts.end(), [](const FramePart& part) { return part.kind == Kind::function; });
    for (const FramePart& part : parts) {
        has_line |= part.kind == Kind::text && part.text.find_first_of("0123456789") != kNowhere;
        if (part.kind != Kind::file) continue;
        has_path |= looks_like_path(part.text) && !(alone && part.text.find(' ') != kNowhere);
        has_name |= begins_with_name(part.text);
    }
    return has_name || (has_path && has_line);
}

}  // namespace gpuprof::model
