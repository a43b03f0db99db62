#include "collect/inject/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/inject/process_status.h"

namespace gpuprof::inject {
namespace {

// Helper programs that a command starts and that are not worth recording: shells, compilers, tools that query GPUs. The
// library stays dormant in them, unless the launcher was told to record all children, or the program is the recorded
// command itself. The launcher still notes that they ran, and their CPU use.

// By the file name of the program.
inline constexpr std::string_view kHelperPrograms[] = {
    // shells and tools used by scripts
    "sh", "bash", "dash", "zsh", "fish", "busybox", "env", "sed", "awk", "grep", "cat", "which", "uname",
    // builds
    "make", "gmake", "ninja", "cmake", "ccache", "git",
    // compilers for host and device
    "cc", "c++", "gcc", "g++", "cc1", "cc1plus", "clang", "clang++", "collect2", "as", "ld", "ld.gold", "ld.lld", "lld",
    "nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink", "bin2c", "cuobjdump", "nvdisasm",
    // tools
    "nvidia-smi", "nvidia-debugdump", "ldconfig", "ldconfig.real", "addr2line", "lsb_release"};

// A compiler's file name often contains its version or target: x86_64-linux-gnu-g++-12 is g++, clang-14 is clang.
constexpr bool is_helper_program(std::string_view name) noexcept {
    std::string_view stem = name.substr(0, name.find_last_not_of("0123456789.") + 1);
    if (stem.size() < name.size() && !stem.empty() && stem.back() == '-') name = stem.substr(0, stem.size() - 1);
    constexpr std::string_view kTarget = "-linux-gnu-";
    if (std::size_t target = name.find(kTarget); target != std::string_view::npos)
        name.remove_prefix(target + kTarget.size());
    for (std::string_view known : kHelperPrograms)
        if (name == known) return true;
    return false;
}

static_assert(is_helper_program("x86_64-linux-gnu-g++-12") && is_helper_program("clang-14") && is_helper_program("sh"));
static_assert(!is_helper_program("python3.11") && !is_helper_program("") && !is_helper_program("-") &&
              !is_helper_program("7"));

// Reads one setting from `words`, a comma-separated list of "NAME=INTEGER".
template <class Value>
void take(const char* words, std::string_view name, Value& value) noexcept {
    std::size_t length = name.size();
    for (const char* at = words; at != nullptr; at = std::strchr(at, ',')) {
        at += *at == ',';
        if (std::strncmp(at, name.data(), length) == 0 && at[length] == '=')
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
                 [words](const SettingSpec& setting, auto& value) { take(words, setting.name, value); });
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
