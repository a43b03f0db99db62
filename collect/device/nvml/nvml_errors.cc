// The codes, one row each. Their meanings are from the NVML API reference; the causes of 4, 9, 12, 18 and 999 are from
// public reports (container toolkit issues 48 and 1730, and similar).
#include "collect/device/nvml/nvml_errors.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace gpuprof::inline device::nvml {

namespace {

struct Meaning {
    Return code;
    Reaction reaction;
    std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {kSuccess, Reaction::none, "no error"},
    {kUninitialized, Reaction::renew, "NVML is no longer initialised"},
    {kInvalidArgument, Reaction::absent, "NVML rejects this query for this device (invalid argument)"},
    {kNotSupported, Reaction::absent, "not supported by this device or its driver"},
    {kNoPermission, Reaction::absent,
     "no permission; run as a privileged user (root or CAP_SYS_ADMIN for some metrics), or ask the administrator to "
     "allow "
     "it"},
    {kAlreadyInitialized, Reaction::retry, "NVML is already initialised"},
    {kNotFound, Reaction::absent, "NVML does not find it"},
    {kInsufficientSize, Reaction::retry, "NVML needs a larger buffer"},
    {kInsufficientPower, Reaction::lost, "the GPU has no external power; check its power cables"},
    {kDriverNotLoaded, Reaction::renew,
     "the NVIDIA kernel driver is not loaded; load it (modprobe nvidia), or start the container with --gpus all"},
    {kTimeout, Reaction::retry, "the driver timed out"},
    {kIrqIssue, Reaction::retry, "the driver has a problem with the GPU's interrupts; see the kernel log (dmesg)"},
    {kLibraryNotFound, Reaction::renew,
     "NVML cannot find another library of the driver; in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
    {kFunctionNotFound, Reaction::absent, "this driver's NVML lacks the function; a newer driver may have it"},
    {kCorruptedInforom, Reaction::absent, "the GPU's configuration memory (infoROM) is corrupted"},
    {kGpuIsLost, Reaction::lost,
     "the GPU is lost: it fell off the bus or is unreachable; see the kernel log (dmesg, Xid 79) and reboot if it "
     "stays"},
    {kResetRequired, Reaction::lost,
     "the GPU needs a reset; stop the programs that use it and run nvidia-smi --gpu-reset, or reboot"},
    {kOperatingSystem, Reaction::retry,
     "the operating system blocks the request; in a container, its device cgroup may be the cause: restart the "
     "container"},
    {kLibRmVersionMismatch, Reaction::renew,
     "the driver was updated under a running system: reboot, or reload the kernel module"},
    {kInUse, Reaction::retry, "the GPU is in exclusive use"},
    {kMemory, Reaction::retry, "out of memory"},
    {kNoData, Reaction::retry, "the driver has no data yet"},
    {kInsufficientResources, Reaction::retry, "the driver is out of resources"},
    {kArgumentVersionMismatch, Reaction::absent, "this driver expects another version of the query"},
    {kDeprecated, Reaction::absent, "this driver no longer supports it (deprecated)"},
    {kNotReady, Reaction::retry, "the driver is not ready"},
    {kGpuNotFound, Reaction::lost, "the GPU is gone; see the kernel log (dmesg)"},
    {kInvalidState, Reaction::retry, "the GPU cannot respond in its current state"},
    {kUnknown, Reaction::renew,
     "the driver reports \"unknown error\"; in a container, systemctl daemon-reload on the host causes this: restart "
     "the "
     "container"},
    {kAvoided, Reaction::absent, "the driver's function hung or crashed before and is skipped"},
};

const Meaning* meaning_of(Return code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code) return &meaning;
    return nullptr;
}

// The first word of `text`, from `begin`, that looks like a version such as 580.159.04.
std::string_view version_in(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] < '0' || text[i] > '9') continue;
        std::size_t end = text.find_first_not_of("0123456789.", i);
        std::string_view word = text.substr(i, end == text.npos ? text.npos : end - i);
        if (word.find('.') != word.npos) return word;
        i += word.size();
    }
    return {};
}

}  // namespace

Reaction reaction_to(Return code) {
    const Meaning* meaning = meaning_of(code);
    return meaning ? meaning->reaction : Reaction::retry;
}

std::string explain(Return code) {
    if (const Meaning* meaning = meaning_of(code)) {
        if (code == kAvoided) return std::string(meaning->text);
        return fmt::format("{} (NVML code {})", meaning->text, code);
    }
    return fmt::format("NVML returned an unknown code ({})", code);
}

std::string explain_mismatch(std::string_view proc_version, std::string_view library_path) {
    std::size_t line = proc_version.find("Kernel Module");
    std::string_view module = line == proc_version.npos ? std::string_view{} : version_in(proc_version.substr(line));
    std::size_t name = library_path.find(".so.");
    std::string_view library =
        name == library_path.npos ? std::string_view{} : version_in(library_path.substr(name + 4));
    if (module.empty() && library.empty()) return explain(kLibRmVersionMismatch);
    return fmt::format("the kernel module has version {} and the library {}; {}", module.empty() ? "unknown" : module,
                       library.empty() ? "another" : library, explain(kLibRmVersionMismatch));
}

std::string explain(Return code, std::string_view library_path) {
    if (code != kLibRmVersionMismatch) return explain(code);
    std::ifstream file("/proc/driver/nvidia/version");
    std::string text(std::istreambuf_iterator<char>(file), {});
    return explain_mismatch(text, library_path);
}

}  // namespace gpuprof::device::nvml
