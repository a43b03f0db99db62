#include "cli/doctor/probe.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/doctor/cupti_version.h"
#include "collect/pm/cupti_candidates.h"
#include "core/base/files/names_in.h"
#include "core/base/files/path_search.h"
#include "core/base/text/ascii.h"
#include "core/base/text/readable.h"
#include "core/format/cupti_versions.h"

namespace gpuprof::inline cli {
namespace {

// The first `most` bytes of a file; absent if it cannot be read.
std::optional<std::string> read_start(const std::string& path, std::size_t max_bytes = 64 * 1024) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(max_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

// The value of a line "KEY: value".
std::string value_of(const std::string& text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(key, 0) != 0 || line[key.size()] != ':') continue;
        std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
        return begin == std::string::npos ? "" : line.substr(begin);
    }
    return {};
}

using Library = std::unique_ptr<void, int (*)(void*)>;
Library load(const char* name) { return {dlopen(name, RTLD_LAZY | RTLD_LOCAL), dlclose}; }

constexpr std::string_view kInContainer = "start a container with --gpus all (NVIDIA Container Toolkit)";

// A file of the driver; those of another folder if GPUPROF_DRIVER_ROOT names one, as tests of a whole machine do.
std::string driver_file(const Machine& machine, const char* path) {
    std::string other = machine.environment("GPUPROF_DRIVER_ROOT");
    return (other.empty() ? machine.root : other) + path;
}

// The driver's version; "" without a driver.
std::string driver_version(const Machine& machine) {
    std::string text = read_start(driver_file(machine, "/proc/driver/nvidia/version")).value_or("");
    // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  ...": the first number with a point
    std::istringstream words(text.substr(0, text.find('\n')));
    for (std::string word; words >> word;)
        if (is_digit(word[0]) && word.find('.') != std::string::npos) return word;
    return {};
}

Check check_module(const Machine& machine) {
    Check check{.name = "NVIDIA kernel driver", .found = {}, .remedy = {}};
    if (access(driver_file(machine, "/proc/driver/nvidia/version").c_str(), R_OK) != 0) {
        check.found = "kernel module not loaded: /proc/driver/nvidia does not exist";
        check.remedy = fmt::format("install the NVIDIA driver; {}", kInContainer);
        return check;
    }
    check.health = Health::ok;
    check.found = "version " + driver_version(machine);
    return check;
}

Check check_gpus(const Machine& machine) {
    Check check{.name = "GPUs", .found = {}, .remedy = {}};
    std::string models;
    std::size_t known = 0;
    for (const std::string& path : matching_paths(driver_file(machine, "/proc/driver/nvidia/gpus/*/information"))) {
        ++known;
        models += fmt::format("{}{}", models.empty() ? "" : ", ", value_of(read_start(path).value_or(""), "Model"));
    }
    std::size_t usable = 0;
    for (const std::string& path : matching_paths(driver_file(machine, "/dev/nvidia[0-9]*")))
        if (access(path.c_str(), R_OK | W_OK) == 0) ++usable;
    check.health = usable < known ? Health::limited : Health::ok;
    if (usable == 0) check.health = Health::missing;
    check.found = known == 0 && usable == 0 ? "none" : fmt::format("{} of {} usable: {}", usable, known, models);
    if (check.health == Health::ok) check.found = models;
    if (check.health != Health::ok)
        check.remedy = fmt::format("give this user access to /dev/nvidia*; {}", kInContainer);
    return check;
}

// cuDriverGetVersion answers without cuInit (CUDA driver API, version management): 13000 is 13.0. 0: unknown.
int cuda_version(void* library) {
    auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
    int version = 0;
    return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

int cuda_version_here() {
    Library library = load("libcuda.so.1");
    return library ? cuda_version(library.get()) : 0;
}

Check check_cuda() {
    Check check{
        .name = "CUDA driver library", .found = "cannot load libcuda.so.1", .remedy = "install the NVIDIA driver"};
    Library library = load("libcuda.so.1");
    if (!library) return check;
    int version = cuda_version(library.get());
    return {check.name, Health::ok,
            version != 0 ? fmt::format("up to CUDA {}.{}", version / 1000, version % 1000 / 10) : "libcuda.so.1", ""};
}

// "GPU 0 NVIDIA H200, GPU 1 ..."
std::string list_devices(const std::vector<SampledDevice>& devices) {
    std::string text;
    for (const SampledDevice& device : devices)
        text += fmt::format("{}GPU {} {}", text.empty() ? "" : ", ", device.device, device.name);
    return text;
}

// Tries NVML as `gpu-profile -- CMD` would: finds devices and what they do not report.
Check check_nvml(const Machine& machine) {
    Check check{.name = "NVML", .found = {}, .remedy = {}};
    if (!machine.sample) {
        check.found = "not tested";
        return check;
    }
    SampledMachine sampled = machine.sample("nvml");
    if (!sampled.refusal.empty()) {
        check.found = sampled.refusal;
        check.remedy =
            "until this is fixed, gpu-profile -- COMMAND samples with nvidia-smi if possible, else not at all";
        return check;
    }
    check.health =
        sampled.present.has(Metric::util_gpu) && sampled.present.has(Metric::mem_used) ? Health::ok : Health::limited;
    check.found = list_devices(sampled.devices);
    for (const std::string& sentence : sampled.sentences) check.found += "; " + sentence;
    return check;
}

// The existing files among the places where counters look for CUPTI.
std::vector<std::string> cupti_files(const Machine& machine) {
    std::vector<std::string> files = pm::cupti_candidates("", machine.environment, machine.root);
    std::erase_if(files, [](const std::string& place) { return place[0] != '/' || access(place.c_str(), R_OK) != 0; });
    return files;
}

Check check_cupti(const Machine& machine) {
    Check check{.name = "CUPTI", .found = {}, .remedy = {}};
    std::vector<std::string> found = cupti_files(machine);
    if (found.empty() && machine.root.empty())
        for (const std::string& name : pm::cupti_candidates("", machine.environment))
            if (load(name.c_str())) found.push_back(name);
    if (found.empty()) {
        check.found = "no libcupti.so in a toolkit or a Python environment";
        check.remedy = "install the CUDA toolkit, or pip install nvidia-cuda-cupti";
        return check;
    }
    check.health = Health::ok;
    check.found = found.size() == 1 ? found[0] : fmt::format("{} and {} more", found[0], found.size() - 1);
    std::uint32_t version = machine.cupti_version ? machine.cupti_version(found[0]) : 0;
    if (version == 0) return check;
    check.found += fmt::format("; CUPTI {}, {}", name_of_cupti(version),
                               sharing_of_cupti(version, machine.cuda_version ? machine.cuda_version() : 0));
    if (const cupti::KnownDefect* defect = cupti::defect_of(version)) {
        check.health = Health::limited;
        check.found += fmt::format("; this version {}", defect->what);
        check.remedy = std::string(defect->remedy);
    }
    return check;
}

// Whether the process has CAP_SYS_ADMIN (bit 21 of CapEff, capabilities(7)) or CAP_PERFMON (38), which is enough from
// driver R565.
bool is_admin(const Machine& machine) {
    std::string mask = value_of(read_start(machine.root + "/proc/self/status").value_or(""), "CapEff");
    unsigned long long held = std::strtoull(mask.c_str(), nullptr, 16);
    return (held >> 21 & 1) != 0 || ((held >> 38 & 1) != 0 && std::atoi(driver_version(machine).c_str()) >= 565);
}

// By default, NVIDIA's driver restricts hardware counters to administrators
// (https://developer.nvidia.com/ERR_NVGPUCTRPERM).
Check check_counters(const Machine& machine) {
    Check check{.name = "hardware counters", .found = {}, .remedy = {}};
    std::optional<std::string> parameters = read_start(driver_file(machine, "/proc/driver/nvidia/params"));
    std::string restricted = value_of(parameters.value_or(""), "RmProfilingAdminOnly");
    if (restricted.empty()) {
        check.found = "unknown: no RmProfilingAdminOnly in /proc/driver/nvidia/params";
        return check;
    }
    bool open = restricted[0] == '0';
    check.health = open || is_admin(machine) ? Health::ok : Health::limited;
    check.found = open ? "open to every user" : "open to this user (administrator)";
    if (check.health != Health::ok) check.found = "only for administrators";
    if (check.health != Health::ok)
        check.remedy = "load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN";
    return check;
}

// Whether `record --sample pm` can work: a GPU, a CUPTI with PM sampling (its file contains the function's name), and
// permission.
Check check_counters_over_time(const Machine& machine) {
    Check check{.name = "counters over time", .found = {}, .remedy = {}};
    std::vector<std::string> files = cupti_files(machine);
    // Function names are near the beginning of a library.
    constexpr std::size_t kNames = std::size_t{1} << 20;
    auto able = std::find_if(files.begin(), files.end(), [](const std::string& file) {
        return read_start(file, kNames).value_or("").find("cuptiPmSamplingEnable") != std::string::npos;
    });
    Check permission = check_counters(machine);
    if (check_gpus(machine).health == Health::missing) {
        check.found = "no GPU to sample";
    } else if (able == files.end()) {
        check.found = "no CUPTI 12.6 or later";
        check.remedy = "pip install nvidia-cuda-cupti, or set GPUPROF_CUPTI to the path of the library";
    } else if (permission.health == Health::limited) {
        check.health = Health::limited;
        check.found = permission.found;
        check.remedy = permission.remedy;
    } else {
        check.health = Health::ok;
        check.found = fmt::format("record --sample pm, with {}", *able);
    }
    return check;
}

Check check_smi(const Machine& machine) {
    std::string path = find_in_path("nvidia-smi", machine.environment("PATH"), machine.root);
    if (!path.empty()) return {"nvidia-smi", Health::ok, machine.root + path, ""};
    return {"nvidia-smi", Health::missing, "not found in PATH", "install the NVIDIA driver's utilities"};
}

// Limits of cgroup v2 (kernel documentation, admin-guide/cgroup-v2). "max 100000" and "max" mean unlimited.
Check check_limits(const Machine& machine) {
    unsigned cpus = std::thread::hardware_concurrency();
    std::string limits;
    std::istringstream quota(read_start(machine.root + "/sys/fs/cgroup/cpu.max").value_or("max"));
    double time = 0, period = 0;
    if (quota >> time >> period && period > 0) limits = fmt::format("{:.1f} of {} CPUs", time / period, cpus);
    std::istringstream memory(read_start(machine.root + "/sys/fs/cgroup/memory.max").value_or("max"));
    if (double bytes = 0; memory >> bytes)
        limits += fmt::format("{}{} of memory", limits.empty() ? "" : ", ", readable_bytes(bytes));
    bool container = access((machine.root + "/.dockerenv").c_str(), F_OK) == 0 ||
                     access((machine.root + "/run/.containerenv").c_str(), F_OK) == 0;
    std::string where = container ? "in a container" : "not in a container";
    if (limits.empty()) return {"limits", Health::ok, where + ", no CPU or memory limit", ""};
    return {"limits", Health::limited, fmt::format("{}, limited to {}", where, limits),
            "none needed; host timings depend on these limits"};
}

}  // namespace

std::string_view name_of(Health health) {
    if (health == Health::ok) return "ok";
    return health == Health::limited ? "limited" : "missing";
}

std::vector<Check> check_machine(const Machine& machine) {
    return {check_module(machine),
            check_gpus(machine),
            check_cuda(),
            check_nvml(machine),
            check_cupti(machine),
            check_counters(machine),
            check_counters_over_time(machine),
            check_smi(machine),
            check_limits(machine)};
}

static std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<Check> check_machine() {
    return check_machine({"", environment_value, sample_machine, ask_cupti_version, cuda_version_here});
}

std::vector<Check> check_for_recording() {
    Machine machine{"", environment_value};
    return {check_module(machine), check_cuda(), check_cupti(machine)};
}

}  // namespace gpuprof::cli
