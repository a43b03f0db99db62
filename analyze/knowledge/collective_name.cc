// The name grammar of collectives: a list of kernel prefixes, and word lists for each part. Words are compared without
// case and underscores, so one list serves every spelling (AllReduce, all_reduce, allreduce).
#include "analyze/knowledge/collective_name.h"

#include <algorithm>
#include <array>

#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

bool starts_with_folded(std::string_view text, std::string_view word) noexcept {
    if (text.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (to_lower(text[i]) != word[i]) return false;
    }
    return true;
}

// Whether `text` contains `word`, ignoring case and underscores in the text.
bool contains_folded(std::string_view text, std::string_view word) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::size_t i = 0;
        for (std::size_t j = at; j < text.size() && i < word.size(); ++j) {
            if (text[j] == '_') continue;
            if (to_lower(text[j]) != word[i]) break;
            ++i;
        }
        if (i == word.size()) return true;
    }
    return false;
}

struct Token {
    std::string_view spelling;
    std::string_view meaning;
};

constexpr std::array kDtypes{
    Token{"f8e4m3", "fp8"}, Token{"f8e5m2", "fp8"},    Token{"fp8", "fp8"},       Token{"f16", "fp16"},
    Token{"half", "fp16"},  Token{"bf16", "bf16"},     Token{"f32", "fp32"},      Token{"float", "fp32"},
    Token{"f64", "fp64"},   Token{"double", "fp64"},   Token{"i8", "int8"},       Token{"int8", "int8"},
    Token{"u8", "uint8"},   Token{"uint8", "uint8"},   Token{"i32", "int32"},     Token{"int32", "int32"},
    Token{"u32", "uint32"}, Token{"uint32", "uint32"}, Token{"i64", "int64"},     Token{"int64", "int64"},
    Token{"u64", "uint64"}, Token{"uint64", "uint64"}, Token{"bfloat16", "bf16"},
};
constexpr std::array kReductions{Token{"sumpostdiv", "avg"}, Token{"premulsum", "sum"}, Token{"sum", "sum"},
                                 Token{"prod", "prod"},      Token{"minmax", "max"},    Token{"max", "max"},
                                 Token{"min", "min"},        Token{"avg", "avg"}};
constexpr std::array kAlgorithms{Token{"ring", "ring"}, Token{"tree", "tree"}, Token{"collnet", "collnet"},
                                 Token{"nvls", "nvls"}, Token{"pat", "pat"}};
// A mangled name continues after the last word (LL24ncclDevKernelArgs), so these match as prefixes, longest first.
constexpr std::array kProtocols{Token{"ll128", "ll128"}, Token{"ll", "ll"}, Token{"simple", "simple"}};

template <std::size_t N>
std::string_view meaning_of_prefix(const std::array<Token, N>& words, std::string_view token) noexcept {
    for (const Token& word : words) {
        if (starts_with_folded(token, word.spelling)) return word.meaning;
    }
    return {};
}

template <std::size_t N>
std::string_view meaning_of(const std::array<Token, N>& words, std::string_view token) noexcept {
    for (const Token& word : words) {
        if (token.size() == word.spelling.size() && starts_with_folded(token, word.spelling)) return word.meaning;
    }
    return {};
}

bool moves_bytes(CollectiveKind kind) noexcept {
    return kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast ||
           kind == CollectiveKind::send_recv || kind == CollectiveKind::all_to_all;
}

void take_token(CollectiveKernel& collective, std::string_view token) noexcept {
    if (collective.dtype.empty()) collective.dtype = meaning_of(kDtypes, token);
    if (collective.reduction.empty()) collective.reduction = meaning_of(kReductions, token);
    if (collective.algorithm.empty()) collective.algorithm = meaning_of_prefix(kAlgorithms, token);
    if (collective.protocol.empty()) collective.protocol = meaning_of_prefix(kProtocols, token);
}

// The old spelling joins kind, algorithm and protocol: AllReduceRingLLKernel, AllReduceTreeLL128Kernel.
void take_joined_words(CollectiveKernel& collective, std::string_view name) noexcept {
    for (const Token& word : kAlgorithms) {
        if (collective.algorithm.empty() && contains_folded(name, word.spelling)) collective.algorithm = word.meaning;
    }
    for (std::string_view protocol : {"LL128", "LL", "Simple"}) {
        const std::size_t at = name.find("Kernel");
        const bool before_kernel = at != std::string_view::npos && at >= protocol.size() &&
                                   name.substr(at - protocol.size(), protocol.size()) == protocol;
        if (collective.protocol.empty() && before_kernel) collective.protocol = meaning_of_prefix(kProtocols, protocol);
    }
}

