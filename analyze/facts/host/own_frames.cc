#include "analyze/facts/host/own_frames.h"

#include "core/schema/library_frames.def"

namespace gpuprof::inline facts {

bool of_a_library(std::string_view frame) {
    const auto starts = [&](std::string_view text) { return frame.starts_with(text); };
    const auto contains = [&](std::string_view text) { return frame.find(text) != frame.npos; };
#define GPUPROF_TEST(how, text) \
    if (how(text)) return true;
    GPUPROF_LIBRARY_FRAMES(GPUPROF_TEST)
#undef GPUPROF_TEST
    return !contains(".py");
}

}  // namespace gpuprof::facts
