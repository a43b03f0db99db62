#include "cli/view/query_process.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "present/query/sql.h"

namespace gpuprof::inline cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr rlim_t kMoreBytes = rlim_t{2} << 30;                  // than the server has mapped when the process begins
constexpr std::uint64_t kMaxAnswer = std::uint64_t{256} << 20;  // bytes; the limits of an answer are far lower

// What precedes the text of a query, or of an answer.
struct Header {
    std::uint64_t bytes;
    std::int64_t code;  // of an answer: its ExitCode; 0: it is no error
};

bool send_all(int channel, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
        ssize_t sent = ::send(channel, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        bytes -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool send_text(int channel, std::int64_t code, const std::string& text) {
    Header header{text.size(), code};
    return send_all(channel, &header, sizeof header) && send_all(channel, text.data(), text.size());
}

enum class Received { all, late, ended };

Received receive(int channel, void* data, std::size_t bytes, Clock::time_point deadline) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return Received::late;
        pollfd ready{channel, POLLIN, 0};
        int found = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
        if (found == 0 || (found < 0 && errno == EINTR)) continue;
        ssize_t got = found < 0 ? -1 : ::recv(channel, at, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Received::ended;
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return Received::all;
}

// Connections and sockets of the server stay open as long as any process has them.
void close_all_but(int kept) {
    DIR* open = ::opendir("/proc/self/fd");
    if (open == nullptr) return;
    while (const dirent* entry = ::readdir(open)) {
        int fd = std::atoi(entry->d_name);
        if (fd > STDERR_FILENO && fd != kept && fd != ::dirfd(open)) ::close(fd);
    }
    ::closedir(open);
}

void limit_memory() {
    limit_sql_memory();
    unsigned long pages = 0;
    if (std::FILE* sizes = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(sizes, "%lu", &pages) != 1) pages = 0;
        std::fclose(sizes);
    }
    if (pages == 0) return;  // SQLite's own limit is left
    rlim_t most = rlim_t{pages} * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMoreBytes;
    rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void serve(int channel, pid_t parent, const QueryProcess::Answer& answer) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    for (int number = 1; number < 32; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    close_all_but(channel);
    limit_memory();
    constexpr Clock::time_point kNever = Clock::time_point::max() - std::chrono::hours(24);
    Header header;
    while (receive(channel, &header, sizeof header, kNever) == Received::all) {
        try {
            std::string sql(header.bytes, '\0');
            if (receive(channel, sql.data(), sql.size(), kNever) != Received::all) break;
            Result<std::string> found = answer(sql);
            bool sent = found.ok() ? send_text(channel, 0, *found)
                                   : send_text(channel, static_cast<int>(found.error().code), found.error().message);
            if (!sent) break;
        } catch (const std::bad_alloc&) {
            send_text(channel, static_cast<int>(ExitCode::internal), "out of memory; narrow the query");
            break;
        }
    }
    ::_exit(0);
}

// As fork(), but only the parent returns.
pid_t fork_server(int channel, const QueryProcess::Answer& answer) {
    pid_t parent = ::getpid();
    pid_t process = ::fork();
    if (process == 0) serve(channel, parent, answer);
    return process;
}

}  // namespace

Result<std::unique_ptr<QueryProcess>> QueryProcess::start(const Answer& answer) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return Error{ExitCode::internal, fmt::format("cannot start a process for the query: {}", std::strerror(errno))};
    pid_t process = fork_server(ends[1], answer);
    int problem = errno;
    ::close(ends[1]);
    if (process < 0) {
        ::close(ends[0]);
        return Error{ExitCode::internal,
                     fmt::format("cannot start a process for the query: {}", std::strerror(problem))};
    }
    return std::unique_ptr<QueryProcess>(new QueryProcess(process, ends[0]));
}

QueryProcess::~QueryProcess() {
    kill();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(channel_);
}

// The process is not waited for before the destructor, so its number is still its own.
void QueryProcess::kill() {
    ended_ = true;
    ::kill(process_, SIGKILL);
}

Result<std::string> QueryProcess::ask(const std::string& sql, std::chrono::seconds limit) {
    Clock::time_point deadline = Clock::now() + limit + std::chrono::seconds(1);
    Header header{};
    std::string text;
    Received received =
        send_text(channel_, 0, sql) ? receive(channel_, &header, sizeof header, deadline) : Received::ended;
    if (received == Received::all && header.bytes > kMaxAnswer) received = Received::ended;
    if (received == Received::all) {
        text.resize(header.bytes);
        received = receive(channel_, text.data(), text.size(), deadline);
    }
    if (received == Received::all && header.code == 0) return text;
    if (received == Received::all) return Error{ExitCode(static_cast<int>(header.code)), std::move(text)};
    kill();
    if (received == Received::late) return late_query(static_cast<double>(limit.count()));
    return Error{ExitCode::internal,
                 "the process of the query ended; it may have needed too much memory: narrow the query"};
}

}  // namespace gpuprof::cli
