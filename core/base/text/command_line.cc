#include "core/base/text/command_line.h"

#include "core/base/text/ascii.h"
#include "core/base/text/secrets.h"

namespace gpuprof::inline base {
namespace {

constexpr std::string_view kHidden = "***";

// Letters, digits and the characters that join them into names. A run of these is examined as a whole.
bool in_run(char c) noexcept { return is_alphanumeric(c) || c == '_' || c == '-' || c == '.'; }
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) noexcept { return c == '"' || c == '\'' || c == '`'; }
bool ends_shell_word(char c) noexcept {
    return is_blank(c) || c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '<' || c == '>';
}

bool is_scheme(std::string_view word) noexcept {
    for (std::string_view scheme : {"Bearer", "bearer", "Basic", "basic", "Token", "token", "Digest"})
        if (word == scheme) return true;
    return false;
}

// Programs with a one-letter option for a password: attached to it ("-psecret"), as the next word, or both.
struct PasswordOption {
    std::string_view program;
    char letter;
    bool glued, separate;
};
constexpr PasswordOption kPasswordOptions[] = {{"mysql", 'p', true, false},      {"mysqldump", 'p', true, false},
                                               {"mysqladmin", 'p', true, false}, {"mariadb", 'p', true, false},
                                               {"sshpass", 'p', true, true},     {"redis-cli", 'a', false, true}};

// Text of limited length. What does not fit is rejected, and the overflow is noted.
class Line {
public:
    Line(char* to, std::size_t capacity) noexcept : to_(to), capacity_(capacity) {}
    void put(std::string_view text) noexcept {
        if (text.size() > capacity_ - size_)
            full_ = true;
        else if (!full_)
            size_ += text.copy(to_ + size_, text.size());
    }
    bool full() const noexcept { return full_; }
    std::size_t size() const noexcept { return size_; }

private:
    char* to_;
    std::size_t capacity_, size_ = 0;
    bool full_ = false;
};

// Scans the arguments from left to right. What a word says about the next word carries over, also to the next argument.
class Scrubber {
public:
    explicit Scrubber(Line& line) noexcept : line_(line) {}

    void argument(std::string_view text, bool shell_text) noexcept {
        text_ = text;
        at_ = 0;
        quote_ = '\0';
        shell_ = shell_text || after_shell_option_ || text.find_first_of(" \t\n") != std::string_view::npos;
        whole_ = !shell_text && !after_shell_option_;
        after_shell_option_ =
            text.size() >= 2 && text.size() <= 5 && text[0] == '-' && text[1] != '-' && text.back() == 'c';
        if (next_ == Next::hidden && whole_ && !is_option()) {
            next_ = is_scheme(text) ? Next::hidden : Next::shown;
            return line_.put(kHidden);
        }
        last_at_ = text.rfind('@');
        while (at_ < text_.size()) step();
    }

private:
    enum class Next { shown, hidden, user };  // what the next word is

    char peek(std::size_t i) const noexcept { return i < text_.size() ? text_[i] : '\0'; }
    bool at_word_start() const noexcept {
        return at_ == 0 || ends_shell_word(text_[at_ - 1]) || is_quote(text_[at_ - 1]) || text_[at_ - 1] == '[' ||
               text_[at_ - 1] == ',';
    }
    // Whether an option starts here that is not the value of the option before it.
    bool is_option() const noexcept { return peek(at_) == '-' && (peek(at_ + 1) == '-' || peek(at_ + 2) == '\0'); }

    void show_to(std::size_t end) noexcept {
        line_.put(text_.substr(at_, end - at_));
        at_ = end;
    }
    void hide_to(std::size_t end) noexcept {
        line_.put(kHidden);
        at_ = end;
    }

    void step() noexcept {
        if (next_ != Next::shown && !is_blank(text_[at_])) return value_of_option();
        if (in_base64(at_) && (at_ == 0 || !in_base64(at_ - 1)) && begins_with_aws_secret(text_.substr(at_)))
            return hide_to(at_ + 40);
        if (in_run(text_[at_])) return run();
        if (text_.substr(at_, 3) == "://") return address();
        if (quote_ == text_[at_])
            quote_ = '\0';
        else if (is_quote(text_[at_]) && quote_ == '\0')
            quote_ = text_[at_];
        show_to(at_ + 1);
    }

    bool in_base64(std::size_t i) const noexcept {
        return is_alphanumeric(text_[i]) || text_[i] == '+' || text_[i] == '/';
    }

