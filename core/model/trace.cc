#include "core/model/trace.h"

namespace gpuprof {

std::string_view Trace::meta(std::string_view key) const {
    StringId id = strings_.find(key);
    const MetaTable& meta = tables_.meta;
    for (Row row = 0; row < meta.rows; ++row)
        if (id != kNoString && meta.key[row] == id) return text(meta.value[row]);
    return {};
}

}  // namespace gpuprof
