// The inputs of a framework operator, parsed from PyTorch's record_shapes data: three JSON texts with one entry per
// argument.
//
//   Input Dims       [[8, 1024], [1024, 3072], [], [[5, 128], [5, 128]]]
//                    a shape; [] for scalars, None and 0-d tensors; nested for tensor lists
//   Input type       ["float", "c10::BFloat16", "Scalar", "TensorList"]
//                    a C++ type, "Scalar", "ScalarList" or "TensorList"; "" for None
//   Concrete Inputs  ["", "", "1", "[1, 1]"]
//                    values of scalars and lists; "" for tensors (since PyTorch 2.1)
//
// Old versions record the texts as strings, or omit the third or the last two; missing data is absent here, never
// assumed. Limits: 1 MiB of text and 8 nesting levels. Texts beyond them, or with negative or non-integer sizes, are
// rejected as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/knowledge/math_type.h"

namespace gpuprof::inline knowledge {

using Shape = std::vector<std::int64_t>;

// Element type of a tensor. type is unknown for booleans and integers other than int8, since no peak is quoted for
// them.
struct DType {
    MathType type = MathType::unknown;
    int bytes = 0;
    bool floating = false;
};

enum class OpInputKind : std::uint8_t { none, scalar, tensor, tensor_list };

struct OpInput {
    OpInputKind kind = OpInputKind::none;
    Shape shape = {};                // tensor; empty for 0-d
    std::vector<Shape> shapes = {};  // tensor_list; empty if the sizes were not recorded
    std::optional<DType> dtype = {};
    std::string concrete = {};  // empty if not recorded
};

class OpInputs {
public:
    explicit OpInputs(std::vector<OpInput> inputs) : inputs_(std::move(inputs)) {}

    [[nodiscard]] std::size_t size() const noexcept { return inputs_.size(); }
    // Null if the argument is absent or of another kind.
    [[nodiscard]] const OpInput* tensor(std::size_t index) const noexcept;
    [[nodiscard]] const OpInput* tensor_list(std::size_t index) const noexcept;
    // True for an argument that is None or an omitted optional tensor; false if the argument does not exist.
    [[nodiscard]] bool is_none(std::size_t index) const noexcept;
    // The recorded value as text; empty if not recorded.
    [[nodiscard]] std::string_view concrete(std::size_t index) const noexcept;
    // Recorded values; absent if not recorded or malformed.
    [[nodiscard]] std::optional<bool> flag(std::size_t index) const;
    [[nodiscard]] std::optional<std::int64_t> integer(std::size_t index) const;
    [[nodiscard]] std::optional<Shape> integers(std::size_t index) const;

private:
    std::vector<OpInput> inputs_;
};

// Absent if the dims text is empty or malformed. types and concrete may be empty.
[[nodiscard]] std::optional<OpInputs> parse_op_inputs(std::string_view dims, std::string_view types,
                                                      std::string_view concrete);

// "c10::BFloat16", "long int", ...; absent for other names.
[[nodiscard]] std::optional<DType> dtype_of_name(std::string_view name) noexcept;
// c10::ScalarType as a number, as dtype arguments are recorded: 6 is float, 15 is bfloat16.
[[nodiscard]] std::optional<DType> dtype_of_code(std::int64_t scalar_type) noexcept;

// Product of the sizes, 1 for a 0-d shape. A double, because sizes come from a file and their product may exceed 64
// bits.
[[nodiscard]] double numel(const Shape& shape) noexcept;
// Size of a tensor in bytes; absent without an element type.
[[nodiscard]] std::optional<double> tensor_bytes(const OpInput& tensor) noexcept;

}  // namespace gpuprof::knowledge