    void value_of_option() noexcept {
        Next next = next_;
        next_ = Next::shown;
        if (is_option()) return;
        if (next == Next::user) return user_and_password();
        std::size_t end = end_of_word(at_);
        if (is_scheme(text_.substr(at_, end - at_))) next_ = Next::hidden;
        hide_to(end);
    }

    // "name:password" loses the password. "1000:1000" is a user and group id and stays.
    void user_and_password() noexcept {
        constexpr std::size_t kMaxNameLength = 256;  // the same text may be examined again
        std::size_t end = at_;
        while (end < text_.size() && end < at_ + kMaxNameLength && !is_blank(text_[end])) ++end;
        std::size_t colon = at_;
        while (colon < end && text_[colon] != ':') ++colon;
        if (colon == end) return;
        end = end_of_word(at_);
        if (text_.substr(at_, end - at_).find_first_not_of("0123456789:") == std::string_view::npos)
            return show_to(end);
        show_to(colon + 1);
        hide_to(end);
    }

    // End of the shell word that begins or continues at `i`; quotes keep it together.
    std::size_t end_of_word(std::size_t i) const noexcept {
        if (!shell_) return text_.size();
        char quote = '\0';
        for (; i < text_.size(); ++i) {
            char c = text_[i];
            if (c == '\\' && quote != '\'') {
                ++i;
            } else if (quote != '\0') {
                if (c == quote) quote = '\0';
            } else if (ends_shell_word(c) || (quote_ != '\0' && c == quote_)) {
                return i;
            } else if (is_quote(c)) {
                quote = c;
            }
        }
        return text_.size();
    }

    // The value of NAME=, where the name begins at `begin`. If the argument is only NAME=VALUE, the value ends with it.
    std::size_t end_of_value(std::size_t begin, std::size_t i) const noexcept {
        char before = begin > 0 ? text_[begin - 1] : '\0';
        if (before == '?' || before == '&') {  // in a URL
            while (i < text_.size() && !is_blank(text_[i]) && !is_quote(text_[i]) && text_[i] != '&' && text_[i] != '#')
                ++i;
            return i;
        }
        if (begin == 0 && whole_) return text_.size();
        if (is_quote(before) && before == quote_ && !is_quote(peek(i)) && text_[i - 1] != ' ') return end_of_quote(i);
        return end_of_word(i);
    }
    std::size_t end_of_quote(std::size_t i) const noexcept {
        std::size_t end = quote_ == '\0' ? std::string_view::npos : text_.find(quote_, i);
        return end == std::string_view::npos ? text_.size() : end;
    }

    // A run of name characters: shown, except for a token in it, and with what it says about the text that follows.
    void run() noexcept {
        std::size_t begin = at_, end = at_;
        bool starts_word = at_word_start();
        while (end < text_.size() && in_run(text_[end])) ++end;
        std::string_view run = text_.substr(begin, end - begin);
        if (run.starts_with("-----BEGIN")) return hide_to(text_.size());
        if (std::size_t token = find_token(run); token < run.size()) {
            show_to(begin + token);
            return hide_to(end);
        }
        if (starts_word && password_option(run)) return;
        if (assignment(begin, end, run)) return;
        show_to(end);
        bool ends_word = end == text_.size() || is_blank(text_[end]);
        if (!ends_word || !starts_word) return;
        if (run == "-u" || run == "--user" || run == "--proxy-user") next_ = Next::user;
        if (run == "Bearer" || (run[0] == '-' && names_a_secret(run))) next_ = Next::hidden;
    }

    // NAME=VALUE, NAME: VALUE, "NAME": "VALUE", ("NAME", "VALUE"), environ["NAME"] = "VALUE".
    bool assignment(std::size_t begin, std::size_t end, std::string_view run) noexcept {
        std::size_t i = end;
        while (peek(i) == '\\') ++i;
        bool quoted_name = is_quote(peek(i)) && begin > 0;
        if (quoted_name) ++i;
        if (quoted_name && peek(i) == ']') ++i;
        while (peek(i) == ' ') ++i;
        char sign = peek(i);
        if (sign == ',' && quoted_name && is_quote(peek(i + 1 + (peek(i + 1) == ' ')))) sign = ':';
        if ((sign != '=' && sign != ':') || peek(i + 1) == sign || (sign == ':' && peek(i + 1) == '/')) return false;
        if (run == "--user" || run == "--proxy-user") {
            show_to(i + 1);
            user_and_password();
            return true;
        }
        if (!names_a_secret(run.starts_with("-H") ? run.substr(2) : run)) return false;
        std::size_t value = i + 1;
        if (quoted_name) quote_ = '\0';
        while (peek(value) == ' ' && (sign == ':' || is_quote(peek(value + 1)))) ++value;
        show_to(value);
        if (value == text_.size()) {
            next_ = Next::hidden;
            return true;
        }
        if (is_blank(text_[value])) return true;  // NAME= without a value
        if (quoted_name && is_quote(text_[value]))
            hide_to(end_of_quoted(value));
        else if (sign == ':' && !quoted_name)
            hide_to(end_of_header(begin, value));
        else
            hide_to(end_of_value(begin, value));
        return true;
    }

