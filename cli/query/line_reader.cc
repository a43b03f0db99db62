#include "cli/query/line_reader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/output.h"

namespace gpuprof::inline cli {
namespace {

// The part of libedit's interface that the shell uses (editline(3), history in editline(3)), resolved at run time.
namespace libedit {

struct EditLine;
struct History;
struct LineInfo {
    const char *buffer, *cursor, *lastchar;
};
struct HistoryEvent {
    int number;
    const char* text;
};

// Operations of el_set() and history(), and what a bound function returns.
constexpr int kPrompt = 0, kEditor = 2, kSignal = 3, kBind = 4, kAddFunction = 9, kHistory = 10, kGetCharacter = 13,
              kClientData = 14;
constexpr int kSetSize = 1, kEnter = 10, kLoad = 17, kSave = 18, kSetUnique = 20;
constexpr unsigned char kRefresh = 4, kRedisplay = 8, kError = 6;

struct Functions {
    EditLine* (*init)(const char* program, void* in, void* out, void* error) = nullptr;
    void (*end)(EditLine*) = nullptr;
    int (*set)(EditLine*, int operation, ...) = nullptr;
    int (*get)(EditLine*, int operation, ...) = nullptr;
    const char* (*gets)(EditLine*, int* count) = nullptr;
    const LineInfo* (*line)(EditLine*) = nullptr;
    int (*insert)(EditLine*, const char* text) = nullptr;
    void (*remove)(EditLine*, int count) = nullptr;
    void (*resize)(EditLine*) = nullptr;
    History* (*history_init)() = nullptr;
    void (*history_end)(History*) = nullptr;
    int (*history)(History*, HistoryEvent*, int operation, ...) = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool load_all(Functions& f) {
    void* library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && find(library, "el_init", f.init) && find(library, "el_end", f.end) &&
           find(library, "el_set", f.set) && find(library, "el_get", f.get) && find(library, "el_gets", f.gets) &&
           find(library, "el_line", f.line) && find(library, "el_insertstr", f.insert) &&
           find(library, "el_deletestr", f.remove) && find(library, "el_resize", f.resize) &&
           find(library, "history_init", f.history_init) && find(library, "history_end", f.history_end) &&
           find(library, "history", f.history);
}

// Null where the system has no libedit. The library stays loaded.
const Functions* load() {
    static Functions functions;
    static const bool loaded = load_all(functions);
    return loaded ? &functions : nullptr;
}

}  // namespace libedit

using libedit::EditLine;

constexpr int kMaxHistory = 1000;        // entries of the history file
constexpr std::size_t kMaxListed = 200;  // completions shown at once

// Where the history is stored; "" if there is no place for it.
std::string history_file(const std::string& name) {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    std::filesystem::path folder;
    if (state != nullptr && *state == '/')
        folder = state;
    else if (home != nullptr && *home == '/')
        folder = std::filesystem::path(home) / ".local" / "state";
    else
        return "";
    folder /= "gpu-profile";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    return failed ? "" : (folder / name).string();
}

volatile sig_atomic_t interrupted = 0;

// While it lives, Ctrl-C is delivered only inside read_byte() and interrupts it.
class ScopedSigintHandler {
public:
    ScopedSigintHandler() {
        interrupted = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { interrupted = 1; };
        sigaction(SIGINT, &action, &handler_before_);
        sigset_t ctrl_c;
        sigemptyset(&ctrl_c);
        sigaddset(&ctrl_c, SIGINT);
        pthread_sigmask(SIG_BLOCK, &ctrl_c, &mask_before_);
        waiting_mask_ = mask_before_;
        sigdelset(&waiting_mask_, SIGINT);
    }
    ~ScopedSigintHandler() {
        sigaction(SIGINT, &handler_before_, nullptr);
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    ScopedSigintHandler(const ScopedSigintHandler&) = delete;
    ScopedSigintHandler& operator=(const ScopedSigintHandler&) = delete;

    // 1 with a byte, 0 at the end of input, -1 if interrupted.
    int read_byte(unsigned char& byte) const {
        while (true) {
            pollfd input{STDIN_FILENO, POLLIN, 0};
            int ready = ppoll(&input, 1, nullptr, &waiting_mask_);
            if (interrupted != 0) return -1;
            if (ready < 0 && errno != EINTR) return 0;
            if (ready <= 0) continue;
            ssize_t got = ::read(STDIN_FILENO, &byte, 1);
            if (got >= 0) return static_cast<int>(got);
            if (errno != EINTR) return 0;
        }
    }

private:
    struct sigaction handler_before_ {};
    sigset_t mask_before_{}, waiting_mask_{};
};

class PlainTerminal final : public LineReader {
public:
    Line read(const std::string& prompt, std::string_view) override {
        std::fputs(prompt.c_str(), stdout);
        std::fflush(stdout);
        ScopedSigintHandler input;
        Line line{Ending::line, ""};
        unsigned char byte = 0;
        while (true) {
            int got = input.read_byte(byte);
            if (got < 0) {
                std::fputs("\n", stdout);
                return Line{Ending::interrupted, ""};
            }
            if (got == 0) return line.text.empty() ? Line{} : line;
            if (byte == '\n') return line;
            line.text += static_cast<char>(byte);
        }
    }
    void remember(const std::string&) override {}
};

// What the words share from the start.
std::string common_start(const std::vector<std::string>& words) {
    std::string common = words.front();
    for (const std::string& word : words) {
        auto [end, other] = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
        common.erase(end, common.end());
    }
    return common;
}

class EditedTerminal final : public LineReader {
public:
    EditedTerminal(const libedit::Functions& edit, const std::string& history, Completer complete)
        : edit_(edit), complete_(std::move(complete)), file_(history_file(history)) {
        if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
        history_ = edit_.history_init();
        libedit::HistoryEvent event{};
        edit_.history(history_, &event, libedit::kSetSize, kMaxHistory);
        edit_.history(history_, &event, libedit::kSetUnique, 1);
        if (!file_.empty()) edit_.history(history_, &event, libedit::kLoad, file_.c_str());
        line_ = edit_.init("gpu-profile", stdin, stdout, stderr);
        edit_.set(line_, libedit::kClientData, this);
        edit_.set(line_, libedit::kSignal, 0);
        edit_.set(line_, libedit::kEditor, "emacs");
        edit_.set(line_, libedit::kPrompt, prompt_of);
        edit_.set(line_, libedit::kHistory, edit_.history, history_);
        edit_.set(line_, libedit::kGetCharacter, next_character);
        edit_.set(line_, libedit::kAddFunction, "complete", "Complete the word", complete_word);
        edit_.set(line_, libedit::kBind, "^I", "complete", nullptr);
        edit_.set(line_, libedit::kBind, "^R", "em-inc-search-prev", nullptr);
    }
    ~EditedTerminal() override {
        if (!file_.empty()) save_history();
        edit_.end(line_);
        edit_.history_end(history_);
    }

