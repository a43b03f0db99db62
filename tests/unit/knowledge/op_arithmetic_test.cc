// Operator arithmetic: inputs as PyTorch 2.11 recorded them on an H200 (a GPT training step) and in public A100 traces, numbers worked out by hand.
#include "analyze/knowledge/operators/op_arithmetic.h"

#include <gtest/gtest.h>

#include <string>

#include "analyze/knowledge/operators/op_inputs.h"

namespace gpuprof {
namespace {

constexpr double kTokens = 8192;  // batch 8 x sequence 1024

TEST(OpInputs, ReadsTheRecordedTexts) {
    const auto in = parse_op_inputs("[[3072], [8192, 1024], [], [[5, 128], [7]]]",
                                    R"(["c10::BFloat16", "float", "Scalar", "TensorList"])", R"(["", "", "1", ""])");
    ASSERT_TRUE(in);
    EXPECT_EQ(in->size(), 4u);
    EXPECT_EQ(in->tensor(0)->shape, Shape{3072});
    EXPECT_EQ(in->tensor(0)->dtype->bytes, 2);
    EXPECT_EQ(tensor_bytes(*in->tensor(1)), 8192.0 * 1024 * 4);
    EXPECT_FALSE(in->tensor(2));
    EXPECT_EQ(in->integer(2), 1);
    EXPECT_EQ(in->tensor_list(3)->shapes, (std::vector<Shape>{{5, 128}, {7}}));
    EXPECT_FALSE(in->tensor(4));
}

TEST(OpInputs, TellsZeroDimensionalTensorsFromNothing) {
    const auto in = parse_op_inputs("[[], [], []]", R"(["float", "", "Scalar"])", "");
    ASSERT_TRUE(in->tensor(0));
    EXPECT_EQ(numel(in->tensor(0)->shape), 1);
    EXPECT_TRUE(in->is_none(1));
    EXPECT_FALSE(in->is_none(2));
    EXPECT_FALSE(in->integer(2));
}

TEST(OpInputs, ReadsOldAndOddForms) {
    EXPECT_EQ(parse_op_inputs("\"[[2, 3], []]\"", "", "")->tensor(0)->shape, (Shape{2, 3}));
    EXPECT_EQ(parse_op_inputs("[[2, 3]]", "['float', 'Scalar']", "")->tensor(0)->dtype->bytes, 4);
    EXPECT_EQ(parse_op_inputs("[]", "", "")->size(), 0u);
    EXPECT_EQ(parse_op_inputs("[ [ 1 ,2 ] ]", "", "")->tensor(0)->shape, (Shape{1, 2}));
    EXPECT_EQ(parse_op_inputs("[[], [1]]", "", R"(["[1, -1]", ""])")->integers(0), (Shape{1, -1}));
}

TEST(OpInputs, RefusesWhatIsNoList) {
    for (const char* text : {"", "x", "[", "[[1]", "[[1]]]", "[1]", "[[-1]]", "[[1.5]]", "[[\"a\"]]", "[[1],]", "{}",
                             "[[99999999999999999999]]", "[[[[[[[[[[[[1]]]]]]]]]]]]"}) {
        EXPECT_FALSE(parse_op_inputs(text, "", "")) << text;
    }
    EXPECT_FALSE(parse_op_inputs(std::string(2'000'000, '['), "", ""));
    // A broken second text costs its own knowledge only.
    EXPECT_TRUE(parse_op_inputs("[[1]]", "[\"float", "[[")->tensor(0));
}

TEST(OpArithmetic, MatrixProducts) {
    // PyTorch's own recording; the weight is transposed by strides, not by shape. 2 * 8192 * 3072 * 1024.
    const auto addmm = op_arithmetic({"aten::addmm", "[[3072], [8192, 1024], [1024, 3072], [], []]",
                                      R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
                                      R"(["", "", "", "1", "1"])"});
    EXPECT_DOUBLE_EQ(addmm.flops.value(), 51539607552.0);
    EXPECT_DOUBLE_EQ(addmm.bytes.value(), 2.0 * (3072 + 8192 * 1024 + 1024 * 3072 + 8192 * 3072));
    EXPECT_EQ(addmm.type, MathType::bf16);
    EXPECT_FALSE(addmm.nominal);
    EXPECT_NEAR(addmm.intensity().value(), 702.11, 0.01);

    const auto linear = op_arithmetic(
        {"aten::linear", "[[8, 1024, 1024], [3072, 1024], [3072]]", R"(["float", "float", "float"])", ""});
    EXPECT_DOUBLE_EQ(linear.flops.value(), 51539607552.0);
    EXPECT_EQ(linear.type, MathType::fp32);

    const auto bmm = op_arithmetic({"aten::bmm", "[[2048, 160, 300], [2048, 300, 40]]", R"(["float", "float"])", ""});
    EXPECT_DOUBLE_EQ(bmm.flops.value(), 2.0 * 2048 * 160 * 300 * 40);
    EXPECT_DOUBLE_EQ(bmm.bytes.value(), 4.0 * 2048 * (160 * 300 + 300 * 40 + 160 * 40));

    const auto matmul =
        op_arithmetic({"aten::matmul", "[[8, 1024, 1024], [1024, 32000]]", R"(["float", "float"])", ""});
    EXPECT_DOUBLE_EQ(matmul.flops.value(), 2 * kTokens * 1024 * 32000);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::matmul", "[[5], [5]]", "", ""}).flops.value(), 10);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::matmul", "[[2, 1, 3, 4], [7, 4, 5]]", "", ""}).flops.value(),
                     2.0 * 14 * 3 * 4 * 5);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::baddbmm", "[[2, 3, 5], [2, 3, 4], [2, 4, 5]]", "", ""}).flops.value(),
                     2.0 * 2 * 3 * 4 * 5);

    // FP8 in, bfloat16 (15) out.
    const auto scaled =
        op_arithmetic({"aten::_scaled_mm", "[[16, 32], [32, 64], [], [], [], [], [], []]",
                       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
                       R"(["", "", "", "", "", "", "15", "True"])"});
    EXPECT_DOUBLE_EQ(scaled.flops.value(), 2.0 * 16 * 32 * 64);
    EXPECT_DOUBLE_EQ(scaled.bytes.value(), 16.0 * 32 + 32 * 64 + 2 * 16 * 64);
    EXPECT_EQ(scaled.type, MathType::fp8);

    // Shapes that do not fit are no product; shapes without types have FLOPs and no bytes.
    EXPECT_FALSE(op_arithmetic({"aten::mm", "[[2, 3], [4, 5]]", "", ""}).flops);
    EXPECT_FALSE(op_arithmetic({"aten::mm", "[[2, 3], [3, 5]]", "", ""}).bytes);
    EXPECT_EQ(op_arithmetic({"aten::mm", "[[2, 3], [3, 5]]", R"(["float", "c10::Half"])", ""}).type, MathType::unknown);
}

