// Texts of the NVTX ranges that PyTorch's torch.autograd.profiler.emit_nvtx makes: the operator's name, and behind it facts
// of this one call, "aten::to, seq = 45440, op_id = 999599, sizes = [[2, 3], []]". Taken apart, all calls of an operator have
// one name. Source: torch/csrc/profiler/util.cpp, getNvtxStr.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/trace_builder.h"

namespace gpuprof {

struct AutogradRange {
    std::string_view name;
    std::optional<std::int64_t> sequence, op_id;
    std::string_view sizes, input_ops;  // lists in brackets; "" without
};

// A text that does not end in such facts is all name.
AutogradRange parse_autograd_range(std::string_view text);

// Puts the text of an annotation into a row: its name and, when it is one of autograd's, the columns for the rest.
void set_range_text(Batch& batch, Row row, std::string_view text);

}  // namespace gpuprof
