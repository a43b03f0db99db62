// Convolutions. flops = 2 x outputs x (input channels of a group x kernel volume), as conv_flop_count of
// torch.utils.flop_counter; the weight's shape [out, in / groups, kernel...] includes the groups. A transposed
// convolution does the work of the forward one it inverts, so its *inputs* count. Backward: one such product each for
// the input gradient and the weight gradient, as requested by output_mask. These are FLOPs of the direct method:
// Winograd and FFT kernels need fewer and may exceed the peak.
#include "analyze/knowledge/operators/op_rules.h"

namespace gpuprof::inline knowledge::op_rules {
namespace {

// Argument positions in an operator's schema; -1 = not present.
struct ConvArgs {
    int bias, stride, padding, dilation;
    int transposed;  // position of the flag; kNever and kAlways for operators that fix it
    int output_padding = -1;
    int groups = -1;  // read for transposed convolutions only
};
constexpr int kNone = -1;
constexpr int kNever = -2;
constexpr int kAlways = -3;

std::optional<bool> is_transposed(const OpInputs& in, int position) {
    if (position == kNever) return false;
    if (position == kAlways) return true;
    return in.flag(static_cast<std::size_t>(position));
}

// One value per spatial dimension; a list of one applies to all, a missing argument means the default.
std::optional<Shape> per_dimension(const OpInputs& in, int position, std::size_t dimensions, std::int64_t fallback) {
    if (position == kNone) return Shape(dimensions, fallback);
    std::optional<Shape> values = in.integers(static_cast<std::size_t>(position));
    if (!values) return std::nullopt;
    if (values->size() == 1) values = Shape(dimensions, values->front());
    return values->size() == dimensions ? values : std::nullopt;
}

double kernel_products(const Shape& weight) { return numel(Shape(weight.begin() + 1, weight.end())); }

struct Geometry {
    std::int64_t size, kernel, stride, padding, dilation, output_padding;
};

std::optional<double> output_size(const Geometry& g, bool transposed) {
    constexpr double kExact = 9e15;  // larger sizes are not exact in a double, and no tensor has them
    if (g.stride <= 0 || g.kernel <= 0) return std::nullopt;
    const double reach = static_cast<double>(g.dilation) * static_cast<double>(g.kernel - 1) + 1;
    const double padded = 2 * static_cast<double>(g.padding);
    if (transposed) {
        return static_cast<double>(g.size - 1) * static_cast<double>(g.stride) - padded + reach +
               static_cast<double>(g.output_padding);
    }
    const double room = static_cast<double>(g.size) + padded - reach;
    return room < 0 || room > kExact
               ? std::nullopt
               : std::optional<double>(static_cast<double>(static_cast<std::int64_t>(room) / g.stride) + 1);
}

// The weight is [out, in / groups, kernel...], and [in, out / groups, kernel...] when transposed.
std::optional<double> output_channels(const OpInputs& in, const ConvArgs& args, const Shape& weight, bool transposed) {
    if (!transposed) return static_cast<double>(weight[0]);
    const auto groups = args.groups == kNone ? std::nullopt : in.integer(static_cast<std::size_t>(args.groups));
    if (!groups || *groups <= 0) return std::nullopt;
    return static_cast<double>(weight[1]) * static_cast<double>(*groups);
}

// Number of output elements, from the shapes and the recorded stride, padding and dilation.
std::optional<double> outputs(const OpInputs& in, const ConvArgs& args, const Shape& input, const Shape& weight,
                              bool transposed) {
    const std::size_t dimensions = weight.size() - 2;
    const std::size_t lead = input.size() - dimensions;  // batch and channels, or channels alone
    const auto stride = per_dimension(in, args.stride, dimensions, 1);
    const auto padding = per_dimension(in, args.padding, dimensions, 0);
    const auto dilation = per_dimension(in, args.dilation, dimensions, 1);
    const auto extra = per_dimension(in, transposed ? args.output_padding : kNone, dimensions, 0);
    std::optional<double> count = output_channels(in, args, weight, transposed);
    if (!stride || !padding || !dilation || !extra || !count) return std::nullopt;
    if (lead == 2) *count *= static_cast<double>(input[0]);
    for (std::size_t i = 0; i < dimensions; ++i) {
        const Geometry geometry{input[lead + i], weight[i + 2],  (*stride)[i],
                                (*padding)[i],   (*dilation)[i], (*extra)[i]};
        const auto size = output_size(geometry, transposed);
        if (!size || *size < 0) return std::nullopt;
        *count *= *size;
    }
    return count;
}

bool sane(const OpInput* input, const OpInput* weight) {
    if (!input || !weight || weight->shape.size() < 3) return false;
    const std::size_t dimensions = weight->shape.size() - 2;
    return input->shape.size() == dimensions + 2 || input->shape.size() == dimensions + 1;
}

Arithmetic forward(const OpInputs& in, const ConvArgs& args) {
    const OpInput* input = in.tensor(0);
    const OpInput* weight = in.tensor(1);
    const std::optional<bool> transposed = is_transposed(in, args.transposed);
    if (!sane(input, weight) || !transposed) return {};
    Arithmetic result;
    result.type = type_of(input) == type_of(weight) ? type_of(input) : MathType::unknown;
    const std::optional<double> out = outputs(in, args, input->shape, weight->shape, *transposed);
    if (*transposed) result.flops = 2 * numel(input->shape) * kernel_products(weight->shape);
    if (!out) return result;
    if (!*transposed) result.flops = 2 * *out * kernel_products(weight->shape);
    const OpInput* bias = args.bias == kNone ? nullptr : in.tensor(static_cast<std::size_t>(args.bias));
    result.bytes = ByteSum().add(input).add(weight).add(bias).add_elements(*out, input->dtype).sum();
    return result;
}

struct Mask {
    bool input = false, weight = false, bias = false;
};

std::optional<Mask> output_mask(std::string_view text) {
    const auto next = [&text]() -> std::optional<bool> {
        const std::size_t at = text.find_first_of("TF");
        if (at == std::string_view::npos) return std::nullopt;
        const bool value = text[at] == 'T';
        text.remove_prefix(at + 4);
        return value;
    };
    const auto input = next();
    const auto weight = input ? next() : std::nullopt;
    const auto bias = weight ? next() : std::nullopt;
    if (!bias) return std::nullopt;
    return Mask{*input, *weight, *bias};
}

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask)
Arithmetic backward(const OpInputs& in) {
    const OpInput* gradient = in.tensor(0);
    const OpInput* input = in.tensor(1);
    const OpInput* weight = in.tensor(2);
    if (!gradient || !sane(input, weight)) return {};
    Arithmetic result;
    result.type = type_of(input) == type_of(weight) ? type_of(input) : MathType::unknown;
    const std::optional<bool> transposed = in.flag(7);
    const std::optional<Mask> mask = output_mask(in.concrete(10));
    if (!transposed || !mask) return result;
    const double once = 2 * numel(*transposed ? input->shape : gradient->shape) * kernel_products(weight->shape);
    result.flops = once * ((mask->input ? 1 : 0) + (mask->weight ? 1 : 0));
    ByteSum bytes;
    bytes.add(gradient);
    if (mask->input) bytes.add(weight).add(input);   // read the weight, write a gradient of the input's size
    if (mask->weight) bytes.add(input).add(weight);  // the reverse
    const std::size_t dimensions = weight->shape.size() - 2;
    const Shape& shape = gradient->shape;
    if (mask->bias && shape.size() > dimensions) {
        bytes.add_elements(static_cast<double>(shape[shape.size() - dimensions - 1]), weight->dtype);
    }
    result.bytes = bytes.sum();
    return result;
}

// Positions: bias, stride, padding, dilation, transposed, output padding, groups.
Arithmetic conv(const OpInputs& in) { return forward(in, {2, 3, 4, 5, kNever}); }
Arithmetic conv_transpose(const OpInputs& in) { return forward(in, {2, 3, 4, 7, kAlways, 5, 6}); }
Arithmetic convolution(const OpInputs& in) { return forward(in, {2, 3, 4, 5, 6, 7, 8}); }
Arithmetic cudnn(const OpInputs& in) { return forward(in, {kNone, 3, 2, 4, kNever}); }
Arithmetic cudnn_transpose(const OpInputs& in) { return forward(in, {kNone, 4, 2, 5, kAlways, 3, 6}); }
Arithmetic cudnn_add_relu(const OpInputs& in) { return forward(in, {4, 5, 6, 7, kNever}); }
Arithmetic miopen(const OpInputs& in) { return forward(in, {2, 4, 3, 5, kNever}); }
Arithmetic slow_conv(const OpInputs& in) { return forward(in, {3, 4, 5, kNone, kNever}); }
Arithmetic depthwise(const OpInputs& in) { return forward(in, {3, 4, 5, 6, kNever}); }

constexpr NamedRule kConvRules[] = {
    {"conv1d", conv},
    {"conv2d", conv},
    {"conv3d", conv},
    {"conv_transpose1d", conv_transpose},
    {"conv_transpose2d", conv_transpose},
    {"conv_transpose3d", conv_transpose},
    {"convolution", convolution},
    {"_convolution", convolution},
    {"convolution_overrideable", convolution},
    {"convolution_backward", backward},
    {"cudnn_convolution", cudnn},
    {"cudnn_convolution_transpose", cudnn_transpose},
    {"cudnn_convolution_relu", conv},
    {"cudnn_convolution_add_relu", cudnn_add_relu},
    {"miopen_convolution", miopen},
    {"miopen_depthwise_convolution", miopen},
    {"mkldnn_convolution", miopen},
    {"_slow_conv2d_forward", slow_conv},
    {"slow_conv3d_forward", slow_conv},
    {"thnn_conv2d", slow_conv},
    {"_conv_depthwise2d", depthwise},
    {"conv_depthwise3d", depthwise},
};

}  // namespace

std::span<const NamedRule> conv_rules() noexcept { return kConvRules; }

}  // namespace gpuprof::knowledge::op_rules
