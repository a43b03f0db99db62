#include "collect/inject/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/inject/not_recorded.h"

namespace gpuprof::inject {
namespace {

// Where the value of `key` ("key=value", between commas) begins in `text`, or for a bare word its end; null: it is not there.
const char* find_word(const char* text, const char* key) noexcept {
    std::size_t length = std::strlen(key);
    for (const char* at = text; at != nullptr && *at != '\0';) {
        if (std::strncmp(at, key, length) == 0) {
            if (at[length] == '=') return at + length + 1;
            if (at[length] == ',' || at[length] == '\0') return at + length;
        }
        const char* comma = std::strchr(at, ',');
        at = comma != nullptr ? comma + 1 : nullptr;
    }
    return nullptr;
}

bool is(const char* words, const char* key, const char* value) noexcept {
    const char* at = find_word(words, key);
    std::size_t length = std::strlen(value);
    return at != nullptr && std::strncmp(at, value, length) == 0 && (at[length] == ',' || at[length] == '\0');
}

std::int64_t number(const char* words, const char* key) noexcept {
    const char* at = find_word(words, key);
    return at != nullptr ? std::strtoll(at, nullptr, 10) : 0;
}

// Whether it fitted.
template <std::size_t Size>
bool copy_variable(const char* name, char (&to)[Size]) noexcept {
    const char* value = std::getenv(name);
    if (value == nullptr) return true;
    std::size_t length = std::strlen(value);
    if (length >= Size) return false;
    std::memcpy(to, value, length + 1);
    return true;
}

Range range_of(const char* words) noexcept {
    if (is(words, "range", "nvtx")) return Range::nvtx;
    if (is(words, "range", "profiler")) return Range::profiler_api;
    if (is(words, "range", "iterations")) return Range::iterations;
    return is(words, "range", "calls") ? Range::calls : Range::always;
}

// Whether this program is one that nobody wants to see; the command itself, a child of the launcher, always is wanted.
bool filtered(const char* words) noexcept {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    if (size <= 0 || is(words, "children", "all") || number(words, "launcher") == getppid()) return false;
    std::string_view name(path, static_cast<std::size_t>(size));
    return is_not_recorded(name.substr(name.rfind('/') + 1));
}

}  // namespace

Settings read_settings() noexcept {
    Settings settings;
    if (getauxval(AT_SECURE) != 0) return settings;
    settings.active = copy_variable("GPUPROF_RECORD_DIR", settings.folder) && settings.folder[0] == '/' &&
                      copy_variable("GPUPROF_CUPTI", settings.cupti) &&
                      copy_variable("GPUPROF_RECORD_RANGE", settings.annotation);
    const char* words = std::getenv("GPUPROF_RECORD");
    settings.active = settings.active && !filtered(words);
    settings.limited = find_word(words, "limited") != nullptr;
    settings.all_api = is(words, "api", "all");
    settings.graph_level = is(words, "graph", "graph");
    settings.memory = find_word(words, "memory") != nullptr;
    settings.policy = is(words, "cupti", "own")     ? Policy::own
                      : is(words, "cupti", "yield") ? Policy::yield
                                                    : Policy::share;
    settings.delay_ns = number(words, "delay");
    settings.duration_ns = number(words, "duration");
    settings.keep_last_ns = number(words, "keep");
    settings.range = range_of(words);
    settings.first = static_cast<std::uint64_t>(number(words, "first"));
    settings.last = static_cast<std::uint64_t>(number(words, "last"));
    return settings;
}

}  // namespace gpuprof::inject
