#include "collect/device/process_link.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "collect/device/running_call.h"
#include "core/base/clock.h"
#include "core/base/environment.h"
#include "core/base/files/path_search.h"
#include "core/base/ids.h"
#include "core/base/spawn_actions.h"

namespace gpuprof::inline device {
namespace {

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

// Duplicates `fd` to 64 or above, closed on exec, so that dup2 to the sampler's low numbers cannot overwrite a source.
int moved_up(int fd) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    close(fd);
    return high;
}

Result<pid_t> spawn(const std::string& program, const char* argument, int socket, int mark) {
    SpawnActions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
    actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    actions.duplicate(socket, kLinkSocket);
    actions.duplicate(mark, kLinkRunningCall);
    actions.close_from(kLinkRunningCall + 1);
    actions.reset_signals();
    actions.lead_session();
    // Without the variables that inject the recorder: helper processes are not part of the command, and a driver that they start must
    // not load a tool's library.
    ProgramEnvironment environment;
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPUPROF_RECORD", "GPUPROF_RECORD_DIR"})
        environment.remove(name);
    pid_t pid = -1;
    int failed = actions.spawn(pid, program, {"gpu-profile", argument}, environment);
    if (failed != 0)
        return Error{ExitCode::internal, fmt::format("cannot start {}: {}", program, std::strerror(failed))};
    return pid;
}

}  // namespace

Result<std::unique_ptr<ProcessLink>> ProcessLink::open(const std::string& program, const char* argument) {
    if (program.empty())
        return Error{
            ExitCode::internal,
            "cannot find the program gpu-profile, which takes the samples, next to the library; set its path in "
            "GPUPROF_PROGRAM"};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return Error{ExitCode::internal,
                     fmt::format("cannot create a socket for the sampler: {}", std::strerror(errno))};
    Descriptor ours(ends[0]), theirs(moved_up(ends[1]));
    Descriptor page(moved_up(memfd_create("gpuprof-call-mark", MFD_CLOEXEC)));
    void* mark = MAP_FAILED;
    if (page.get() >= 0 && ftruncate(page.get(), sizeof(RunningCall)) == 0)
        mark = mmap(nullptr, sizeof(RunningCall), PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0);
    if (theirs.get() < 0 || mark == MAP_FAILED)
        return Error{ExitCode::internal, fmt::format("cannot share memory with the sampler: {}", std::strerror(errno))};
    Result<pid_t> pid = spawn(program, argument, theirs.get(), page.get());
    if (!pid.ok()) {
        munmap(mark, sizeof(RunningCall));
        return pid.error();
    }
    std::unique_ptr<ProcessLink> link(new ProcessLink);
    link->owner_ = getpid();
    link->pid_ = *pid;
    link->socket_ = ours.release();
    link->running_call_ = static_cast<RunningCall*>(mark);
    return link;
}

ProcessLink::~ProcessLink() {
    close(socket_);
    munmap(const_cast<RunningCall*>(running_call_), sizeof(RunningCall));
    if (owner_ != getpid() || reaped_) return;
    kill(pid_, SIGKILL);
    for (int i = 0; i < 20; ++i) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
        usleep(1000);
    }
    // The driver holds it beyond any signal. It becomes a zombie of ours when it finally ends.
}

ProcessLink::Received ProcessLink::receive(DurNs timeout, std::size_t max_size) {
    pollfd wanted{socket_, POLLIN, 0};
    int ready = 0;
    TimeNs deadline = monotonic_ns() + timeout;
    do {
        DurNs left = std::max<DurNs>(deadline - monotonic_ns(), 0);
        ready = poll(&wanted, 1, static_cast<int>((left + kMillisecond - 1) / kMillisecond));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return {.packet = {}, .ending = Ending::timeout};
    std::string packet(max_size, '\0');
    ssize_t size = 0;
    do size = recv(socket_, packet.data(), packet.size(), 0);
    while (size < 0 && errno == EINTR);
    if (size <= 0) return {.packet = {}, .ending = Ending::closed};
    packet.resize(static_cast<std::size_t>(size));
    return {.packet = std::move(packet), .ending = Ending::none};
}

bool ProcessLink::send(std::string_view packet) {
    return ::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

void ProcessLink::hang_up() { shutdown(socket_, SHUT_RDWR); }

std::string ProcessLink::running_call() const {
    if (running_call_->entered_ns == 0) return {};
    std::string name;
    for (std::size_t i = 0; i < sizeof(RunningCall::function) && running_call_->function[i] != '\0'; ++i)
        name += running_call_->function[i];
    return name;
}

std::string ProcessLink::exit_reason() {
    for (int i = 0; i < 100; ++i) {
        int status = 0;
        pid_t done = waitpid(pid_, &status, WNOHANG);
        if (done != 0) {
            reaped_ = true;
            if (done == pid_ && WIFSIGNALED(status))
                return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
            if (done == pid_) return fmt::format("exited with status {}", WEXITSTATUS(status));
            return "has disappeared";
        }
        usleep(1000);
    }
    return {};
}

std::string sampler_program() {
    if (std::string named = trusted_environment("GPUPROF_PROGRAM"); !named.empty()) return named;
    std::string self = this_executable();
    if (self.size() > 12 && self.substr(self.size() - 12) == "/gpu-profile") return self;
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&sampler_program), &here) == 0 || here.dli_fname == nullptr) return {};
    std::string library = here.dli_fname;
    // Next to the library, as in a build, or in bin of its prefix.
    auto parent_of = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
    std::string folder = parent_of(library), lib = parent_of(folder), prefix = parent_of(lib);
    for (const std::string& place : {folder, lib + "/bin", prefix + "/bin"})
        if (std::string program = place + "/gpu-profile"; access(program.c_str(), X_OK) == 0) return program;
    return {};
}

void begin_link_end(const char* name) {
    prctl(PR_SET_NAME, name);
    void* page = mmap(nullptr, sizeof(RunningCall), PROT_READ | PROT_WRITE, MAP_SHARED, kLinkRunningCall, 0);
    if (page != MAP_FAILED) share_running_call(static_cast<RunningCall*>(page));
}

bool send_packet(std::string_view packet) {
    return send(kLinkSocket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

std::string receive_packet(std::size_t max_size) {
    std::string packet(max_size, '\0');
    ssize_t size = 0;
    do size = recv(kLinkSocket, packet.data(), packet.size(), 0);
    while (size < 0 && errno == EINTR);
    packet.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return packet;
}

bool packet_before(TimeNs deadline) {
    for (;;) {
        DurNs left = std::max<DurNs>(deadline - monotonic_ns(), 0);
        timespec timeout{left / kSecond, left % kSecond};
        pollfd wanted{kLinkSocket, POLLIN, 0};
        int ready = ppoll(&wanted, 1, &timeout, nullptr);
        if (ready >= 0 || errno != EINTR) return ready != 0;
    }
}

}  // namespace gpuprof::device
