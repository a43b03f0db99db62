// The kinds of options in the C interface: which value selects the default, and how other languages see the option.
// There, times are seconds and "none" is None. Lists: measure/bench_options.def, collect/device/monitor_options.def.
#pragma once

#include <cstdlib>
#include <span>
#include <string_view>

namespace gpuprof::inline schema {

enum class OptionKind {
    text,     // null: the default
    ordinal,  // the value itself
    whole,    // a count; 0: the default
    share,    // a fraction of 1; 0: the default
    amount,   // a number; 0: unknown
    span,     // a time; every value counts
    time,     // 0: the default; -1: none, which is 0 s in other languages
    limit,    // a time that cannot be "none"; 0: the default
    on,       // 1: the parameter is true
    off,      // 1: the parameter is false
};

constexpr std::string_view name_of(OptionKind kind) {
    switch (kind) {
        case OptionKind::text: return "text";
        case OptionKind::ordinal: return "ordinal";
        case OptionKind::whole: return "whole";
        case OptionKind::share: return "share";
        case OptionKind::amount: return "amount";
        case OptionKind::span: return "span";
        case OptionKind::time: return "time";
        case OptionKind::limit: return "limit";
        case OptionKind::on: return "on";
        case OptionKind::off: return "off";
    }
    return "";
}

// One line of a list.
struct OptionSpec {
    std::string_view field;
    OptionKind kind;
    std::string_view parameter, flag, value, doc;
};

// The spec of an option that must be in the list.
constexpr const OptionSpec& spec_of(std::span<const OptionSpec> list, std::string_view field) {
    for (const OptionSpec& spec : list)
        if (spec.field == field) return spec;
    std::abort();
}

#define GPUPROF_OPTION_SPEC(field, member, kind, parameter, flag, value, doc) \
    {#field, OptionKind::kind, parameter, flag, value, doc},

}  // namespace gpuprof::schema
