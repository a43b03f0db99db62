// The HLO of a recording's programs, as far as names of kernels lead to it. In a command buffer (a CUDA graph that XLA builds) every
// kernel has the buffer's instruction. Kernels that XLA generated have the name of the instruction they were generated for, with
// underscores for dots; those of libraries do not.
// Formats: openxla/xla, xla/service/hlo.proto; xla/service/gpu, names of kernels: llvm_ir::SanitizeFunctionName.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::inline importers::xprof {

struct HloInstruction {
    std::string_view name, op;  // "loop_add_fusion.2", "jit(f)/add"; views of the file's bytes
    bool operator==(const HloInstruction&) const = default;
};

class HloNames {
public:
    static bool is_command_buffer(std::string_view hlo_op) { return hlo_op.starts_with("command_buffer"); }

    // A program "jit_f(3317)" with its HloProto, whose bytes outlive this.
    void add(std::string_view program, std::string_view proto);
    // The instruction of a kernel; null if none, or several, could have given it its name.
    const HloInstruction* find(std::string_view program, std::string_view kernel) const;

private:
    struct Program {
        std::map<std::string, HloInstruction, std::less<>> by_kernel;
        std::set<std::string, std::less<>> ambiguous;
    };
    std::map<std::string, Program, std::less<>> programs_;
    std::size_t names_ = 0;
};

}  // namespace gpuprof::importers::xprof
