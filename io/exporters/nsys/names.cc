#include "io/exporters/nsys/names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace gpuprof::inline exporters::nsys {
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

}  // namespace gpuprof::exporters::nsys
