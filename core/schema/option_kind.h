// What an option of the C interface is: how its number is read where 0 means the default, and what it is in other languages, where
// times are seconds and nothing is None. Lists: measure/bench_options.def, collect/device/monitor_options.def.
#pragma once

#include <cstdlib>
#include <span>
#include <string_view>

namespace gpuprof {

enum class OptionKind {
    text,     // null: the default
    ordinal,  // as it is
    whole,    // a count; 0: the default
    share,    // of 1; 0: the default
    amount,   // a number; 0: unknown
    span,     // a time as it is
    time,     // 0: the default, -1: none, which is 0 in seconds
    limit,    // a time that has no "none"; 0: the default
    on,       // 1: yes
    off,      // 1: not what the parameter says
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

// Of a list that has it.
constexpr const OptionSpec& spec_of(std::span<const OptionSpec> list, std::string_view field) {
    for (const OptionSpec& spec : list)
        if (spec.field == field) return spec;
    std::abort();
}

#define GPUPROF_OPTION_SPEC(field, member, kind, parameter, flag, value, doc) \
    {#field, OptionKind::kind, parameter, flag, value, doc},

}  // namespace gpuprof