    // After the quote that closes the one at `i`.
    std::size_t end_of_quoted(std::size_t i) const noexcept {
        char quote = text_[i];
        for (++i; i < text_.size() && text_[i] != quote; ++i)
            if (text_[i] == '\\') ++i;
        return i < text_.size() ? i + 1 : text_.size();
    }

    // A header extends to the end of its quotes or argument. Unquoted in a shell line, it has one or two words.
    std::size_t end_of_header(std::size_t begin, std::size_t value) noexcept {
        if (quote_ != '\0') return end_of_quote(value);
        if (begin == 0 && whole_) return text_.size();
        std::size_t end = end_of_word(value);
        if (is_scheme(text_.substr(value, end - value))) next_ = Next::hidden;
        return end;
    }

    // "-psecret" after mysql; notes the programs with such an option.
    bool password_option(std::string_view run) noexcept {
        for (const PasswordOption& option : kPasswordOptions) {
            if (run == option.program) program_ = &option;
            if (program_ != &option || run.size() < 2 || run[0] != '-' || run[1] != option.letter) continue;
            bool alone = run.size() == 2 && (at_ + 2 == text_.size() || is_blank(text_[at_ + 2]));
            if (alone ? !option.separate : !option.glued) continue;
            std::size_t end = end_of_word(at_);
            show_to(at_ + 2);
            alone ? void(next_ = Next::hidden) : hide_to(end);
            return true;
        }
        return false;
    }

    // At "://": the credentials up to the "@". A password may contain "/"; then the text after ":" is not a port.
    void address() noexcept {
        show_to(at_ + 3);
        if (last_at_ == std::string_view::npos || last_at_ < at_) return;
        std::size_t end = at_, at = std::string_view::npos, colon = std::string_view::npos;
        for (; end < text_.size() && !is_blank(text_[end]) && !is_quote(text_[end]); ++end) {
            if (text_[end] == '@') at = end;
            if (text_[end] == ':' && colon == std::string_view::npos) colon = end;
            bool path = text_[end] == '/' || text_[end] == '?' || text_[end] == '#';
            if (path && (at != std::string_view::npos || colon == std::string_view::npos || is_port(colon + 1))) break;
            if (text_.substr(end, 3) == "://") break;
        }
        bool only_name = colon == std::string_view::npos && text_.substr(0, at_).ends_with("ssh://");
        if (at != std::string_view::npos && !only_name) hide_to(at);
    }
    bool is_port(std::size_t i) const noexcept {
        std::size_t begin = i;
        while (is_digit(peek(i)) && i < begin + 5) ++i;
        return i > begin && (peek(i) == '/' || peek(i) == '?' || peek(i) == '#' || i == text_.size());
    }

    Line& line_;
    Next next_ = Next::shown;
    bool after_shell_option_ = false;  // the previous argument was -c
    const PasswordOption* program_ = nullptr;
    // State of the current argument:
    std::string_view text_;
    std::size_t at_ = 0, last_at_ = 0;
    char quote_ = '\0';   // the quote that encloses at_
    bool shell_ = false;  // may be a shell command line, whose words end at blanks
    bool whole_ = false;  // may be a single value
};

}  // namespace

std::size_t write_command(std::string_view raw, char* to, std::size_t capacity) noexcept {
    Line line(to, capacity);
    Scrubber scrubber(line);
    std::size_t written = 0;
    bool first = true;
    while (!raw.empty()) {
        std::string_view word = raw.substr(0, raw.find('\0'));
        raw.remove_prefix(word.size() < raw.size() ? word.size() + 1 : raw.size());
        if (!first) line.put(" ");
        first = false;
        scrubber.argument(word, false);
        if (line.full()) break;
        written = line.size();
    }
    return written;
}

std::size_t write_command_text(std::string_view text, char* to, std::size_t capacity) noexcept {
    Line line(to, capacity);
    Scrubber(line).argument(text, true);
    return line.full() ? 0 : line.size();
}

}  // namespace gpuprof::base