constexpr const char* kConvTypes =
    R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])";

TEST(OpArithmetic, Convolutions) {
    // ResNet's first: 7x7 stride 2 padding 3 on 224 -> 112. 2 * 32 * 64 * 112^2 * 3 * 49.
    const auto conv =
        op_arithmetic({"aten::convolution", "[[32, 3, 224, 224], [64, 3, 7, 7], [64], [], [], [], [], [], []]",
                       kConvTypes, R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])"});
    EXPECT_DOUBLE_EQ(conv.flops.value(), 7552892928.0);
    EXPECT_DOUBLE_EQ(conv.bytes.value(), 4.0 * (32 * 3 * 224 * 224 + 64 * 3 * 49 + 64 + 32.0 * 64 * 112 * 112));

    // cuDNN's argument order: padding, stride, dilation.
    const auto cudnn = op_arithmetic(
        {"aten::cudnn_convolution", "[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]",
         R"(["float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"])",
         R"(["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"])"});
    EXPECT_EQ(cudnn.flops, conv.flops);

    // Depthwise: the weight has one input channel, 2 * 8 * 16 * 32^2 * 9.
    const auto depthwise = op_arithmetic({"aten::conv2d", "[[8, 16, 32, 32], [16, 1, 3, 3], [], [], [], [], []]", "",
                                          R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "16"])"});
    EXPECT_DOUBLE_EQ(depthwise.flops.value(), 2.0 * 8 * 16 * 1024 * 9);

    // Dilation 2 makes a kernel of 3 reach 5: 10 -> 6. One value serves both dimensions.
    const auto dilated = op_arithmetic({"aten::conv2d", "[[1, 1, 10, 10], [1, 1, 3, 3], [], [], [], [], []]", "",
                                        R"(["", "", "", "[1]", "[0]", "[2]", "1"])"});
    EXPECT_DOUBLE_EQ(dilated.flops.value(), 2.0 * 36 * 9);

    // Transposed: [4, 8, 10] by a weight [8, 6, 4], stride 2 -> 22 outputs; the inputs count, 2 * 320 * 24.
    const auto transposed =
        op_arithmetic({"aten::convolution", "[[4, 8, 10], [8, 6, 4], [], [], [], [], [], [], []]",
                       R"(["float", "float", ""])", R"(["", "", "", "[2]", "[0]", "[1]", "True", "[0]", "1"])"});
    EXPECT_DOUBLE_EQ(transposed.flops.value(), 15360);
    EXPECT_DOUBLE_EQ(transposed.bytes.value(), 4.0 * (320 + 192 + 4 * 6 * 22));
}

