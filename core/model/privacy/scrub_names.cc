#include "core/model/privacy/scrub_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/ascii.h"
#include "core/model/privacy/frame_parts.h"
#include "core/model/privacy/public_names.h"
#include "core/model/privacy/recognised_names.h"
#include "core/schema/debug_env.h"

namespace gpuprof::inline model {
namespace {

bool in_plain_name(char c) { return in_name(c) && c != '_'; }

// Of letters, digits and what joins them into the name of a user.
std::string_view first_word(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (in_plain_name(text[end]) || std::string_view("_-.").find(text[end]) != text.npos))
        ++end;
    while (end > 0 && text[end - 1] == '.') --end;
    return text.substr(0, end);
}

// What may stand between numbers, and the digits of hashes.
bool is_numbers(std::string_view text) {
    return text.find_first_not_of("0123456789abcdefx[](){},:;.-+/ ") == std::string_view::npos &&
           text.find("//") == std::string_view::npos;
}

bool is_constant(std::string_view text) {
    for (std::string_view word : {"True", "False", "None", "true", "false", "null", "inf", "-inf", "nan"})
        if (text == word) return true;
    return text.empty();
}

// A number, a list of them, or a constant.
bool is_plain_argument(std::string_view text) {
    return is_constant(text) || text.find_first_not_of("0123456789+-.eE, []()") == std::string_view::npos;
}

// Scalars as JSON without the strings among them: of each word, quoted or not, only the plain values.
std::string plain_arguments(std::string_view json) {
    constexpr std::string_view kBetween = "[]{}:, ";
    std::string out;
    for (std::size_t i = 0; i < json.size();) {
        std::size_t end = i + 1;
        if (json[i] == '"') {
            while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
            std::string_view text = json.substr(i + 1, std::min(end, json.size()) - i - 1);
            out += fmt::format("\"{}\"", is_plain_argument(text) ? text : "");
            ++end;
        } else if (kBetween.find(json[i]) != std::string_view::npos) {
            out += json[i];
        } else {
            end = std::min(json.find_first_of("[]{}:, \"", i), json.size());
            if (is_plain_argument(json.substr(i, end - i))) out += json.substr(i, end - i);
        }
        i = end;
    }
    return out;
}

}  // namespace

void ScrubNames::number() {
    for (auto& [kind, names] : numbers_) {
        std::size_t next = 1;
        for (auto& [name, number] : names) number = next++;
    }
    numbered_ = true;
}

std::string ScrubNames::replaced(std::string_view kind, std::string_view name, std::string_view ending) {
    if (!numbered_) {
        numbers_[std::string(kind)].try_emplace(std::string(name), 0);
        return {};
    }
    const auto& names = numbers_.find(kind)->second;
    std::size_t digits = std::to_string(names.size()).size();
    return fmt::format("{}-{:0{}}{}", kind, names.find(name)->second, digits, ending);
}

// "HOST:PID/TID" keeps its form with another host; other keys are numbers after a file name, or only numbers.
std::string ScrubNames::identity(std::string_view text) {
    const auto& hosts = numbers_["host"];
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1))
        if (hosts.contains(text.substr(0, colon)) &&
            text.find_first_not_of("0123456789:/", colon) == std::string_view::npos)
            return replaced("host", text.substr(0, colon)) + std::string(text.substr(colon));
    std::size_t tail = text.size();
    for (std::size_t i = text.size(); i > 0; --i) {
        if (is_digit(text[i - 1])) continue;
        bool between = std::string_view(":/ ").find(text[i - 1]) != std::string_view::npos && i < text.size();
        if (!between || !is_digit(text[i])) break;
        tail = i - 1;
    }
    std::string_view head = text.substr(0, tail);
    if (head.find_first_not_of("0123456789") == head.npos) return std::string(text);
    return replaced("process", head) + std::string(text.substr(tail));
}

void ScrubNames::learn_word(std::string_view word, std::string_view kind, std::string_view name) {
    if (is_ordinary_name(word)) return;
    known_.try_emplace(std::string(word), Known{kind, std::string(name)});
    longest_known_ = std::max(longest_known_, word.size());
}

void ScrubNames::learn_names(Privacy privacy, std::string_view text) {
    if (privacy == Privacy::host && !text.empty()) {
        (void)replaced("host", text);
        learn_word(text, "host", text);
        learn_word(text.substr(0, text.find('.')), "host", text);
    }
    for (std::string_view folder :
         {std::string_view("/home/"), std::string_view("/Users/"), std::string_view("\\Users\\")})
        for (std::size_t at = text.find(folder); at != text.npos; at = text.find(folder, at + 1)) {
            std::string_view rest = text.substr(at + folder.size());
            std::string_view user = first_word(rest);
            learn_word(user, "user", user);
            if (user.empty() || rest.size() < user.size() + 2 || rest[user.size()] != ' ') continue;
            std::string_view second = first_word(rest.substr(user.size() + 1));  // "Alice Smith"
            std::size_t end = user.size() + 1 + second.size();
            bool ends_folder = end < rest.size() && (rest[end] == '/' || rest[end] == '\\');
            if (ends_folder && is_upper(user[0]) && is_upper(rest[user.size() + 1])) learn_word(second, "user", second);
        }
}

