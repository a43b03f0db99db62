// Paths of home folders in tests, whose sources name no real one: "%h" is the folder of home folders, and "%u" that of
// macOS.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

inline std::string path_text(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text.substr(i, 2) == "%h" || text.substr(i, 2) == "%u")
            out += text[++i] == 'h' ? "/home" : "/Users";
        else
            out += text[i];
    return out;
}

}  // namespace gpuprof
