#include "collect/inject/settings.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>

namespace gpuprof::inject {
namespace {

// Whether `word` is one of the words of `text`, which are separated by commas.
bool has_word(const char* text, const char* word) noexcept {
    std::size_t length = std::strlen(word);
    for (const char* at = text; at != nullptr && *at != '\0';) {
        const char* comma = std::strchr(at, ',');
        std::size_t size = comma != nullptr ? static_cast<std::size_t>(comma - at) : std::strlen(at);
        if (size == length && std::memcmp(at, word, size) == 0) return true;
        at = comma != nullptr ? comma + 1 : nullptr;
    }
    return false;
}

}  // namespace

Settings read_settings() noexcept {
    Settings settings;
    if (getauxval(AT_SECURE) != 0) return settings;
    settings.folder = std::getenv("GPUPROF_RECORD_DIR");
    settings.active = settings.folder != nullptr && settings.folder[0] == '/';
    settings.cupti = std::getenv("GPUPROF_CUPTI");
    const char* words = std::getenv("GPUPROF_RECORD");
    settings.all_api = has_word(words, "api=all");
    settings.graph_level = has_word(words, "graph=graph");
    return settings;
}

}  // namespace gpuprof::inject
