// The pages of the documentation that the program carries, packed by cmake/help.cmake.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline cli {

struct HelpPage {
    std::string_view name;    // "concepts": the topic, unique among all pages
    std::string_view folder;  // "start", "guides", "reference/commands", ...
    std::string_view title;   // its first heading
    std::string_view text;    // Markdown
};

// In the order of their paths. They live as long as the program.
std::span<const HelpPage> help_pages();

// The pages in a text as cmake/pack_pages.cmake writes it; they point into it.
std::vector<HelpPage> split_pages(std::string_view packed);

}  // namespace gpuprof::cli
