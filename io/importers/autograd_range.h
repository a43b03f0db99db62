// Texts of the NVTX ranges that PyTorch's torch.autograd.profiler.emit_nvtx creates: the operator's name, followed by
// facts of this call, "aten::to, seq = 45440, op_id = 999599, sizes = [[2, 3], []]". Split apart, all calls of an
// operator share one name. Source: torch/csrc/profiler/util.cpp, getNvtxStr.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

struct AutogradRange {
    std::string_view name;
    std::optional<std::int64_t> sequence, op_id;
    std::string_view sizes, input_ops;  // lists in brackets; "" if absent
};

// A text that does not end in such facts is only a name.
AutogradRange parse_autograd_range(std::string_view text);

// Puts the text of an annotation into a row: its name and, if autograd wrote it, the columns for the facts.
void set_range_text(Batch& batch, Row row, std::string_view text);

}  // namespace gpuprof::importers
