#include "collect/launch/injection.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/caught.h"
#include "core/base/files/names_in.h"
#include "core/base/files/path_search.h"
#include "core/format/control.h"
#include "core/schema/os_call_meta_keys.h"

namespace gpuprof::inline launch {

bool PreloadPath::holds(const std::string& path) { return path.find_first_of(" :$\t\n") == std::string::npos; }

Result<PreloadPath> PreloadPath::of(const std::string& library) {
    if (holds(library)) return PreloadPath(library, "");
    std::vector<std::string> places;
    for (const char* variable : {"TMPDIR", "XDG_RUNTIME_DIR"})
        if (const char* value = std::getenv(variable); value != nullptr && value[0] == '/') places.emplace_back(value);
    places.insert(places.end(), {"/tmp", "/dev/shm"});
    int why = ENOENT;
    for (const std::string& place : places) {
        if (!holds(place)) continue;
        std::string folder = place + "/gpu-profile-XXXXXX";
        if (mkdtemp(folder.data()) == nullptr) {
            why = errno;
            continue;
        }
        std::string link = folder + library.substr(library.rfind('/'));
        bool usable = holds(link) && symlink(library.c_str(), link.c_str()) == 0;
        if (usable) return PreloadPath(link, folder);
        why = errno;
        rmdir(folder.c_str());
    }
    return Error{
        ExitCode::not_permitted,
        fmt::format(
            "cannot preload {}: LD_PRELOAD does not support a character in its path, and no temporary folder accepts a "
            "link to it ({}); another profiler in the program may prevent recording of device work, and "
            "records of processes that exit through _exit are lost",
            library, std::strerror(why))};
}

PreloadPath::PreloadPath(PreloadPath&& other) noexcept
    : path_(std::exchange(other.path_, {})), folder_(std::exchange(other.folder_, {})) {}

PreloadPath::~PreloadPath() {
    if (folder_.empty()) return;
    unlink(path_.c_str());
    rmdir(folder_.c_str());
}

namespace {

constexpr std::string_view kSuffixes[] = {".gpuprof", meta_key::kOsCallLogSuffix};  // of what processes write

std::string absolute(const std::string& path) {
    if (!path.empty() && path[0] == '/') return path;
    std::array<char, PATH_MAX> folder{};
    return getcwd(folder.data(), folder.size()) != nullptr ? fmt::format("{}/{}", folder.data(), path) : path;
}

std::vector<std::string> with_suffix(const std::string& path, std::span<const std::string> names,
                                     std::string_view suffix) {
    std::vector<std::string> files;
    for (const std::string& name : names)
        if (name.size() > suffix.size() && name.ends_with(suffix)) files.push_back(path + "/" + name);
    return files;
}

}  // namespace

std::vector<std::string> files_in(const std::string& path, std::string_view suffix) {
    return with_suffix(path, names_in(path), suffix);
}

std::vector<std::string> parts_in(const std::string& path) { return files_in(path, ".gpuprof"); }

Result<std::vector<std::string>> list_parts(const std::string& path) {
    Result<std::vector<std::string>> names = list_names(path);
    if (!names.ok()) return names.error();
    return with_suffix(path, *names, ".gpuprof");
}

Result<SpoolFolder> SpoolFolder::make(const std::string& path) {
    std::string pattern = absolute(path) + ".parts-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
        return Error{errno == EACCES || errno == EPERM || errno == EROFS ? ExitCode::not_permitted : ExitCode::usage,
                     fmt::format("cannot create folder {} for the recording: {}", pattern, std::strerror(errno))};
    return SpoolFolder(pattern);
}

std::uint64_t SpoolFolder::bytes() const {
    std::uint64_t bytes = 0;
    struct stat about {};
    for (std::string_view suffix : kSuffixes)
        for (const std::string& file : files_in(path_, suffix))
            if (stat(file.c_str(), &about) == 0) bytes += static_cast<std::uint64_t>(about.st_size);
    return bytes;
}

void SpoolFolder::report_disk_full() const {
    int file = open((path_ + "/full").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

SpoolFolder::~SpoolFolder() {
    if (path_.empty() || caught([this] { remove(); })) return;
    (void)caught([this] { remove(); });  // memory may have been short for a moment
}

void SpoolFolder::remove() const {
    unlink((path_ + "/full").c_str());
    unlink((path_ + "/" + control::kFile).c_str());
    for (const std::string& file : files_in(path_, control::kReportSuffix)) unlink(file.c_str());
    unlink((path_ + "/" + meta_key::kOsCallShare).c_str());
    unlink((path_ + "/counters.plan").c_str());  // core/format/counter_plan.h
    std::error_code failed;
    std::filesystem::remove_all(path_ + "/logs", failed);  // cli/record/debug_environment.h; follows no links
    for (std::string_view suffix : kSuffixes)
        for (const std::string& file : files_in(path_, suffix)) unlink(file.c_str());
    rmdir(path_.c_str());
}

std::string injected_library() { return installed_file("libgpuprof_inject.so"); }

namespace {

// GPUPROF_RECORD: the settings that do not have their initial values.
std::string words_of(const RecorderSettings& settings) {
    std::vector<std::string> words;
    each_setting(settings, [&](const SettingSpec& setting, auto value) {
        if (is_given(setting, value))
            words.push_back(fmt::format("{}={}", setting.name, static_cast<std::int64_t>(value)));
    });
    return fmt::format("{}", fmt::join(words, ","));
}

// Prepends `value` to a variable.
void put_first(ProgramEnvironment& environment, const char* name, const std::string& value, char between) {
    std::string before = environment.get(name).value_or("");
    if (before.empty())
        environment.set(name, value);
    else if (value != std::string_view(before).substr(0, before.find(between)))
        environment.set(name, fmt::format("{}{}{}", value, between, before));
}

}  // namespace

std::vector<std::string> set_injection(ProgramEnvironment& environment, const std::string& library,
                                       const std::string& preload, const SpoolFolder& folder,
                                       const InjectionOptions& options) {
    std::vector<std::string> remarks;
    for (auto [wanted, name] :
         {std::pair{options.cuda, "CUDA_INJECTION64_PATH"}, {options.nvtx, "NVTX_INJECTION64_PATH"}}) {
        if (!wanted) continue;
        std::string other = environment.get(name).value_or("");
        if (!other.empty() && library != other)
            remarks.push_back(
                fmt::format("{} is already set to {}; it is kept, so this recording lacks that data", name, other));
        else
            environment.set(name, library);
    }
    environment.set("GPUPROF_RECORD_DIR", folder.path());
    RecorderSettings settings = options.recorder;
    settings.launcher = getpid();
    environment.set("GPUPROF_RECORD", words_of(settings));
    if (options.annotation.empty())
        environment.remove("GPUPROF_RECORD_RANGE");
    else
        environment.set("GPUPROF_RECORD_RANGE", options.annotation);
    if (preload.empty()) return remarks;
    // Intercepts calls between another client and CUPTI, and exits through _exit. Programs built with the address
    // sanitizer refuse to start with a preloaded library unless told that it is intended.
    put_first(environment, "LD_PRELOAD", preload, ':');
    put_first(environment, "ASAN_OPTIONS", "verify_asan_link_order=0", ':');
    // Proton loads CUPTI from these folders; what the user set is kept.
    std::string stand_in = library.substr(0, library.rfind('/')) + "/cupti_stand_in";
    if (access((stand_in + "/libcupti.so").c_str(), R_OK) == 0)
        for (const char* name : {"TRITON_CUPTI_LIB_PATH", "TRITON_CUPTI_LIB_BLACKWELL_PATH"})
            environment.set_if_absent(name, stand_in);
    return remarks;
}

}  // namespace gpuprof::launch
