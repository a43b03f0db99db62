#include "cli/doctor/cupti_version.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/format/cupti_versions.h"

namespace gpuprof::inline cli {
namespace {

constexpr int kTimeoutMs = 5000;

[[noreturn]] void answer(const std::string& path, int to) {
    constexpr rlimit kNone{0, 0};
    setrlimit(RLIMIT_CORE, &kNone);
    std::uint32_t version = 0;
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    using GetVersion = int (*)(std::uint32_t*);
    auto ask = library != nullptr ? reinterpret_cast<GetVersion>(dlsym(library, "cuptiGetVersion")) : nullptr;
    if (ask == nullptr || ask(&version) != 0) version = 0;
    _exit(::write(to, &version, sizeof version) == sizeof version ? 0 : 1);
}

}  // namespace

std::uint32_t ask_cupti_version(const std::string& path) {
    int ends[2];
    if (pipe(ends) != 0) return 0;
    pid_t child = fork();
    if (child == 0) answer(path, ends[1]);
    close(ends[1]);
    std::uint32_t version = 0;
    pollfd ready{ends[0], POLLIN, 0};
    if (child < 0 || poll(&ready, 1, kTimeoutMs) <= 0 || read(ends[0], &version, sizeof version) != sizeof version)
        version = 0;
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    return version;
}

std::string name_of_cupti(std::uint32_t version) {
    for (const cupti::NamedVersion& known : cupti::kNamedVersions)
        if (known.version == version) return std::string(known.name);
    if (version < 130000) return fmt::format("version {}", version);
    std::uint32_t minor = version % 10000 / 100, update = version % 100;
    std::string name = fmt::format("{}.{}", version / 10000, minor);
    return update == 0 ? name : fmt::format("{} update {}", name, update);
}

std::string sharing_of_cupti(std::uint32_t version, int cuda) {
    if (version < cupti::kFirstWithSubscribers) return "one subscriber (V1)";
    if (cuda < cupti::kFirstDriverWithSubscribers) return "one subscriber (V1), because the driver is older than r610";
    return "several subscribers (V2)";
}

}  // namespace gpuprof::cli
