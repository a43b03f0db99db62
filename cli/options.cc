#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

namespace gpuprof {
namespace {

std::string flag_of(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

// Counts are not negative, except where the default itself is: there it means "every one", and `all` says so too.
void check(CLI::Option* option, std::int64_t initial) {
    auto every = [initial](std::string& text) {
        if (text == "all") text = std::to_string(initial);
        return std::string();
    };
    auto not_negative = [](std::string& text) {
        return text.substr(0, 1) == "-" ? "must not be negative, is " + text : std::string();
    };
    if (initial < 0)
        option->transform(CLI::Validator(every, ""));
    else
        option->check(CLI::Validator(not_negative, ""));
}
template <class Other>
void check(CLI::Option*, const Other&) {}

}  // namespace

void declare_options(CLI::App& app, Options& options) {
#define GPUPROF_OPTION_FLAG(name, type, initial, value, doc)                                       \
    {                                                                                              \
        CLI::Option* option = app.add_option(flag_of(#name), options.name, doc)->type_name(value); \
        option->group("Options of analyses");                                                      \
        check(option, options.name);                                                               \
    }
    GPUPROF_OPTIONS(GPUPROF_OPTION_FLAG)
#undef GPUPROF_OPTION_FLAG
}

}  // namespace gpuprof
