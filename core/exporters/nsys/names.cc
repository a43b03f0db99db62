#include "core/exporters/nsys/names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace gpuprof::nsys {
namespace {

template <std::size_t N>
std::int64_t number_of(const std::string_view (&words)[N], std::string_view word, std::int64_t otherwise) {
    auto same = [&](std::string_view known) {
        return std::equal(known.begin(), known.end(), word.begin(), word.end(), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    };
    auto found = std::find_if(std::begin(words), std::end(words), same);
    return found == std::end(words) ? otherwise : found - std::begin(words);
}

}  // namespace

std::int64_t copy_kind(std::string_view word) {
    static constexpr std::string_view kWords[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                  "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    return number_of(kWords, word, 0);
}

std::int64_t memory_kind(std::string_view word) {
    static constexpr std::string_view kWords[] = {"pageable", "pinned",        "device",         "array",
                                                  "managed",  "device static", "managed static", "unknown"};
    return number_of(kWords, word, 7);
}

std::int64_t sync_type(std::string_view word) {
    static constexpr std::string_view kWords[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
    return number_of(kWords, word, 0);
}

std::string_view short_name(std::string_view name) {
    constexpr std::string_view kUnnamed = "(anonymous namespace)";
    std::size_t begin = 0, at = 0;
    while (at < name.size()) {
        std::string_view rest = name.substr(at);
        if (rest.starts_with(kUnnamed)) {
            at += kUnnamed.size();
        } else if (rest[0] == '<' || rest[0] == '(') {
            break;
        } else if (rest[0] == ' ') {
            begin = ++at;
        } else if (rest.starts_with("::")) {
            begin = at += 2;
        } else {
            ++at;
        }
    }
    return at > begin ? name.substr(begin, at - begin) : name;
}

}  // namespace gpuprof::nsys
