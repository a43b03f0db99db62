// The codes, one row each. What they mean is from the NVML API reference; the causes of 4, 9, 12, 18 and 999 are those that
// people reported (container toolkit issues 48 and 1730, and the like).
#include "collect/device/nvml/errors.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace gpuprof::nvml {

namespace {

struct Meaning {
    Return code;
    Reaction reaction;
    std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {kSuccess, Reaction::none, "no error"},
    {kUninitialized, Reaction::renew, "NVML is not initialised any more; it is started again"},
    {kInvalidArgument, Reaction::absent, "NVML refuses this question for this device (invalid argument)"},
    {kNotSupported, Reaction::absent, "not supported by this device or its driver"},
    {kNoPermission, Reaction::absent,
     "no permission; run as a user who may (root or CAP_SYS_ADMIN for some readings), or let the administrator allow "
     "it"},
    {kAlreadyInitialized, Reaction::retry, "NVML says it is already initialised"},
    {kNotFound, Reaction::absent, "NVML does not find it"},
    {kInsufficientSize, Reaction::retry, "NVML wants a larger buffer"},
    {kInsufficientPower, Reaction::lost, "the GPU has no external power; check its power cables"},
    {kDriverNotLoaded, Reaction::renew,
     "the NVIDIA kernel driver is not loaded; load it (modprobe nvidia), or give the container the GPU (--gpus all)"},
    {kTimeout, Reaction::retry, "the driver did not answer in time"},
    {kIrqIssue, Reaction::retry, "the driver has trouble with the GPU's interrupts; see the kernel log (dmesg)"},
    {kLibraryNotFound, Reaction::renew,
     "NVML misses another library of the driver; in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
    {kFunctionNotFound, Reaction::absent, "this driver's NVML has no function for it; a newer driver may"},
    {kCorruptedInforom, Reaction::absent, "the GPU's own configuration memory (infoROM) is corrupted"},
    {kGpuIsLost, Reaction::lost,
     "the GPU is lost: it fell off the bus or cannot be reached; see the kernel log (dmesg, Xid 79) and reboot if it "
     "stays"},
    {kResetRequired, Reaction::lost,
     "the GPU needs a reset; end what uses it and run nvidia-smi --gpu-reset, or reboot"},
    {kOperatingSystem, Reaction::retry,
     "the operating system blocks the request; in a container its device cgroup may be the cause: restart the "
     "container"},
    {kLibRmVersionMismatch, Reaction::renew,
     "the driver was updated under a running system: reboot, or reload the kernel module"},
    {kInUse, Reaction::retry, "the GPU is in use for something that excludes this"},
    {kMemory, Reaction::retry, "out of memory"},
    {kNoData, Reaction::retry, "the driver has no data yet"},
    {kInsufficientResources, Reaction::retry, "the driver is out of resources for this"},
    {kArgumentVersionMismatch, Reaction::absent, "this driver wants another version of the question"},
    {kDeprecated, Reaction::absent, "this driver does not answer it any more (deprecated)"},
    {kNotReady, Reaction::retry, "the driver is not ready"},
    {kGpuNotFound, Reaction::lost, "the GPU is not there any more; see the kernel log (dmesg)"},
    {kInvalidState, Reaction::retry, "the GPU is in a state in which it cannot answer"},
    {kUnknown, Reaction::renew,
     "the driver says \"unknown error\"; in a container this is what systemctl daemon-reload on the host leaves "
     "behind: "
     "restart the container"},
    {kAvoided, Reaction::absent, "the driver's function for it hung or crashed before and is left alone"},
};

const Meaning* meaning_of(Return code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code) return &meaning;
    return nullptr;
}

// The first word of `text` from `begin` on that looks like a version, 580.159.04.
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
    return fmt::format("NVML gives a code that is not known here ({})", code);
}

std::string explain_mismatch(std::string_view proc_version, std::string_view library_path) {
    std::size_t line = proc_version.find("Kernel Module");
    std::string_view module = line == proc_version.npos ? std::string_view{} : version_in(proc_version.substr(line));
    std::size_t name = library_path.find(".so.");
    std::string_view library =
        name == library_path.npos ? std::string_view{} : version_in(library_path.substr(name + 4));
    if (module.empty() && library.empty()) return explain(kLibRmVersionMismatch);
    return fmt::format("the kernel module is version {} and the library {}; {}", module.empty() ? "unknown" : module,
                       library.empty() ? "another" : library, explain(kLibRmVersionMismatch));
}

std::string explain(Return code, std::string_view library_path) {
    if (code != kLibRmVersionMismatch) return explain(code);
    std::ifstream file("/proc/driver/nvidia/version");
    std::string text(std::istreambuf_iterator<char>(file), {});
    return explain_mismatch(text, library_path);
}

}  // namespace gpuprof::nvml
