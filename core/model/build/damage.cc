#include "core/model/build/damage.h"

#include <fmt/format.h>

#include "core/base/text/readable.h"
#include "core/model/trace.h"
#include "core/schema/losses.h"

namespace gpuprof::inline model {

std::string damage_of(const Trace& trace) {
    const LossTable& losses = trace.tables().loss;
    std::string text;
    for (Row row = 0; row < losses.rows; ++row) {
        const LossSpec* spec = spec_named(trace.text(losses.kind.value_or(row, kNoString)));
        if (spec == nullptr || !spec->is(loss_trait::damage)) continue;
        std::string_view place = trace.text(losses.place.value_or(row, kNoString));
        text += fmt::format("{}{} ({})", text.empty() ? "the input is damaged: " : ", ", spec->doc,
                            losses.count[row] == 1
                                ? std::string(place)
                                : fmt::format("{} times; first: {}", readable_count(losses.count[row]), place));
    }
    return text;
}

std::string after_damage(const Trace& trace, std::string message) {
    std::string damage = damage_of(trace);
    return damage.empty() ? message : damage + "; " + message;
}

}  // namespace gpuprof::model