// "alice_step" and "node12-gpu0" have names in them, "malice" has none.
std::string ScrubNames::without_known(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        bool begins = !known_.empty() && in_plain_name(text[at]) && (at == 0 || !in_plain_name(text[at - 1]));
        auto found = known_.end();
        if (begins) {
            std::size_t limit = at;
            while (limit < text.size() && limit < at + longest_known_ &&
                   (in_plain_name(text[limit]) || std::string_view("_-.").find(text[limit]) != text.npos))
                ++limit;
            for (end = limit; end > at && found == known_.end(); --end)
                if (end == text.size() || !in_plain_name(text[end])) found = known_.find(text.substr(at, end - at));
        }
        if (found != known_.end()) {
            out += replaced(found->second.kind, found->second.name);
            at += found->first.size();
        } else {
            out += text[at++];
        }
    }
    return out;
}

// A text that stays, without the names in it.
std::string ScrubNames::kept(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        RecognisedName name = find_name(text, at);
        out += without_known(text.substr(at, name.begin - at));
        std::string_view shown = text.substr(name.begin, name.end - name.begin);
        if (name.kind == "file")
            out += file(shown);
        else if (!shown.empty())
            out += replaced(name.kind, shown);
        at = name.end;
    }
    return out;
}

std::string ScrubNames::file(std::string_view path) {
    std::string_view open = public_file(path);
    return open.empty() ? replaced("file", path, file_extension(path)) : std::string(open);
}

std::string ScrubNames::function(std::string_view name) {
    bool builtin = name.starts_with('<');  // <built-in method run>, <module>
    return options_.ranges && !builtin ? replaced("function", name) : kept(name);
}

std::string ScrubNames::frame(std::string_view text) {
    FrameParts parts = frame_parts(text);
    if (parts.empty()) return text.empty() ? std::string() : replaced("frame", text);
    bool is_public = std::any_of(parts.begin(), parts.end(), [](const FramePart& part) {
        return part.kind == FramePart::Kind::file && !public_file(part.text).empty();
    });
    std::string out;
    for (const FramePart& part : parts)
        if (part.kind == FramePart::Kind::file)
            out += file(part.text);
        else if (part.kind == FramePart::Kind::function)
            out += is_public ? kept(part.text) : function(part.text);
        else
            out += part.text;
    return out;
}

std::string ScrubNames::frames(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t end = std::min(text.find(';', at), text.size());
        if (at > 0) out += ';';
        out += frame(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::string ScrubNames::scope(std::string_view text) {
    if (names_a_file(frame_parts(text))) return frame(text);
    return options_.kernels || options_.ranges ? replaced("scope", text) : kept(text);
}

std::string ScrubNames::range(std::string_view name, std::string_view kind) {
    // Logs of libraries contain addresses of hosts and paths.
    if (std::string_view head = debug_env::head_of_log_line(name); !head.empty()) return std::string(head) + "***";
    if (!options_.ranges || name.empty()) return kept(name);
    if (std::size_t part = framework_part(name); part > 0)
        return kept(name.substr(0, part)) + range(name.substr(part), kind);
    return replaced(kind, name);
}

std::string ScrubNames::scrub(Privacy privacy, std::string_view text) {
    if (text.empty()) return {};
    switch (privacy) {
        case Privacy::term:
        case Privacy::fact: return kept(text);
        case Privacy::numbers: return std::string(is_numbers(text) ? text : std::string_view());
        case Privacy::metric: return is_public_metric(text) ? std::string(text) : range(text, "metric");
        case Privacy::identity: return identity(text);
        case Privacy::host: return replaced("host", text);
        case Privacy::device: return replaced("device", text);
        case Privacy::job: return replaced("job", text);
        case Privacy::program:
        case Privacy::thread: {
            std::string_view name = text.substr(0, text.find(' '));
            name = name.substr(name.rfind('/') + 1);
            std::string_view kind = privacy == Privacy::program ? "program" : "thread";
            return is_public_program(name) ? std::string(name) : replaced(kind, text);
        }
        case Privacy::stack: return frames(text);
        case Privacy::op:
        case Privacy::range: return range(text);
        case Privacy::kernel: return options_.kernels ? replaced("kernel", text) : kept(text);
        case Privacy::scope: return scope(text);
        case Privacy::arguments: return plain_arguments(text);
        case Privacy::removed: break;
    }
    return {};
}

}  // namespace gpuprof::model
