#include "cli/bench/bench_functions.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "collect/launch/target.h"
#include "measure/bench_options.h"

namespace gpuprof::inline cli {
namespace {

constexpr PassedOption kOptions[] = {
    {"--args", "VALUE...",
     "Arguments of each function: Python literals (3, 0.5, \"'text'\") or generated arrays (64x64:float32)."},
    {"--inputs", "FILE", "Python file whose inputs(seed) returns the arguments, as for evaluate."},
    {"--memory", "", "Measure the memory of one call as well."},
    {"--max-memory-mb", "N", "Peak memory allowed per call, in MB; exit with 1 above it.", PassedOption::number},
};

std::vector<PassedOption> all_options() {
    std::vector<PassedOption> all(std::begin(kOptions), std::end(kOptions));
    for (const OptionSpec& spec : measure::kFunctionOptions)
        if (!spec.flag.empty()) all.push_back(PassedOption::of(spec));
    return all;
}

// An anonymous file in memory: the benchmark process writes it, then this one reads it. A crash leaves nothing to
// remove.
class ResultFile {
public:
    ResultFile() : fd_(memfd_create("gpu-profile-bench", 0)) {}
    ~ResultFile() {
        if (fd_ >= 0) close(fd_);
    }
    ResultFile(const ResultFile&) = delete;
    ResultFile& operator=(const ResultFile&) = delete;
    int fd() const { return fd_; }
    std::string text() const {
        std::string all;
        char buffer[65536];
        for (off_t at = 0;;) {
            ssize_t got = pread(fd_, buffer, sizeof buffer, at);
            if (got <= 0) return all;
            all.append(buffer, static_cast<std::size_t>(got));
            at += got;
        }
    }

private:
    int fd_;
};

// FILE[:FUNCTION]
std::string_view file_of(std::string_view what) {
    std::size_t colon = what.rfind(':');
    bool named = colon != std::string_view::npos && what.find('/', colon) == std::string_view::npos;
    return what.substr(0, named ? colon : what.size());
}

Result<std::vector<std::string>> words_of(const std::string& what, int result_fd,
                                          const std::vector<std::string>& passed) {
    Result<std::vector<std::string>> python = python_words("bench", "bench_command");
    if (!python.ok()) return python;
    std::vector<std::string>& words = *python;
    std::string_view file = file_of(what);
    words.push_back(fmt::format("--file={}", file));
    if (file.size() < what.size()) words.push_back(fmt::format("--function={}", what.substr(file.size() + 1)));
    words.push_back(fmt::format("--result-fd={}", result_fd));
    words.insert(words.end(), passed.begin(), passed.end());
    return python;
}

}  // namespace

std::span<const PassedOption> function_options() {
    static const std::vector<PassedOption> all = all_options();
    return all;
}

std::vector<std::string> files_of_functions(const std::string& what, const std::vector<std::string>& passed) {
    constexpr std::string_view kInputs = "--inputs=";
    std::vector<std::string> files = {std::string(file_of(what))};
    for (const std::string& word : passed)
        if (word.starts_with(kInputs)) files.push_back(word.substr(kInputs.size()));
    return files;
}

Result<FunctionsFound> bench_functions(const std::string& what, const std::vector<std::string>& passed) {
    ResultFile file;
    if (file.fd() < 0)
        return Error{ExitCode::internal,
                     fmt::format("cannot create a file in memory for the result: {}", std::strerror(errno))};
    Target target;
    Result<std::vector<std::string>> words = words_of(what, file.fd(), passed);
    if (!words.ok()) return words.error();
    if (Status started = target.start(*words); !started) {
        const std::string& why = started.error().message;
        return no_python("bench", words->front(), why.substr(why.rfind(": ") + 2));
    }
    TargetExit end = target.wait();
    if (end.signal != 0)
        return Error{end.asked != 0 ? static_cast<ExitCode>(128 + end.asked) : ExitCode::unreadable,
                     fmt::format("{} was killed by signal {} ({}); its results are discarded", what, end.signal,
                                 strsignal(end.signal))};
    FunctionsFound found;
    found.code = static_cast<ExitCode>(end.exit_status);
    std::string text = file.text();
    if (text.empty()) {
        if (end.exit_status != 0) return found;
        return Error{ExitCode::unreadable, fmt::format("{} exited before anything was measured", what)};
    }
    Result<measure::BenchDocument> document = measure::read_bench_document(text, what);
    if (!document.ok()) return document.error();
    found.document = std::move(*document);
    return found;
}

}  // namespace gpuprof::cli