CollectiveKernel parse_nccl(std::string_view name) noexcept {
    CollectiveKernel collective;
    const std::size_t end = name.find('(');
    name = name.substr(0, end);
    collective.kind = collective_kind(name);
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t next = std::min(name.find('_', at), name.size());
        take_token(collective, name.substr(at, next - at));
        at = next + 1;
    }
    if (name.find("Kernel_") == std::string_view::npos || name.find("LLKernel") != std::string_view::npos ||
        name.find("LL128Kernel") != std::string_view::npos || name.find("SimpleKernel") != std::string_view::npos) {
        take_joined_words(collective, name);
    }
    if (moves_bytes(collective.kind)) collective.dtype = collective.reduction = {};
    return collective;
}

}  // namespace

CollectiveKind collective_kind(std::string_view text) noexcept {
    struct Kind {
        std::string_view word;
        CollectiveKind kind;
    };
    constexpr std::array kKinds{Kind{"allreduce", CollectiveKind::all_reduce},
                                Kind{"allgather", CollectiveKind::all_gather},
                                Kind{"reducescatter", CollectiveKind::reduce_scatter},
                                Kind{"alltoall", CollectiveKind::all_to_all},
                                Kind{"broadcast", CollectiveKind::broadcast},
                                Kind{"sendrecv", CollectiveKind::send_recv},
                                Kind{"send", CollectiveKind::send_recv},
                                Kind{"recv", CollectiveKind::send_recv},
                                Kind{"reduce", CollectiveKind::reduce}};
    for (const Kind& kind : kKinds) {
        if (contains_folded(text, kind.word)) return kind.kind;
    }
    return CollectiveKind::unknown;
}

std::optional<CollectiveKernel> parse_collective(std::string_view kernel_name) noexcept {
    for (std::string_view prefix :
         {"ncclDevKernel", "ncclKernel", "ncclSymk", "rcclGenericKernel", "ncclAllReduce", "ncclAllGather",
          "ncclReduceScatter", "ncclBroadcast", "ncclReduce", "ncclSendRecv"}) {
        const std::size_t at = kernel_name.find(prefix);
        if (at != std::string_view::npos) return parse_nccl(kernel_name.substr(at));
    }
    struct Custom {
        std::string_view word;
        CollectiveKind kind;
    };
    // PyTorch csrc/distributed/c10d/CUDASymmetricMemoryOps.cu; vLLM and SGLang csrc/custom_all_reduce.cuh;
    // TensorRT-LLM.
    constexpr std::array kCustom{Custom{"one_shot_all_reduce", CollectiveKind::all_reduce},
                                 Custom{"two_shot_all_reduce", CollectiveKind::all_reduce},
                                 Custom{"multimem_all_reduce", CollectiveKind::all_reduce},
                                 Custom{"multimem_one_shot", CollectiveKind::all_reduce},
                                 Custom{"multimem_all_gather", CollectiveKind::all_gather},
                                 Custom{"cross_device_reduce", CollectiveKind::all_reduce},
                                 Custom{"oneShotAllReduceKernel", CollectiveKind::all_reduce},
                                 Custom{"twoShotAllReduceKernel", CollectiveKind::all_reduce}};
    for (const Custom& custom : kCustom) {
        if (kernel_name.find(custom.word) == std::string_view::npos) continue;
        CollectiveKernel collective;
        collective.kind = custom.kind;
        return collective;
    }
    return std::nullopt;
}

std::string_view to_string(CollectiveKind kind) noexcept {
    switch (kind) {
        case CollectiveKind::unknown: return "unknown";
        case CollectiveKind::all_reduce: return "all_reduce";
        case CollectiveKind::all_gather: return "all_gather";
        case CollectiveKind::reduce_scatter: return "reduce_scatter";
        case CollectiveKind::all_to_all: return "all_to_all";
        case CollectiveKind::broadcast: return "broadcast";
        case CollectiveKind::reduce: return "reduce";
        case CollectiveKind::send_recv: return "send_recv";
    }
    return "unknown";
}

}  // namespace gpuprof::knowledge