    Line read(const std::string& prompt, std::string_view before) override {
        prompt_ = prompt;
        before_ = before;
        ScopedSigintHandler input;
        input_ = &input;
        edit_.resize(line_);
        int count = 0;
        const char* text = edit_.gets(line_, &count);
        input_ = nullptr;
        if (interrupted != 0) {
            std::fputs("^C\n", stdout);
            return Line{Ending::interrupted, ""};
        }
        if (text == nullptr || count <= 0) return {};
        std::string line(text, static_cast<std::size_t>(count));
        if (line.ends_with('\n')) line.pop_back();
        return {Ending::line, std::move(line)};
    }
    void remember(const std::string& entry) override {
        std::string line = entry;
        std::replace(line.begin(), line.end(), '\n', ' ');
        libedit::HistoryEvent event{};
        edit_.history(history_, &event, libedit::kEnter, line.c_str());
    }

private:
    void save_history() {
        Result<Output> file = Output::open(file_, FileAccess::owner);
        if (!file.ok()) return;
        libedit::HistoryEvent event{};
        edit_.history(history_, &event, libedit::kSave, file->part().c_str());
        (void)file->close();
    }
    static EditedTerminal& of(EditLine* line) {
        void* self = nullptr;
        libedit::load()->get(line, libedit::kClientData, &self);
        return *static_cast<EditedTerminal*>(self);
    }
    static const char* prompt_of(EditLine* line) { return of(line).prompt_.c_str(); }

    // One character of UTF-8.
    static int next_character(EditLine* line, wchar_t* character) {
        const ScopedSigintHandler& input = *of(line).input_;
        unsigned char byte = 0;
        if (int got = input.read_byte(byte); got <= 0) return got;
        int more = (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0);  // bytes that follow
        std::uint32_t code = more == 0 ? byte : byte & (0x3Fu >> more);
        for (; more > 0; --more) {
            if (int got = input.read_byte(byte); got <= 0) return got;
            code = code << 6 | (byte & 0x3Fu);
        }
        *character = static_cast<wchar_t>(code);
        return 1;
    }
    static unsigned char complete_word(EditLine* line, int) { return of(line).complete(); }

    unsigned char complete() {
        const libedit::LineInfo* info = edit_.line(line_);
        std::string typed(info->buffer, info->cursor);
        Completion found = complete_(before_ + typed);
        if (found.words.empty() || found.begin < before_.size()) return libedit::kError;
        std::size_t length = before_.size() + typed.size() - found.begin;
        std::string common = common_start(found.words);
        bool only = found.words.size() == 1;
        if (common.size() > length || only) {
            edit_.remove(line_, static_cast<int>(length));
            edit_.insert(line_, (common + (only ? " " : "")).c_str());
            return libedit::kRefresh;
        }
        list(found.words);
        return libedit::kRedisplay;
    }
    static void list(const std::vector<std::string>& words) {
        winsize size{};
        std::size_t width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80,
                    widest = 0;
        for (const std::string& word : words) widest = std::max(widest, word.size() + 2);
        std::size_t columns = std::max<std::size_t>(1, width / widest), listed = std::min(words.size(), kMaxListed);
        std::string text = "\n";
        for (std::size_t i = 0; i < listed; ++i)
            text += i % columns + 1 == columns || i + 1 == listed ? words[i] + '\n'
                                                                  : fmt::format("{:<{}}", words[i], widest);
        if (listed < words.size()) text += fmt::format("... and {} more\n", words.size() - listed);
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    const libedit::Functions& edit_;
    Completer complete_;
    std::string file_, prompt_, before_;
    const ScopedSigintHandler* input_ = nullptr;
    EditLine* line_ = nullptr;
    libedit::History* history_ = nullptr;
};

class TextReader final : public LineReader {
public:
    explicit TextReader(std::string text) : lines_(std::move(text)) {}
    Line read(const std::string&, std::string_view) override {
        Line line{Ending::line, ""};
        return std::getline(lines_, line.text) ? line : Line{};
    }
    void remember(const std::string&) override {}

private:
    std::istringstream lines_;
};

}  // namespace

std::unique_ptr<LineReader> open_terminal(const std::string& history, Completer complete) {
    const libedit::Functions* edit = libedit::load();
    if (edit == nullptr) return std::make_unique<PlainTerminal>();
    return std::make_unique<EditedTerminal>(*edit, history, std::move(complete));
}

std::unique_ptr<LineReader> read_text(std::string text) { return std::make_unique<TextReader>(std::move(text)); }

}  // namespace gpuprof::cli
