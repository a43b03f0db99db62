#include "cli/ranks/python_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "cli/progress.h"
#include "cli/python_package.h"
#include "collect/launch/target.h"
#include "core/base/caught.h"
#include "core/base/files/path_search.h"
#include "core/base/json_error.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMostFiles = std::size_t{1} << 24;

Error garbled(std::string_view line) {
    return {ExitCode::internal, fmt::format("the Python package said '{}'", line.substr(0, 200))};
}

Result<std::vector<std::string>> words_of(const std::vector<std::string>& paths, const JobRequest& request,
                                          const std::string& folder) {
    Result<std::vector<std::string>> words = python_words("ranks", "many_ranks");
    if (!words.ok()) return words;
    const EngineOptions& engine = request.engine;
    auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) words->push_back(fmt::format("--{}={}", name, value));
    };
    add("folder", folder);
    add("cache", engine.cache);
    add("dask", request.dask);
    add("workers", fmt::format("{}", engine.workers));
    add("time-out", fmt::format("{}", engine.seconds));
    add("memory", fmt::format("{}", engine.memory));
    add("step-range", engine.step_range);
    add("rank-from", request.names.rank_from);
    add("host-from", request.names.host_from);
    for (const std::string& pair : request.storage) add("storage", pair);
    words->push_back("--");
    words->insert(words->end(), paths.begin(), paths.end());
    return words;
}

class EngineListener {
public:
    EngineListener(std::vector<ReducedFile>& files, JobProgress& progress) : files_(files), progress_(progress) {}

    // Until the other end is closed.
    void read_all(int fd) {
        std::string text;
        std::array<char, 65536> part{};
        while (true) {
            ssize_t got = read(fd, part.data(), part.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return;
            text.append(part.data(), static_cast<std::size_t>(got));
            std::size_t begin = 0;
            for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin = end + 1))
                take(text.substr(begin, end - begin));
            text.erase(0, begin);
        }
    }

    const std::optional<Error>& error() const { return error_; }

private:
    void take(const std::string& line) {
        Result<EngineLine> said = engine_line(line);
        if (!said.ok() || said->error) {
            error_ = said.ok() ? *said->error : said.error();
        } else if (said->file && said->number < files_.size()) {
            ReducedFile& file = files_[said->number];  // in the order of the list, whichever ends first
            file = std::move(*said->file);
            progress_.count(file.file.bytes, file.cached, file.summary.empty() && !file.foreign);
        } else if (!said->file && said->files <= kMostFiles) {
            files_.resize(said->files);
            progress_.bytes = said->bytes;
            progress_.files = said->files;
        }
    }

    std::vector<ReducedFile>& files_;
    JobProgress& progress_;
    std::optional<Error> error_;
};

}  // namespace

Result<EngineLine> engine_line(const std::string& line) {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parse_text(parser, line, object) != simdjson::SUCCESS) return garbled(line);
    auto text = [&](std::string_view key) {
        std::string_view value;
        return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
    };
    auto number = [&](std::string_view key) {
        std::int64_t value = 0;
        return object[key].get(value) == simdjson::SUCCESS ? value : -1;
    };
    auto is_set = [&](std::string_view key) {
        bool value = false;
        return object[key].get(value) == simdjson::SUCCESS && value;
    };
    EngineLine said;
    std::string name = text("name"), error = text("error");
    if (!error.empty()) {
        std::int64_t code = number("code"), last = static_cast<std::int64_t>(ExitCode::internal);
        said.error = Error{code > 0 && code <= last ? static_cast<ExitCode>(code) : ExitCode::internal, error};
    } else if (!name.empty()) {
        ReducedFile& file = said.file.emplace();
        file.file.path = std::move(name);
        said.number = static_cast<std::size_t>(number("number"));
        file.file.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number("bytes"), 0));
        if (std::int64_t rank = number("rank"); rank >= 0 && rank <= INT32_MAX)
            file.file.rank = static_cast<std::int32_t>(rank);
        file.summary = text("summary");
        file.problem = text("problem");
        file.cached = is_set("kept");
        file.foreign = is_set("foreign");
    } else if (number("files") >= 0) {
        said.files = static_cast<std::size_t>(number("files"));
        said.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number("bytes"), 0));
    } else {
        return garbled(line);
    }
    return said;
}

Result<ExitCode> reduce_with_python(const std::vector<std::string>& paths, const JobRequest& request,
                                    TemporaryFolder& folder, std::vector<ReducedFile>& files) {
    Result<std::vector<std::string>> words = words_of(paths, request, folder.path());
    if (!words.ok()) return words.error();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return Error{ExitCode::internal, fmt::format("cannot start Python: {}", std::strerror(errno))};
    setenv("GPUPROF_BIN", this_executable().c_str(), 0);  // one version, here and in Python
    Target target;
    Status started = target.start(*words, {.input = -1, .output = ends[1]});
    close(ends[1]);
    if (!started.ok()) {
        close(ends[0]);
        return no_python("ranks", words->front(), started.error().message);
    }
    JobProgress counted;
    EngineListener listener(files, counted);
    TargetExit ended;
    {
        std::optional<Progress> progress;
        if (!request.quiet) progress.emplace([&](DurNs elapsed) { return counted.line(elapsed); });
        Status heard;
        std::thread reading([&] {
            heard = caught([&] { listener.read_all(ends[0]); });
            if (!heard) close(std::exchange(ends[0], -1));  // Python ends when it writes the next line
        });
        ended = target.wait();
        reading.join();
        if (!heard) return heard.error();
    }
    close(ends[0]);
    if (ended.asked != 0) {
        { TemporaryFolder removed = std::move(folder); }
        exit_like({.signal = ended.asked});
    }
    if (listener.error()) return *listener.error();
    if (ended.signal != 0)
        return Error{ExitCode::internal, fmt::format("Python was ended by {}", strsignal(ended.signal))};
    if (ended.exit_status > static_cast<int>(ExitCode::internal)) return ExitCode::internal;
    return static_cast<ExitCode>(ended.exit_status);
}

}  // namespace gpuprof::cli
