#include "cli/top/screen.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <string>

#define NCURSES_NOMACROS
#include <curses.h>

namespace gpuprof::inline cli {
namespace {

volatile sig_atomic_t came = 0;

// Prepared in advance for a crash: the handler may only call write() and tcsetattr() (signal-safety(7)).
termios settings_before;
char leaving[256];
std::size_t leaving_length = 0;

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};

void restore_and_die(int number) {
    (void)!write(STDOUT_FILENO, leaving, leaving_length);
    tcsetattr(STDIN_FILENO, TCSANOW, &settings_before);
    signal(number, SIG_DFL);
    raise(number);
}

void handle(int number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);  // without SA_RESTART, so that a signal interrupts waiting for a key
}

void remember(const char* capability) {
    const char* sequence = tigetstr(capability);
    if (sequence == nullptr || sequence == reinterpret_cast<const char*>(-1)) return;
    std::size_t length = std::strlen(sequence);
    if (leaving_length + length > sizeof leaving) return;
    std::memcpy(leaving + leaving_length, sequence, length);
    leaving_length += length;
}

// Whether this locale writes UTF-8; an unset one counts as UTF-8, as in containers.
bool choose_locale() {
    std::setlocale(LC_CTYPE, "");
    auto is_utf8 = [] { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; };
    bool said = false;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') said = true;
    if (!is_utf8() && !said) std::setlocale(LC_CTYPE, "C.UTF-8");
    return is_utf8();
}

constexpr short kGood = 1, kWarning = 2;

attr_t attributes_of(Tone tone, bool colour) {
    switch (tone) {
        case Tone::plain: return A_NORMAL;
        case Tone::strong: return A_BOLD;
        case Tone::faint: return A_DIM;
        case Tone::good: return colour ? static_cast<attr_t>(COLOR_PAIR(kGood)) : A_NORMAL;
        case Tone::warning: return colour ? static_cast<attr_t>(COLOR_PAIR(kWarning)) : A_BOLD;
    }
    return A_NORMAL;
}

}  // namespace

Result<std::unique_ptr<TopScreen>> TopScreen::open(bool colour) {
    tcgetattr(STDIN_FILENO, &settings_before);
    bool unicode = choose_locale();
    // exported values would hide every change of the size
    for (const char* name : {"LINES", "COLUMNS"}) unsetenv(name);
    SCREEN* screen = newterm(nullptr, stdout, stdin);
    if (screen == nullptr) {
        const char* kind = std::getenv("TERM");
        return Error{ExitCode::not_permitted,
                     fmt::format("unknown terminal type (TERM='{}')", kind == nullptr ? "" : kind)};
    }
    set_term(screen);
    std::unique_ptr<TopScreen> top(new TopScreen(colour));
    top->unicode_ = unicode;
    return top;
}

TopScreen::TopScreen(bool colour) : colour_(colour) {
    came = 0;
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    if (colour_ && has_colors()) {
        start_color();
        use_default_colors();
        init_pair(kGood, COLOR_GREEN, -1);
        init_pair(kWarning, COLOR_YELLOW, -1);
    } else {
        colour_ = false;
    }
    leaving_length = 0;
    for (const char* capability : {"sgr0", "cnorm", "rmkx", "rmcup"}) remember(capability);
    for (int number : kCrashes) handle(number, restore_and_die);
    for (int number : kEndings) handle(number, [](int signal_number) { came = signal_number; });
}

TopScreen::~TopScreen() {
    endwin();
    for (int number : kCrashes) signal(number, SIG_DFL);
    for (int number : kEndings) signal(number, SIG_DFL);
}

int TopScreen::width() const { return getmaxx(stdscr); }
int TopScreen::height() const { return getmaxy(stdscr); }
int TopScreen::signalled() { return came; }

void TopScreen::draw(std::span<const StyledLine> lines) {
    werase(stdscr);
    int row = 0;
    for (const StyledLine& line : lines) {
        if (row >= height()) break;
        wmove(stdscr, row++, 0);
        for (const StyledText& part : line) {
            wattrset(stdscr, static_cast<int>(attributes_of(part.tone, colour_)));
            waddstr(stdscr, part.text.c_str());
        }
    }
    wattrset(stdscr, A_NORMAL);
    wrefresh(stdscr);
}

int TopScreen::key(int timeout_ms) {
    wtimeout(stdscr, timeout_ms);
    int key = wgetch(stdscr);
    return key == ERR ? 0 : key;
}

}  // namespace gpuprof::cli