TEST(OpArithmetic, ConvolutionBackwardFollowsItsMask) {
    const char* types =
        R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar",
                           "ScalarList"])";
    const auto backward = [types](const char* mask) {
        const std::string values = R"(["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", ")" +
                                   std::string(mask) + "\"]";
        return op_arithmetic({"aten::convolution_backward",
                              "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]",
                              types, values});
    };
    EXPECT_DOUBLE_EQ(backward("[True, True, False]").flops.value(), 2 * 7552892928.0);
    EXPECT_DOUBLE_EQ(backward("[False, True, False]").flops.value(), 7552892928.0);
    const double out = 32.0 * 64 * 112 * 112, in = 32.0 * 3 * 224 * 224, weight = 64 * 3 * 49;
    EXPECT_DOUBLE_EQ(backward("[False, True, False]").bytes.value(), 4 * (out + in + weight));
    EXPECT_DOUBLE_EQ(backward("[False, False, True]").bytes.value(), 4 * (out + 64));
    EXPECT_FALSE(backward("").flops);
}

TEST(OpArithmetic, ConvolutionWithoutItsStrideIsUnknown) {
    const auto conv = op_arithmetic({"aten::conv2d", "[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]", "", ""});
    EXPECT_FALSE(conv.flops);
    EXPECT_FALSE(conv.bytes);
    // padding="same" is not a list.
    EXPECT_FALSE(op_arithmetic({"aten::conv2d", "[[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]", "",
                                R"(["", "", "", "[1, 1]", "same", "[1, 1]", "1"])"})
                     .flops);
    // A kernel larger than the padded input.
    EXPECT_FALSE(op_arithmetic({"aten::conv1d", "[[1, 1, 2], [1, 1, 3], [], [], [], [], []]", "",
                                R"(["", "", "", "[1]", "[0]", "[1]", "1"])"})
                     .flops);
}

constexpr const char* kAttentionTypes =
    R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "Scalar", "Scalar", ""])";
constexpr const char* kAttentionDims =
    "[[8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64], [], [], [], [], [], []]";

