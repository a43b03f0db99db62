#include "analyze/knowledge/group_name.h"

#include <string>

#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {

bool names_pipeline(std::string_view description) {
    std::string word;
    for (std::size_t i = 0; i <= description.size(); ++i) {
        if (i < description.size() && is_letter(description[i])) {
            word += to_lower(description[i]);
            continue;
        }
        if (word == "pp" || word == "pipe" || word == "pipeline") return true;
        word.clear();
    }
    return false;
}

}  // namespace gpuprof::knowledge
