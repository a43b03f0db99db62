#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

namespace gpuprof {

DeclaredOption& DeclaredOption::required() { return option_->required(), *this; }
DeclaredOption& DeclaredOption::value(const char* name) { return option_->type_name(name), *this; }
DeclaredOption& DeclaredOption::not_negative() { return option_->check(CLI::NonNegativeNumber), *this; }
DeclaredOption& DeclaredOption::number() { return option_->check(CLI::Number), *this; }
DeclaredOption& DeclaredOption::range(double low, double high) { return option_->check(CLI::Range(low, high)), *this; }
DeclaredOption& DeclaredOption::range(int low, int high) { return option_->check(CLI::Range(low, high)), *this; }
DeclaredOption& DeclaredOption::one_of(const std::vector<std::string>& words) {
    return option_->check(CLI::IsMember(words)), *this;
}
DeclaredOption& DeclaredOption::check(const std::function<std::string(const std::string&)>& complaint) {
    return option_->check(CLI::Validator([complaint](std::string& text) { return complaint(text); }, "")), *this;
}
DeclaredOption& DeclaredOption::change(const std::function<void(std::string&)>& text) {
    auto changed = [text](std::string& given) { return text(given), std::string(); };
    return option_->transform(CLI::Validator(changed, "")), *this;
}
DeclaredOption& DeclaredOption::between_commas() { return option_->delimiter(','), *this; }
DeclaredOption& DeclaredOption::one_word_a_time() { return option_->allow_extra_args(false), *this; }
DeclaredOption& DeclaredOption::every_time_one() {
    option_->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return *this;
}
DeclaredOption& DeclaredOption::show_usual() { return option_->capture_default_str(), *this; }
DeclaredOption& DeclaredOption::usual(const char* text) { return option_->default_str(text), *this; }
DeclaredOption& DeclaredOption::group(const char* heading) { return option_->group(heading), *this; }

template <class T>
DeclaredOption CommandLine::option(const std::string& name, T& into, const std::string& doc) {
    return DeclaredOption(app_.add_option(name, into, doc));
}

#define GPUPROF_OPTION_INTO(...) \
    template DeclaredOption CommandLine::option(const std::string&, __VA_ARGS__&, const std::string&);
GPUPROF_OPTION_INTO(std::string)
GPUPROF_OPTION_INTO(std::vector<std::string>)
GPUPROF_OPTION_INTO(int)
GPUPROF_OPTION_INTO(std::uint16_t)
GPUPROF_OPTION_INTO(std::int64_t)
GPUPROF_OPTION_INTO(std::uint64_t)
GPUPROF_OPTION_INTO(double)
GPUPROF_OPTION_INTO(std::optional<std::int64_t>)
GPUPROF_OPTION_INTO(std::optional<double>)
#undef GPUPROF_OPTION_INTO

DeclaredOption CommandLine::word(const std::string& name, const std::function<void(const std::string&)>& take,
                                 const std::string& doc) {
    return DeclaredOption(app_.add_option_function<std::string>(name, take, doc));
}
DeclaredOption CommandLine::words(const std::string& name,
                                  const std::function<void(const std::vector<std::string>&)>& take,
                                  const std::string& doc) {
    return DeclaredOption(app_.add_option_function<std::vector<std::string>>(name, take, doc)->type_size(1));
}
DeclaredOption CommandLine::number(const std::string& name, const std::function<void(double)>& take,
                                   const std::string& doc) {
    return DeclaredOption(app_.add_option_function<double>(name, take, doc));
}
void CommandLine::flag(const std::string& name, bool& into, const std::string& doc) { app_.add_flag(name, into, doc); }
void CommandLine::flag(const std::string& name, const std::function<void()>& given, const std::string& doc) {
    app_.add_flag_callback(name, given, doc);
}
void CommandLine::remove(const std::string& name) { app_.remove_option(app_.get_option(name)); }
void CommandLine::footer(const std::string& text) { app_.footer(text); }

bool CommandLine::given(const std::string& name) const { return app_.get_option(name)->count() > 0; }
std::vector<std::string> CommandLine::remaining() const { return app_.remaining(); }

}  // namespace gpuprof
