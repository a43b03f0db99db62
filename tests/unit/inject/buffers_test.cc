// The guide says how much memory CUPTI's buffers take.
#include "collect/inject/spool/buffers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/source_folder.h"

namespace {

TEST(Buffers, TheGuideHasTheirSize) {
    using gpuprof::inject::Buffers;
    std::ifstream file(gpuprof::source_folder() + "/docs/guides/recording.md");
    std::string guide((std::istreambuf_iterator<char>(file)), {});
    std::string figures = fmt::format("buffers of {} KiB, at most {} ({} MiB)", Buffers::kBytes >> 10,
                                      Buffers::kMaxBuffers, Buffers::kBytes * Buffers::kMaxBuffers >> 20);
    EXPECT_NE(guide.find(figures), std::string::npos) << figures;
}

}  // namespace