TEST(OpArithmetic, Attention) {
    // Recorded: causal. Pairs 1024 * 1025 / 2 per head, 128 heads, 2 * (64 + 64) each.
    const auto causal = op_arithmetic({"aten::_scaled_dot_product_cudnn_attention", kAttentionDims, kAttentionTypes,
                                       R"(["", "", "", "", "True", "0.", "True", "False", ""])"});
    EXPECT_DOUBLE_EQ(causal.flops.value(), 128.0 * 524800 * 256);
    EXPECT_DOUBLE_EQ(causal.bytes.value(), 4.0 * 2 * 8 * 16 * 1024 * 64);
    // Not causal: PyTorch's sdpa_flop_count, 2 * 128 * 1024^2 * 128.
    const auto full = op_arithmetic({"aten::_scaled_dot_product_cudnn_attention", kAttentionDims, kAttentionTypes,
                                     R"(["", "", "", "", "True", "0.", "False", "False", ""])"});
    EXPECT_DOUBLE_EQ(full.flops.value(), 2.0 * 128 * 1024 * 1024 * 128);
    EXPECT_FALSE(
        op_arithmetic({"aten::_scaled_dot_product_cudnn_attention", kAttentionDims, kAttentionTypes, ""}).flops);

    // Sequence before heads; 4 query heads share one key head; more keys than queries.
    const auto flash = op_arithmetic({"aten::_flash_attention_forward",
                                      "[[2, 10, 4, 8], [2, 30, 1, 8], [2, 30, 1, 8], [], [], [], [], [], []]", "",
                                      R"(["", "", "", "", "", "10", "30", "0.", "False"])"});
    EXPECT_DOUBLE_EQ(flash.flops.value(), 2.0 * 2 * 4 * 10 * 30 * 16);
    // Packed sequences: lengths are in the tensors, not in the shapes.
    EXPECT_FALSE(op_arithmetic({"aten::_flash_attention_forward",
                                "[[2, 10, 4, 8], [2, 30, 1, 8], [2, 30, 1, 8], [3], [3], [], [], [], []]",
                                R"(["float", "float", "float", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar"])",
                                R"(["", "", "", "", "", "10", "30", "0.", "False"])"})
                     .flops);
}

TEST(OpArithmetic, AttentionBackwardIsFiveProducts) {
    const auto backward = op_arithmetic(
        {"aten::_scaled_dot_product_cudnn_attention_backward",
         "[[8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, "
         "1024, 1], [], [], [], [], [], [], "
         "[], [], [], []]",
         R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "long int", "long int", "", "", "",
            "Scalar", "Scalar", "Scalar", "Scalar", ""])",
         R"(["", "", "", "", "", "", "", "", "", "", "", "1024", "1024", "0.", "True", ""])"});
    EXPECT_DOUBLE_EQ(backward.flops.value(), 128.0 * 524800 * 2 * 5 * 64);
    EXPECT_DOUBLE_EQ(backward.bytes.value(), 8.0 * 2 * 8 * 16 * 1024 * 64);
}

