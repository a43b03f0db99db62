// A small parser for the JSON subset of these texts: arrays, integers, strings and bare words (None, True). It accepts
// single quotes and a whole text that is one string, never throws, and rejects anything else.
#include "analyze/knowledge/operators/op_inputs.h"

#include <array>
#include <charconv>
#include <utility>

namespace gpuprof::inline knowledge {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20;
constexpr int kMaxDepth = 8;

struct Node {
    bool is_array = false;
    std::vector<Node> items = {};
    std::string text = {};  // number, string or word
};

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::optional<Node> read_all() {
        Node node;
        if (!read(node, 0)) return std::nullopt;
        skip_space();
        return at_ == text_.size() ? std::optional<Node>(std::move(node)) : std::nullopt;
    }

private:
    void skip_space() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
            ++at_;
    }

    bool read(Node& node, int depth) {
        skip_space();
        if (at_ == text_.size() || depth > kMaxDepth) return false;
        if (text_[at_] == '[') return read_array(node, depth);
        if (text_[at_] == '"' || text_[at_] == '\'') return read_string(node);
        return read_word(node);
    }

    bool read_array(Node& node, int depth) {
        node.is_array = true;
        ++at_;
        skip_space();
        if (take(']')) return true;
        do {
            if (!read(node.items.emplace_back(), depth + 1)) return false;
            skip_space();
        } while (take(','));
        return take(']');
    }

    bool read_string(Node& node) {
        const char quote = text_[at_++];
        while (at_ < text_.size() && text_[at_] != quote) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            node.text.push_back(text_[at_++]);
        }
        return take(quote);
    }

    bool read_word(Node& node) {
        while (at_ < text_.size() && std::string_view(",[] \n\t\r\"'").find(text_[at_]) == std::string_view::npos) {
            node.text.push_back(text_[at_++]);
        }
        return !node.text.empty();
    }

    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::optional<Node> read_array_text(std::string_view text) {
    if (text.empty() || text.size() > kMaxText) return std::nullopt;
    std::optional<Node> node = Reader(text).read_all();
    if (node && !node->is_array)
        node = Reader(std::string(node->text)).read_all();  // the whole list was recorded as a string
    return node && node->is_array ? std::move(node) : std::nullopt;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<Shape> shape_of(const Node& node) {
    Shape shape;
    for (const Node& item : node.items) {
        const auto size = item.is_array ? std::nullopt : integer_of(item.text);
        if (!size || *size < 0) return std::nullopt;
        shape.push_back(*size);
    }
    return shape;
}

bool fill_shapes(OpInput& input, const Node& dims) {
    const bool nested = !dims.items.empty() && dims.items.front().is_array;
    if (!nested) {
        auto shape = shape_of(dims);
        if (!shape) return false;
        input.shape = std::move(*shape);
        if (!input.shape.empty()) input.kind = OpInputKind::tensor;
        return true;
    }
    input.kind = OpInputKind::tensor_list;
    for (const Node& item : dims.items) {
        auto shape = item.is_array ? shape_of(item) : std::nullopt;
        if (!shape) return false;
        input.shapes.push_back(std::move(*shape));
    }
    return true;
}

void apply_type(OpInput& input, const Node& type) {
    if (type.is_array) {  // a list of element types, one per tensor of a list
        if (!type.items.empty()) input.dtype = dtype_of_name(type.items.front().text);
        return;
    }
    if (type.text == "TensorList" || type.text.starts_with("GenericList")) {
        input.kind = OpInputKind::tensor_list;
    } else if (type.text == "Scalar" || type.text == "ScalarList") {
        input.kind = OpInputKind::scalar;
    } else if (const auto dtype = dtype_of_name(type.text)) {
        input.dtype = dtype;
        if (input.kind == OpInputKind::none) input.kind = OpInputKind::tensor;  // a 0-d tensor
    }
}

}  // namespace

const OpInput* OpInputs::tensor(std::size_t index) const noexcept {
    return index < inputs_.size() && inputs_[index].kind == OpInputKind::tensor ? &inputs_[index] : nullptr;
}

const OpInput* OpInputs::tensor_list(std::size_t index) const noexcept {
    return index < inputs_.size() && inputs_[index].kind == OpInputKind::tensor_list ? &inputs_[index] : nullptr;
}

bool OpInputs::is_none(std::size_t index) const noexcept {
    return index < inputs_.size() && inputs_[index].kind == OpInputKind::none;
}

std::string_view OpInputs::concrete(std::size_t index) const noexcept {
    return index < inputs_.size() ? std::string_view(inputs_[index].concrete) : std::string_view();
}

