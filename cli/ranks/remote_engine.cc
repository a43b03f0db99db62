#include "cli/ranks/remote_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/progress.h"
#include "cli/python_package.h"
#include "collect/launch/target.h"
#include "core/base/caught.h"
#include "core/base/files/path_search.h"
#include "core/base/files/temporary_file.h"
#include "core/base/json_error.h"
#include "core/base/parallel.h"
#include "core/base/program_environment.h"
#include "core/base/text/json_writer.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kSilent = "the process that has the files read has ended";

Error garbled(std::string_view line) {
    return {ExitCode::internal, fmt::format("the Python package said '{}'", line.substr(0, 200))};
}

class Lines {
public:
    Lines(int input, int output) : input_(input), output_(output) {}

    // The next line as an object, which is valid until the next call.
    Result<simdjson::dom::object> hear() {
        std::size_t end;
        while ((end = text_.find('\n', begin_)) == text_.npos) {
            text_.erase(0, std::exchange(begin_, 0));
            char part[65536];
            ssize_t got = read(input_, part, sizeof part);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return Error{ExitCode::internal, std::string(kSilent)};
            text_.append(part, static_cast<std::size_t>(got));
        }
        std::string_view line = std::string_view(text_).substr(begin_, end - begin_);
        begin_ = end + 1;
        simdjson::dom::object object;
        if (parse_text(parser_, line, object) != simdjson::SUCCESS) return garbled(line);
        return object;
    }

    template <class Members>
    Status say(const Members& members) {
        StringSink line;
        JsonWriter writer(line);
        writer.begin_object();
        members(writer);
        writer.end_object();
        std::string_view rest = line.text();
        while (!rest.empty()) {
            ssize_t put = write(output_, rest.data(), rest.size());
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return Error{ExitCode::internal, std::string(kSilent)};
            rest.remove_prefix(static_cast<std::size_t>(put));
        }
        return {};
    }

private:
    int input_, output_;
    std::string text_;
    std::size_t begin_ = 0;  // of what is not taken yet
    simdjson::dom::parser parser_;
};

std::optional<std::int64_t> number_in(const simdjson::dom::object& line, std::string_view key) {
    std::int64_t value = 0;
    return line[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

std::string text_in(const simdjson::dom::object& line, std::string_view key) {
    std::string_view value;
    return line[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

class RemoteJob {
public:
    RemoteJob(int input, int output, const JobRequest& request, JobProgress& progress)
        : lines_(input, output), request_(request), options_(request.engine), progress_(progress) {}

    Result<std::vector<ReducedFile>> reduced() {
        if (Status listed = list(); !listed) return listed.error();
        summaries_.resize(files_.size());
        run_parallel(files_.size(), default_threads(), [&](std::size_t i, unsigned) {
            summaries_[i] = summary_to_make(files_[i], options_).value_or("");
        });
        std::set<std::size_t> unread;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (!summaries_[i].empty())
                unread.insert(i);
            else if (Status sent = send_done(files_[i]); !sent)
                return sent.error();
        }
        for (tries_ = 1; !unread.empty(); ++tries_)
            if (Status read = read_each(unread); !read) return read.error();
        return std::move(files_);
    }

private:
    Status list() {
        std::vector<JobInput> inputs;
        while (true) {
            Result<simdjson::dom::object> line = heard();
            if (!line.ok()) return line.error();
            if (number_in(*line, "inputs")) break;
            JobInput& input = inputs.emplace_back();
            input.path = text_in(*line, "path");
            input.stored = input.path.empty();
            if (!input.stored) continue;
            input.path = text_in(*line, "name");
            input.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number_in(*line, "bytes").value_or(0), 0));
            input.stamp = text_in(*line, "stamp");
        }
        Result<std::vector<ListedFile>> listed = list_rank_files(inputs, request_.names);
        if (!listed.ok()) return listed.error();
        Result<std::vector<ReducedFile>> begun = begin_job(*listed, options_, progress_);
        if (!begun.ok()) return begun.error();
        files_ = std::move(begun).value();
        return {};
    }

    // Leaves those that are to be read once more.
    Status read_each(std::set<std::size_t>& unread) {
        for (std::size_t i : unread)
            if (Status sent = send_task(i); !sent) return sent;
        Status sent = lines_.say([&](JsonWriter& line) {
            line.key("seconds");
            line.real(options_.seconds);
        });
        if (!sent) return sent;
        std::set<std::size_t> again;
        while (!unread.empty()) {
            Result<simdjson::dom::object> line = heard();
            if (!line.ok()) return line.error();
            auto i = static_cast<std::size_t>(number_in(*line, "number").value_or(-1));
            if (unread.erase(i) == 0)
                return Error{ExitCode::internal, "the Python package answers for a file that it was not told to read"};
            ChildEnd end = child_end(number_in(*line, "status"), text_in(*line, "said"), options_.seconds);
            auto free = [&] { return static_cast<std::uint64_t>(number_in(*line, "free").value_or(0)); };
            if (tries_ == 1 && needs_second_try(end, options_.memory, free)) {
                again.insert(i);
                sent = lines_.say([](JsonWriter&) {});
            } else {
                if (tries_ == 2) end_second_try(end, options_.memory);
                end_file(files_[i], end, summaries_[i]);
                sent = send_done(files_[i]);
            }
            if (!sent) return sent;
        }
        unread = std::move(again);
        return {};
    }

    Status send_task(std::size_t i) {
        const ReducedFile& file = files_[i];
        return lines_.say([&](JsonWriter& line) {
            line.member("number", static_cast<std::int64_t>(i));
            if (file.input) line.member("input", static_cast<std::int64_t>(*file.input));
            line.member("name", file.file.path);
            line.member("bytes", static_cast<std::int64_t>(file.file.bytes));
            line.key("words");
            line.begin_array();
            for (const std::string& word : reduce_words(file, options_, options_.memory * tries_)) line.text(word);
            line.end_array();
            line.member("summary", summaries_[i]);
        });
    }

    Status send_done(const ReducedFile& file) {
        count_file(file, progress_);
        return lines_.say([&](JsonWriter& line) {
            line.member("done", static_cast<std::int64_t>(progress_.files_done));
            line.member("files", static_cast<std::int64_t>(progress_.files));
            line.member("bytes", static_cast<std::int64_t>(progress_.bytes_done));
            line.member("lost", static_cast<std::int64_t>(progress_.lost));
        });
    }

    // The next line that is no error.
    Result<simdjson::dom::object> heard() {
        Result<simdjson::dom::object> line = lines_.hear();
        if (!line.ok()) return line;
        std::string error = text_in(*line, "error"), lost = text_in(*line, "lost");
        if (!lost.empty())
            return Error{ExitCode::unreadable,
                         fmt::format("the workers were lost after {} of {} files ({}); their summaries are kept in {}, "
                                     "so the same call reads only the others",
                                     progress_.files_done.load(), files_.size(), lost, options_.cache)};
        if (error.empty()) return line;
        std::int64_t code = number_in(*line, "code").value_or(0), last = static_cast<std::int64_t>(ExitCode::internal);
        return Error{code > 0 && code <= last ? static_cast<ExitCode>(code) : ExitCode::internal, error};
    }

    Lines lines_;
    const JobRequest& request_;
    const EngineOptions& options_;
    JobProgress& progress_;
    std::vector<ReducedFile> files_;
    std::vector<std::string> summaries_;  // where to write that of each file; "": nothing to make
    std::uint64_t tries_ = 1;
};

Result<std::vector<std::string>> words_of(const std::vector<std::string>& paths, const JobRequest& request) {
    Result<std::vector<std::string>> words = python_words("ranks", "many_ranks");
    if (!words.ok()) return words;
    if (!request.dask.empty()) words->push_back(fmt::format("--dask={}", request.dask));
    words->push_back(fmt::format("--workers={}", request.engine.workers));
    for (const std::string& pair : request.storage) words->push_back(fmt::format("--storage={}", pair));
    words->push_back("--");
    words->insert(words->end(), paths.begin(), paths.end());
    return words;
}

// A pipe that ends with this object.
struct Pipe {
    int ends[2] = {-1, -1};
    bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
    void close(int end) {
        if (ends[end] >= 0) ::close(std::exchange(ends[end], -1));
    }
    ~Pipe() {
        close(0);
        close(1);
    }
};

}  // namespace

