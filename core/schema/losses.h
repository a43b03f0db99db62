// Kinds of loss, from losses.def.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/schema/losses.def"

namespace gpuprof {

enum class Severity { data, value, notice };

#define GPUPROF_LOSS_ENUM(kind, severity, doc, remedy) kind,
enum class Loss { GPUPROF_LOSSES(GPUPROF_LOSS_ENUM) };
#undef GPUPROF_LOSS_ENUM

struct LossSpec {
    Loss kind;
    std::string_view name;
    Severity severity;
    std::string_view doc, remedy;
};

#define GPUPROF_LOSS_SPEC(kind, severity, doc, remedy) {Loss::kind, #kind, Severity::severity, doc, remedy},
inline constexpr LossSpec kLosses[] = {GPUPROF_LOSSES(GPUPROF_LOSS_SPEC)};
#undef GPUPROF_LOSS_SPEC
inline constexpr std::size_t kLossKinds = sizeof(kLosses) / sizeof(kLosses[0]);

constexpr const LossSpec& spec_of(Loss loss) { return kLosses[static_cast<std::size_t>(loss)]; }

// Whether bytes of the input could not be read: what every answer and every refusal says first.
constexpr bool is_damage(Loss loss) {
    return loss == Loss::truncated || loss == Loss::bad_compression || loss == Loss::malformed_event ||
           loss == Loss::damaged_chunk || loss == Loss::damaged_table || loss == Loss::unread_file;
}

constexpr std::string_view name_of(Severity severity) {
    return severity == Severity::data ? "data" : severity == Severity::value ? "value" : "notice";
}

}  // namespace gpuprof
