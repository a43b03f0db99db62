#include "collect/launch/target.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "core/base/spawn_actions.h"

namespace gpuprof::inline launch {
namespace {

// As in shells: the command does not exist, or is not executable.
constexpr ExitCode kNotFound{127}, kNotExecutable{126};

DurNs ns_of(const timeval& time) { return DurNs{time.tv_sec} * 1'000'000'000 + DurNs{time.tv_usec} * 1'000; }

TargetExit end_of(int status, const rusage& usage, int asked) {
    TargetExit end{.asked = asked,
                   .user = ns_of(usage.ru_utime),
                   .system = ns_of(usage.ru_stime),
                   .peak_resident_bytes = std::int64_t{usage.ru_maxrss} * 1024};
    if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return end;
}

// Signals that the kernel sends to the whole foreground group when a key is pressed: the target already has them.
bool from_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

}  // namespace

struct Target::Signals {
    sigset_t passed_on, before;

    Signals() {
        sigemptyset(&passed_on);
        for (int signal :
             {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH, SIGALRM, SIGCHLD})
            sigaddset(&passed_on, signal);
        pthread_sigmask(SIG_BLOCK, &passed_on, &before);
    }
    ~Signals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
};

Target::Target() : signals_(new Signals) {}
Target::~Target() { delete signals_; }

Status Target::start(const std::vector<std::string>& command, const TargetStreams& streams,
                     const ProgramEnvironment& environment) {
    SpawnActions actions;
    // This program ignores SIGPIPE, and ignored signals would be inherited.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    actions.set_signals(defaults, signals_->before);
    if (streams.input >= 0) actions.duplicate(streams.input, STDIN_FILENO);
    if (streams.output >= 0) actions.duplicate(streams.output, STDOUT_FILENO);
    int failed = actions.spawn(pid_, command[0], command, environment, true);
    if (failed == 0) return {};
    return Error{failed == ENOENT ? kNotFound : kNotExecutable,
                 fmt::format("cannot start {}: {}", command[0], std::strerror(failed))};
}

TargetExit Target::wait(const std::function<void()>& ended) {
    int asked = 0;
    for (;;) {
        siginfo_t info{};
        int signal = sigwaitinfo(&signals_->passed_on, &info);
        if (signal < 0) continue;  // EINTR
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) asked = signal;
        if (signal == SIGCHLD) {
            siginfo_t end{};
            bool over = waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT) == 0;
            if (over && end.si_pid == pid_ && ended) ended();
            int status = 0;
            rusage usage{};
            if (wait4(pid_, &status, WNOHANG | WUNTRACED, &usage) != pid_) continue;  // another child of ours
            if (WIFEXITED(status) || WIFSIGNALED(status)) return end_of(status, usage, asked);
            if (WIFSTOPPED(status)) raise(SIGSTOP);  // Ctrl-Z stops the whole job
        } else if (signal == SIGTSTP) {
            // The target decides; when it stops, this program stops too.
            if (!from_terminal(info)) kill(pid_, signal);
        } else if (!from_terminal(info) || signal == SIGCONT) {
            kill(pid_, signal);
        }
    }
}

void exit_like(TargetExit end) {
    std::fflush(nullptr);
    if (end.signal == 0) _exit(end.exit_status);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(end.signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, end.signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    raise(end.signal);
    _exit(128 + end.signal);
}

}  // namespace gpuprof::launch
