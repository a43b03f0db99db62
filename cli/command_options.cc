#include "cli/command_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/text/close_match.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr double kNs = 1e9, kMax_ns = 1e18;

// Parses the whole text as a number.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
    Number value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

// Formats without an exponent: 0.01, 1000000.
std::string plain(double number) {
    return number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

std::string plain(std::int64_t number) { return std::to_string(number); }

template <class Number>
void between(CLI::Option* option, Number low, Number high, const char* what) {
    auto check = [=](const std::string& text) {
        std::optional<Number> value = parsed<Number>(text);
        if (value && *value >= low && *value <= high) return std::string();
        return fmt::format("expected a {} from {} to {}, not '{}'", what, plain(low), plain(high), text);
    };
    option->check(CLI::Validator(check, ""));
}

}  // namespace

DeclaredOption& DeclaredOption::required() {
    option_->required();
    return *this;
}
DeclaredOption& DeclaredOption::value(const char* name) {
    option_->type_name(name);
    return *this;
}
DeclaredOption& DeclaredOption::number() {
    return check([](const std::string& text) {
        return parsed<double>(text) ? std::string() : fmt::format("expected a number, not '{}'", text);
    });
}
DeclaredOption& DeclaredOption::range(double low, double high) {
    between<double>(option_, low, high, "number");
    return *this;
}
DeclaredOption& DeclaredOption::fraction() {
    return check([](const std::string& text) {
        std::optional<double> value = parsed<double>(text);
        if (value && *value > 0 && *value < 1) return std::string();
        return fmt::format("expected a share between 0 and 1 (0.01 is 1 %), not '{}'", text);
    });
}
DeclaredOption& DeclaredOption::integer_range(std::int64_t low, std::int64_t high) {
    between<std::int64_t>(option_, low, high, "whole number");
    return *this;
}
DeclaredOption& DeclaredOption::seconds(double low, double high) {
    auto read = [low, high](std::string& text) {
        std::optional<double> ns = duration_of_text(text, "s");
        if (!ns)
            return fmt::format(
                "invalid time '{}'; expected seconds, or a number with a unit such as 464ms, 20us, 300ns", text);
        if (*ns < low * kNs || *ns > high * kNs)
            return fmt::format("'{}' is out of range; expected {} to {} seconds", text, plain(low), plain(high));
        if (!parsed<double>(text)) text = fmt::format("{}", *ns / kNs);
        return std::string();
    };
    option_->transform(CLI::Validator(read, ""));
    return *this;
}
DeclaredOption& DeclaredOption::nanoseconds() {
    auto read = [](std::string& text) {
        std::optional<double> ns = duration_of_text(text, "ns");
        if (!ns || *ns > kMax_ns)
            return fmt::format("invalid time '{}'; expected nanoseconds, or a number with a unit such as 10us, 2ms, 1s",
                               text);
        text = fmt::format("{:.0f}", *ns);
        return std::string();
    };
    option_->transform(CLI::Validator(read, ""));
    return *this;
}
DeclaredOption& DeclaredOption::one_of(const std::vector<std::string>& words) {
    suggest(words);
    return check([words](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return unknown_choice("value", text, {words.begin(), words.end()}).message;
    });
}
DeclaredOption& DeclaredOption::suggest_kernels() {
    completion_->kernels = true;
    return *this;
}
DeclaredOption& DeclaredOption::check(const std::function<std::string(const std::string&)>& complaint) {
    option_->check(CLI::Validator([complaint](std::string& text) { return complaint(text); }, ""));
    return *this;
}
DeclaredOption& DeclaredOption::transform(const std::function<void(std::string&)>& text) {
    auto changed = [text](std::string& given) {
        text(given);
        return std::string();
    };
    option_->transform(CLI::Validator(changed, ""));
    return *this;
}
DeclaredOption& DeclaredOption::comma_separated() {
    option_->delimiter(',');
    return *this;
}
DeclaredOption& DeclaredOption::one_value_per_use() {
    option_->allow_extra_args(false);
    return *this;
}
DeclaredOption& DeclaredOption::optional_value() {
    option_->expected(0, 1);
    return *this;
}
DeclaredOption& DeclaredOption::append_each_use() {
    option_->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return *this;
}
DeclaredOption& DeclaredOption::group(const char* heading) {
    option_->group(heading);
    return *this;
}

template <class T>
DeclaredOption CommandLine::option(const std::string& name, T& into, const std::string& doc) {
    return declared(app_.add_option(name, into, doc));
}

#define GPUPROF_OPTION_INTO(...) \
    template DeclaredOption CommandLine::option(const std::string&, __VA_ARGS__&, const std::string&);
GPUPROF_OPTION_INTO(std::string)
GPUPROF_OPTION_INTO(std::vector<std::string>)
GPUPROF_OPTION_INTO(std::vector<std::int64_t>)
GPUPROF_OPTION_INTO(int)
GPUPROF_OPTION_INTO(std::uint16_t)
GPUPROF_OPTION_INTO(std::int64_t)
GPUPROF_OPTION_INTO(std::uint64_t)
GPUPROF_OPTION_INTO(double)
GPUPROF_OPTION_INTO(std::optional<std::int64_t>)
GPUPROF_OPTION_INTO(std::optional<double>)
#undef GPUPROF_OPTION_INTO

DeclaredOption CommandLine::text_option(const std::string& name, const std::function<void(const std::string&)>& take,
                                        const std::string& doc) {
    return declared(app_.add_option_function<std::string>(name, take, doc));
}
DeclaredOption CommandLine::list_option(const std::string& name,
                                        const std::function<void(const std::vector<std::string>&)>& take,
                                        const std::string& doc) {
    return declared(app_.add_option_function<std::vector<std::string>>(name, take, doc)->type_size(1));
}
DeclaredOption CommandLine::number_option(const std::string& name, const std::function<void(double)>& take,
                                          const std::string& doc) {
    return declared(app_.add_option_function<double>(name, take, doc));
}
void CommandLine::flag(const std::string& name, bool& into, const std::string& doc) { app_.add_flag(name, into, doc); }
void CommandLine::flag(const std::string& name, const std::function<void()>& given, const std::string& doc) {
    app_.add_flag_callback(name, given, doc);
}
void CommandLine::remove(const std::string& name) { app_.remove_option(app_.get_option(name)); }
void CommandLine::removed(const std::string& name, const std::string& instead) { refused(name, "removed; " + instead); }
void CommandLine::refused(const std::string& name, const std::string& why) {
    app_.add_option_function<std::string>(name, [=](const std::string&) { throw CLI::ValidationError(name, why); })
        ->expected(0, 1)
        ->group("");
}
void CommandLine::footer(const std::string& text) { app_.footer(text); }

// Not get_option(), which is declared noexcept and ends the process when memory is short.
bool CommandLine::given(const std::string& name) const {
    for (const CLI::Option* option : app_.get_options())
        if (option->check_name(name)) return option->count() > 0;
    return false;
}
std::vector<std::string> CommandLine::remaining() const { return app_.remaining(); }

const CompletionWords& CommandLine::completion(const CLI::Option& option) const {
    static const CompletionWords kNone;
    auto found = completions_.find(&option);
    return found == completions_.end() ? kNone : found->second;
}

}  // namespace gpuprof::cli