TEST(OpArithmetic, Elementwise) {
    // Broadcast [8, 1024, 1024] + [1024, 1024], as recorded.
    const auto add = op_arithmetic(
        {"aten::add", "[[8, 1024, 1024], [1024, 1024], []]", R"(["float", "float", "Scalar"])", R"(["", "", "1"])"});
    EXPECT_DOUBLE_EQ(add.flops.value(), 8388608);
    EXPECT_DOUBLE_EQ(add.bytes.value(), 4.0 * (2 * 8388608 + 1048576));
    EXPECT_TRUE(add.nominal);
    EXPECT_LT(add.intensity().value(), 0.2);

    const auto in_place = op_arithmetic({"aten::mul_", "[[100], []]", R"(["c10::Half", "double"])", ""});
    EXPECT_DOUBLE_EQ(in_place.bytes.value(), 100 * 2 + 8 + 100 * 2);
    EXPECT_EQ(in_place.type, MathType::fp16);

    // Comparisons write one byte; an `out` tensor after the operands is not read.
    EXPECT_DOUBLE_EQ(
        op_arithmetic({"aten::gt", "[[10], [10], [10]]", R"(["float", "float", "bool"])", ""}).bytes.value(), 90);
    EXPECT_DOUBLE_EQ(
        op_arithmetic({"aten::where", "[[10], [10], []]", R"(["bool", "float", "float"])", ""}).bytes.value(),
        10 + 40 + 4 + 40);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::relu", "[[5, 128]]", R"(["float"])", ""}).bytes.value(), 5120);
    EXPECT_FALSE(op_arithmetic({"aten::add", "[[3], [4]]", R"(["float", "float"])", ""}).bytes);
    EXPECT_FALSE(op_arithmetic({"aten::add", "[[3], [3]]", "", ""}).bytes);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::maximum", "[[3], [3]]", "", ""}).flops.value(), 3);
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::max", "[[3, 1], [1, 4]]", "", ""}).flops.value(), 12);
}

TEST(OpArithmetic, Reductions) {
    // Recorded: sum over dimension 0 of [8192, 1024] in bfloat16.
    const auto sum = op_arithmetic({"aten::sum", "[[8192, 1024], [], [], []]",
                                    R"(["c10::BFloat16", "ScalarList", "Scalar", ""])", R"(["", "[0]", "True", ""])"});
    EXPECT_DOUBLE_EQ(sum.bytes.value(), 2.0 * (8192 * 1024 + 1024));
    EXPECT_DOUBLE_EQ(sum.flops.value(), 8388608);
    // All of it, and a trace without values: at least one element is written.
    EXPECT_DOUBLE_EQ(op_arithmetic({"aten::mean", "[[10, 10], []]", R"(["float", ""])", R"(["", ""])"}).bytes.value(),
                     404);
    EXPECT_DOUBLE_EQ(
        op_arithmetic({"aten::sum", "[[10, 10], [], [], []]", R"(["float", "", "Scalar", ""])", ""}).bytes.value(),
        404);
    // max over a dimension gives values and 64-bit indices.
    EXPECT_DOUBLE_EQ(
        op_arithmetic({"aten::max", "[[10, 4], [], []]", R"(["float", "Scalar", "Scalar"])", R"(["", "-1", "False"])"})
            .bytes.value(),
        4 * 40 + 10 * (4 + 8));
}

