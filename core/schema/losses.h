// Kinds of loss, from losses.def.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/schema/losses.def"

namespace gpuprof::inline schema {

enum class Severity { data, value, notice };

namespace loss_trait {
inline constexpr unsigned plain = 0, damage = 1, said = 2, derived = 4;
}

#define GPUPROF_LOSS_ENUM(kind, severity, traits, doc, remedy) kind,
enum class Loss { GPUPROF_LOSSES(GPUPROF_LOSS_ENUM) };
#undef GPUPROF_LOSS_ENUM

struct LossSpec {
    Loss kind;
    std::string_view name;
    Severity severity;
    unsigned traits;  // of loss_trait
    std::string_view doc, remedy;

    constexpr bool is(unsigned trait) const { return (traits & trait) != 0; }
};

namespace loss_trait {
#define GPUPROF_LOSS_SPEC(kind, severity, traits, doc, remedy) \
    {Loss::kind, #kind, Severity::severity, traits, doc, remedy},
inline constexpr LossSpec kSpecs[] = {GPUPROF_LOSSES(GPUPROF_LOSS_SPEC)};
#undef GPUPROF_LOSS_SPEC
}  // namespace loss_trait

inline constexpr std::span<const LossSpec> kLosses = loss_trait::kSpecs;
inline constexpr std::size_t kLossKinds = kLosses.size();

constexpr const LossSpec& spec_of(Loss loss) { return kLosses[static_cast<std::size_t>(loss)]; }

// The declaration of a kind by its name; null for a kind of a newer version.
constexpr const LossSpec* spec_named(std::string_view kind) {
    for (const LossSpec& spec : kLosses)
        if (spec.name == kind) return &spec;
    return nullptr;
}

constexpr bool is_derived_loss(std::string_view kind) {
    const LossSpec* spec = spec_named(kind);
    return spec != nullptr && spec->is(loss_trait::derived);
}

constexpr std::string_view name_of(Severity severity) {
    return severity == Severity::data ? "data" : severity == Severity::value ? "value" : "notice";
}

}  // namespace gpuprof::schema
