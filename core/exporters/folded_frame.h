// A name as one frame of folded stacks: printable, and `;` becomes `,`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/utf8.h"

namespace gpuprof::inline exporters {

inline std::string folded_frame(std::string_view name) {
    std::string text = printable(name);
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

}  // namespace gpuprof::exporters