Result<std::vector<ReducedFile>> reduce_elsewhere(int input, int output, const JobRequest& request,
                                                  JobProgress& progress) {
    return RemoteJob(input, output, request, progress).reduced();
}

Result<ExitCode> reduce_with_python(const std::vector<std::string>& paths, const JobRequest& request,
                                    TemporaryFolder& folder, std::vector<ReducedFile>& files) {
    Result<std::vector<std::string>> words = words_of(paths, request);
    if (!words.ok()) return words.error();
    Pipe to_python, from_python;
    if (!to_python.open() || !from_python.open())
        return Error{ExitCode::internal, fmt::format("cannot start Python: {}", std::strerror(errno))};
    ProgramEnvironment environment;
    environment.set_if_absent("GPUPROF_BIN", this_executable());  // one version, here and in Python
    Target target;
    Status started = target.start(*words, {.input = to_python.ends[0], .output = from_python.ends[1]}, environment);
    to_python.close(0);
    from_python.close(1);
    if (!started.ok()) return no_python("ranks", words->front(), started.error().message);
    Status talked;
    TargetExit ended;
    {
        JobProgress counted;
        std::optional<Progress> progress;
        if (!request.quiet) progress.emplace([&](DurNs elapsed) { return counted.line(elapsed); });
        std::thread talking([&] {
            talked = caught([&]() -> Status {
                Result<std::vector<ReducedFile>> reduced =
                    reduce_elsewhere(from_python.ends[0], to_python.ends[1], request, counted);
                if (!reduced.ok()) return reduced.error();
                files = std::move(reduced).value();
                return {};
            });
            to_python.close(1);  // Python ends
            from_python.close(0);
        });
        ended = target.wait();
        talking.join();
    }
    if (ended.asked != 0) {
        { TemporaryFolder removed = std::move(folder); }
        exit_like({.signal = ended.asked});
    }
    if (talked) return ExitCode::ok;
    if (talked.error().message != kSilent) return talked.error();
    if (ended.signal != 0)
        return Error{ExitCode::internal, fmt::format("Python was ended by {}", strsignal(ended.signal))};
    if (ended.exit_status == 0 || ended.exit_status > static_cast<int>(ExitCode::internal)) return ExitCode::internal;
    return static_cast<ExitCode>(ended.exit_status);
}

}  // namespace gpuprof::cli