std::optional<bool> OpInputs::flag(std::size_t index) const {
    if (index >= inputs_.size()) return std::nullopt;
    if (inputs_[index].concrete == "True") return true;
    if (inputs_[index].concrete == "False") return false;
    return std::nullopt;
}

std::optional<std::int64_t> OpInputs::integer(std::size_t index) const {
    return index < inputs_.size() ? integer_of(inputs_[index].concrete) : std::nullopt;
}

std::optional<Shape> OpInputs::integers(std::size_t index) const {
    if (index >= inputs_.size()) return std::nullopt;
    const std::optional<Node> list = read_array_text(inputs_[index].concrete);
    if (!list) return std::nullopt;
    Shape values;
    for (const Node& item : list->items) {
        const auto value = item.is_array ? std::nullopt : integer_of(item.text);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    return values;
}

std::optional<OpInputs> parse_op_inputs(std::string_view dims, std::string_view types, std::string_view concrete) {
    const std::optional<Node> dims_list = read_array_text(dims);
    if (!dims_list) return std::nullopt;
    const std::optional<Node> type_list = read_array_text(types);
    const std::optional<Node> value_list = read_array_text(concrete);
    std::vector<OpInput> inputs(dims_list->items.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!dims_list->items[i].is_array || !fill_shapes(inputs[i], dims_list->items[i])) return std::nullopt;
        if (type_list && i < type_list->items.size()) apply_type(inputs[i], type_list->items[i]);
        if (value_list && i < value_list->items.size()) inputs[i].concrete = value_list->items[i].text;
    }
    return OpInputs(std::move(inputs));
}

std::optional<DType> dtype_of_name(std::string_view name) noexcept {
    struct Named {
        std::string_view name;
        DType dtype;
    };
    static constexpr std::array kNames{
        Named{"float", {MathType::fp32, 4, true}},
        Named{"double", {MathType::fp64, 8, true}},
        Named{"c10::Half", {MathType::fp16, 2, true}},
        Named{"c10::BFloat16", {MathType::bf16, 2, true}},
        Named{"c10::Float8_e4m3fn", {MathType::fp8, 1, true}},
        Named{"c10::Float8_e5m2", {MathType::fp8, 1, true}},
        Named{"c10::Float8_e4m3fnuz", {MathType::fp8, 1, true}},
        Named{"c10::Float8_e5m2fnuz", {MathType::fp8, 1, true}},
        Named{"c10::complex<float>", {MathType::unknown, 8, true}},
        Named{"c10::complex<double>", {MathType::unknown, 16, true}},
        Named{"long int", {MathType::unknown, 8, false}},
        Named{"long", {MathType::unknown, 8, false}},
        Named{"int", {MathType::unknown, 4, false}},
        Named{"short int", {MathType::unknown, 2, false}},
        Named{"short", {MathType::unknown, 2, false}},
        Named{"signed char", {MathType::int8, 1, false}},
        Named{"unsigned char", {MathType::int8, 1, false}},
        Named{"bool", {MathType::unknown, 1, false}},
    };
    for (const Named& named : kNames) {
        if (named.name == name) return named.dtype;
    }
    return std::nullopt;
}

// c10/core/ScalarType.h: uint8 0, int8 1, int16 2, int32 3, int64 4, half 5, float 6, double 7, complex 8 to 10, bool
// 11, bfloat16 15, float8 23 to 26.
std::optional<DType> dtype_of_code(std::int64_t scalar_type) noexcept {
    switch (scalar_type) {
        case 0:
        case 1: return dtype_of_name("signed char");
        case 2: return dtype_of_name("short");
        case 3: return dtype_of_name("int");
        case 4: return dtype_of_name("long");
        case 5: return dtype_of_name("c10::Half");
        case 6: return dtype_of_name("float");
        case 7: return dtype_of_name("double");
        case 9: return dtype_of_name("c10::complex<float>");
        case 10: return dtype_of_name("c10::complex<double>");
        case 11: return dtype_of_name("bool");
        case 15: return dtype_of_name("c10::BFloat16");
        case 23:
        case 24:
        case 25:
        case 26: return dtype_of_name("c10::Float8_e4m3fn");
        default: return std::nullopt;
    }
}

double numel(const Shape& shape) noexcept {
    double product = 1;
    for (std::int64_t size : shape) product *= static_cast<double>(size);
    return product;
}

std::optional<double> tensor_bytes(const OpInput& tensor) noexcept {
    if (!tensor.dtype) return std::nullopt;
    return numel(tensor.shape) * tensor.dtype->bytes;
}

}  // namespace gpuprof::knowledge