TEST(OpArithmetic, MemoryBoundOperators) {
    const double logits = kTokens * 32000;
    const auto copy = op_arithmetic({"aten::copy_", "[[8192, 32000], [8192, 32000], []]",
                                     R"(["c10::BFloat16", "float", "Scalar"])", R"(["", "", "False"])"});
    EXPECT_DOUBLE_EQ(copy.bytes.value(), logits * 6);
    EXPECT_DOUBLE_EQ(copy.flops.value(), 0);
    const auto to = op_arithmetic({"aten::_to_copy", "[[8192, 32000], [], [], [], [], [], []]",
                                   R"(["float", "Scalar", "Scalar", "", "", "Scalar", ""])",
                                   R"(["", "15", "0", "", "", "False", ""])"});
    EXPECT_DOUBLE_EQ(to.bytes.value(), logits * 6);
    const auto softmax = op_arithmetic({"aten::_log_softmax", "[[8192, 32000], [], []]",
                                        R"(["c10::BFloat16", "Scalar", "Scalar"])", R"(["", "1", "False"])"});
    EXPECT_DOUBLE_EQ(softmax.bytes.value(), logits * 4);
    EXPECT_DOUBLE_EQ(softmax.flops.value(), logits * 5);
    const auto backward =
        op_arithmetic({"aten::_log_softmax_backward_data", "[[8192, 32000], [8192, 32000], [], []]",
                       R"(["c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])", R"(["", "", "1", "15"])"});
    EXPECT_DOUBLE_EQ(backward.bytes.value(), logits * 6);

    const double n = 8.0 * 1024 * 1024;
    const auto norm =
        op_arithmetic({"aten::native_layer_norm", "[[8, 1024, 1024], [], [1024], [1024], []]",
                       R"(["float", "ScalarList", "float", "float", "Scalar"])", R"(["", "[1024]", "", "", "1e-05"])"});
    EXPECT_DOUBLE_EQ(norm.bytes.value(), 4 * (2 * n + 2 * 1024 + 2 * 8192));
    const auto norm_backward =
        op_arithmetic({"aten::native_layer_norm_backward",
                       "[[8, 1024, 1024], [8, 1024, 1024], [], [8, 1024, 1], [8, 1024, 1], [1024], [1024], []]",
                       R"(["float", "float", "ScalarList", "float", "float", "float", "float", "ScalarList"])", ""});
    EXPECT_DOUBLE_EQ(norm_backward.bytes.value(), 4 * (3 * n + 2 * 8192 + 3 * 1024));

    // 8192 rows of 1024 floats read and written, 64-bit indices.
    const auto embedding = op_arithmetic({"aten::embedding", "[[32000, 1024], [8, 1024], [], [], []]",
                                          R"(["float", "long int", "Scalar", "Scalar", "Scalar"])", ""});
    EXPECT_DOUBLE_EQ(embedding.bytes.value(), 8192 * 8 + 2.0 * 8192 * 1024 * 4);
    const auto embedding_backward =
        op_arithmetic({"aten::embedding_dense_backward", "[[1024, 1024], [1024], [], [], []]",
                       R"(["float", "long int", "Scalar", "Scalar", "Scalar"])", R"(["", "", "1024", "-1", "False"])"});
    EXPECT_DOUBLE_EQ(embedding_backward.bytes.value(), 4.0 * 2 * 1024 * 1024 + 8 * 1024);

    const auto cat = op_arithmetic({"aten::cat", "[[[2, 3], [4, 3]], []]", R"(["TensorList", "Scalar"])", ""});
    EXPECT_DOUBLE_EQ(cat.flops.value(), 0);
    EXPECT_FALSE(cat.bytes);  // the element type of a list is not recorded
}

TEST(OpArithmetic, FusedAdamNeedsSizes) {
    const auto with = op_arithmetic({"aten::_fused_adamw_", "[[[10], [20]], [[10], [20]], [[10], [20]], [[10], [20]]]",
                                     R"([["float"], ["float"], ["float"], ["float"]])", ""});
    EXPECT_DOUBLE_EQ(with.bytes.value(), 30 * 4 * 7);
    const auto without = op_arithmetic(
        {"aten::_fused_adamw_", "[[], [], [], []]", R"(["TensorList", "TensorList", "TensorList", "TensorList"])", ""});
    EXPECT_FALSE(without.flops);
    EXPECT_FALSE(without.bytes);
}

TEST(OpArithmetic, SaysNothingOfOtherOperators) {
    for (const char* name :
         {"aten::view", "aten::empty", "AddmmBackward0", "fb::rms_norm", "mm", "", "aten::", "aten::_"}) {
        const auto result = op_arithmetic({name, "[[2, 3], [3, 4]]", R"(["float", "float"])", ""});
        EXPECT_FALSE(result.flops) << name;
        EXPECT_FALSE(result.bytes) << name;
    }
    EXPECT_FALSE(op_arithmetic({"aten::mm", "", "", ""}).flops);
    EXPECT_FALSE(op_arithmetic({"aten::mm", "[[], []]", R"(["float", "float"])", ""}).flops);
    EXPECT_FALSE(op_arithmetic({"aten::conv2d", "[[1], [1]]", "", ""}).flops);
    EXPECT_FALSE(op_arithmetic({"aten::linear", "[[2, 0], [3, 0]]", "", ""}).flops.value_or(0) > 0);
}

}  // namespace
}  // namespace gpuprof
