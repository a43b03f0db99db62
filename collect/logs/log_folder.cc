#include "collect/logs/log_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/files/names_in.h"
#include "core/base/host_name.h"
#include "core/base/text/utf8.h"
#include "core/format/capture_part.h"
#include "core/schema/debug_env.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::logs {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kMaxLine = 8192;  // bytes; the rest of a longer line is skipped
constexpr std::size_t kRowsPerFlush = 4096;

// A regular file; links, pipes and devices are not opened.
class File {
public:
    File(const std::string& path, int mode) : fd_(open(path.c_str(), mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
        struct stat about {};
        if (fd_ < 0 || fstat(fd_, &about) != 0 || !S_ISREG(about.st_mode)) return;
        size_ = about.st_size;
        changed_ = TimeNs{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
    }
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::optional<std::int64_t> size() const { return size_; }
    int fd() const { return fd_; }
    TimeNs changed() const { return changed_; }

private:
    int fd_;
    std::optional<std::int64_t> size_;
    TimeNs changed_ = 0;
};

std::string first_bytes(const File& file) {
    std::string bytes(static_cast<std::size_t>(std::min(*file.size(), kMaxFileBytes)), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        ssize_t got = pread(file.fd(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

// By the start of the file's name, as --debug-env chose it.
std::optional<Library> library_of(const std::string& name) {
    constexpr std::pair<std::string_view, Library> kNames[] = {{"cudnn-", Library::cudnn},
                                                               {"cublaslt-", Library::cublaslt},
                                                               {"cublas-", Library::cublas},
                                                               {"nccl-", Library::nccl},
                                                               {"torch-", Library::torch}};
    for (const auto& [start, library] : kNames)
        if (name.starts_with(start)) return library;
    return std::nullopt;
}

class LogWriter {
public:
    LogWriter(CapturePart& part, LogWindow window) : part_(part), window_(window), host_(host_name()) {}

    void read(const std::string& folder, const std::string& name, const Growth& growth) {
        std::optional<Library> library = library_of(name);
        File file(folder + "/" + name, O_RDONLY);
        if (!library || !file.size()) return;
        std::string bytes = first_bytes(file);
        LogParser parser(*library, window_);
        library_ = *library;
        TimeNs last = std::clamp(file.changed(), window_.from, window_.to);
        std::size_t begin = 0;
        for (std::size_t end = 0; begin < bytes.size(); begin = end + 1) {
            end = std::min(bytes.find('\n', begin), bytes.size());
            if (end - begin > kMaxLine) ++cut_;
            // The time of an entry without one is that of its first line.
            TimeNs seen = seen_at(growth, static_cast<std::int64_t>(end), last);
            if (std::optional<LogLine> line =
                    parser.feed(std::string_view(bytes).substr(begin, std::min(end - begin, kMaxLine))))
                add(*line, last_seen_);
            last_seen_ = seen;
        }
        if (std::optional<LogLine> line = parser.finish()) add(*line, last_seen_);
        left_out_bytes_ += *file.size() - static_cast<std::int64_t>(bytes.size());
    }

    void skip_file() { ++skipped_files_; }

    void count_losses(const std::string& folder) {
        auto lose = [&](std::int64_t count, const std::string& what) {
            if (count > 0) part_.add_loss("lost_log", count, fmt::format("{}: {}", folder, what));
        };
        lose(left_out_bytes_, fmt::format("bytes beyond {} MiB of a file", kMaxFileBytes >> 20));
        lose(lost_, fmt::format("entries beyond {}", kMaxEntries));
        lose(cut_, fmt::format("lines longer than {} bytes, shortened", kMaxLine));
        lose(skipped_files_, fmt::format("files beyond {}", kMaxFiles));
    }
    std::size_t entries() const { return entries_; }

private:
    static TimeNs seen_at(const Growth& growth, std::int64_t end, TimeNs last) {
        auto first = std::find_if(growth.begin(), growth.end(), [&](const auto& at) { return at.second >= end; });
        return first == growth.end() ? last : first->first;
    }

    // The key of the thread's row; an entry of an unknown thread is on a row of its own for the process.
    std::string thread_of(const LogLine& line) {
        std::string process = line.pid ? fmt::format("{}:{}", host_, *line.pid) : fmt::format("{}:logs", host_);
        std::string key = line.tid ? fmt::format("{}/{}", process, *line.tid)
                                   : fmt::format("{}/log of {}", process, name_of(library_));
        if (line.pid && processes_.insert(process).second)
            part_.table("process")
                .add()
                .set("key", part_.intern(process))
                .set("pid", *line.pid)
                .set("host", part_.intern(host_));
        if (threads_.insert(key).second) {
            RowBuffer& row = part_.table("thread").add().set("key", part_.intern(key));
            if (line.pid) row.set("process", part_.intern(process));
            if (line.tid)
                row.set("tid", *line.tid);
            else
                row.set("name", part_.intern(fmt::format("log of {}", name_of(library_))));
        }
        return key;
    }

    void add(const LogLine& line, TimeNs seen) {
        if (entries_ >= kMaxEntries) {
            ++lost_;
            return;
        }
        ++entries_;
        StringId thread = part_.intern(thread_of(line));
        RowBuffer& row = part_.table("range").add();
        row.set("start", line.time.value_or(seen)).set("dur", std::int64_t{0}).set("thread", thread);
        row.set("name", part_.intern(fmt::format("{}{}: {}", name_of(library_),
                                                 line.level == debug_env::kInfo ? "" : fmt::format(" {}", line.level),
                                                 printable(line.text))));
        row.set("domain", part_.intern(fmt::format("{}{}", debug_env::kLogDomain, name_of(library_))));
        row.set("category", part_.intern(line.level));
        if (part_.waiting() >= kRowsPerFlush) (void)part_.flush();  // close() reports a failure
    }

    CapturePart& part_;
    LogWindow window_;
    std::string host_;
    Library library_ = Library::nccl;
    TimeNs last_seen_ = 0;
    std::set<std::string> processes_, threads_;
    std::size_t entries_ = 0;
    std::int64_t lost_ = 0, cut_ = 0, left_out_bytes_ = 0, skipped_files_ = 0;
};

}  // namespace

LogWatch::LogWatch(std::string folder) : folder_(std::move(folder)) {}

void LogWatch::start() {
    thread_ = std::thread([this] { run(); });
}

void LogWatch::stop() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
    (void)caught([this] { look(); });
}

void LogWatch::run() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
        (void)caught([this] { look(); });  // the next look may succeed
        wake_.wait_for(lock, kInterval, [this] { return ended_; });
    }
}

void LogWatch::look() {
    TimeNs now = realtime_ns();
    for (const std::string& name : names_in(folder_)) {
        if (growth_.size() >= kMaxFiles && growth_.find(name) == growth_.end()) continue;
        File file(folder_ + "/" + name, O_RDONLY);
        if (!file.size()) continue;
        Growth& growth = growth_[name];
        if (*file.size() == (growth.empty() ? 0 : growth.back().second)) continue;
        // What is read later ends at kMaxFileBytes, so later growth needs no notes.
        if (growth.empty() || growth.back().second < kMaxFileBytes) growth.emplace_back(now, *file.size());
        if (*file.size() <= kMaxFileBytes) continue;
        File writable(folder_ + "/" + name, O_WRONLY);
        if (writable.size())
            (void)fallocate(writable.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kMaxFileBytes,
                            *file.size() - kMaxFileBytes);
    }
}

Result<std::size_t> write_logs(const std::string& folder, const std::string& path, LogWindow window,
                               const std::map<std::string, Growth>& growth) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(path, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    LogWriter writer(**part, window);
    std::size_t files = 0;
    for (const std::string& name : names_in(folder)) {
        if (++files > kMaxFiles) {
            writer.skip_file();
            continue;
        }
        auto known = growth.find(name);
        writer.read(folder, name, known == growth.end() ? Growth() : known->second);
    }
    writer.count_losses(folder.substr(folder.rfind('/') + 1));
    if (Status closed = (*part)->close(); !closed) return closed.error();
    return writer.entries();
}

}  // namespace gpuprof::logs
