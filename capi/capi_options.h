// Converts the fields of an option structure to C++ members, according to their kind (core/schema/option_kind.h).
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/result.h"
#include "core/schema/option_kind.h"
#include "measure/peak.h"
#include "measure/stopping.h"

namespace gpuprof::capi {

inline Status take_text(const char* given, std::string& to) {
    to = given;
    return {};
}
inline Status take_text(const char* given, measure::StopRule& to) {
    Result<measure::StopRule> rule = measure::find_stop_rule(given);
    if (!rule.ok()) return rule.error();
    to = *rule;
    return {};
}
inline Status take_text(const char* given, MathPath& to) {
    Result<MathPath> path = measure::find_math_path(given);
    if (!path.ok()) return path.error();
    to = *path;
    return {};
}

// Errors name the field.
template <class Member>
Status take_option(std::string_view, OptionKind, const char* given, Member& to) {
    return given == nullptr ? Status() : take_text(given, to);
}

template <class Given, class Member>
Status take_option(std::string_view field, OptionKind kind, Given given,
                   Member& to) requires std::is_arithmetic_v<Given> {
    if (kind != OptionKind::ordinal && kind != OptionKind::span && kind != OptionKind::time && !(given >= 0))
        return Error{ExitCode::usage, fmt::format("{} must be a non-negative number, got {}", field, given)};
    if (kind == OptionKind::time && given < 0) {
        to = Member{};
        return {};
    }
    if constexpr (std::is_same_v<Member, bool>) {
        to = (given != 0) == (kind == OptionKind::on);
    } else if (given != 0) {
        to = static_cast<std::conditional_t<std::is_arithmetic_v<Member>, Member, Given>>(given);
    }
    return {};
}

// Converts one option of the structure `given` into the object `to`, unless an earlier one has failed: `taken` is a Status.
#define GPUPROF_TAKE_OPTION(field, member, kind, parameter, flag, value, doc) \
    if (taken) taken = gpuprof::capi::take_option(#field, gpuprof::OptionKind::kind, given.field, to.member);

}  // namespace gpuprof::capi
