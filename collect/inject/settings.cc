#include "collect/inject/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/inject/helper_programs.h"
#include "collect/inject/process_status.h"

namespace gpuprof::inject {
namespace {

// Reads one setting from `words`, a comma-separated list of "NAME=INTEGER".
template <class Value>
void take(const char* words, const char* name, Value& value) noexcept {
    std::size_t length = std::strlen(name);
    for (const char* at = words; at != nullptr; at = std::strchr(at, ',')) {
        at += *at == ',';
        if (std::strncmp(at, name, length) == 0 && at[length] == '=')
            value = static_cast<Value>(std::strtoll(at + length + 1, nullptr, 10));
    }
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

// Whether this program is not worth recording; the command itself, a child of the launcher, always is. Under seccomp the program's
// name is that by which it was started, because readlink might end it.
bool filtered(const RecorderSettings& settings) noexcept {
    if (settings.all_children) return false;
    ProcessStatus status = read_process_status();
    if (status.parent == settings.launcher) return false;
    char path[4096];
    std::string_view name;
    if (!status.filtered) {
        ssize_t size = readlink("/proc/self/exe", path, sizeof path);
        name = {path, size <= 0 ? 0 : static_cast<std::size_t>(size)};
    } else if (unsigned long started = getauxval(AT_EXECFN); started != 0) {
        name = reinterpret_cast<const char*>(started);
    }
    return is_helper_program(name.substr(name.rfind('/') + 1));
}

Settings read_settings() noexcept {
    Settings settings;
    if (getauxval(AT_SECURE) != 0) return settings;
    const char* words = std::getenv("GPUPROF_RECORD");
    each_setting(static_cast<RecorderSettings&>(settings),
                 [words](const char* name, auto& value) { take(words, name, value); });
    settings.active = copy_variable("GPUPROF_RECORD_DIR", settings.folder) && settings.folder[0] == '/' &&
                      copy_variable("GPUPROF_CUPTI", settings.library) &&
                      copy_variable("GPUPROF_RECORD_RANGE", settings.annotation) && !filtered(settings);
    return settings;
}

}  // namespace

const Settings& settings() noexcept {
    static const Settings read = read_settings();
    return read;
}

}  // namespace gpuprof::inject
