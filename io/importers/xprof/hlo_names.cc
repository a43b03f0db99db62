#include "io/importers/xprof/hlo_names.h"

#include <algorithm>

#include "core/base/text/ascii.h"
#include "io/importers/source/protobuf.h"

namespace gpuprof::inline importers::xprof {
namespace {

// Field numbers of hlo.proto.
constexpr std::uint32_t kModule = 1, kComputations = 3, kInstructions = 2, kInstructionName = 1, kMetadata = 7,
                        kOpName = 2;

// Calls visit(bytes) for each field of this number.
template <class Visit>
void each_field(std::string_view message, std::uint32_t number, Visit&& visit) {
    ProtobufFields fields(message);
    while (fields.next())
        if (fields.number() == number) visit(fields.bytes());
}

constexpr std::size_t kMaxNames = 1'000'000;  // of all programs, so that a small file cannot take much memory

std::string kernel_name(std::string_view instruction) {
    std::string name(instruction);
    for (char& c : name)
        if (!is_alphanumeric(c)) c = '_';
    return name;
}

}  // namespace

void HloNames::add(std::string_view name, std::string_view proto) {
    Program& program = programs_[std::string(name)];
    each_field(proto, kModule, [&](std::string_view module) {
        each_field(module, kComputations, [&](std::string_view computation) {
            each_field(computation, kInstructions, [&](std::string_view message) {
                HloInstruction found;
                each_field(message, kInstructionName, [&](std::string_view text) { found.name = text; });
                each_field(message, kMetadata, [&](std::string_view metadata) {
                    each_field(metadata, kOpName, [&](std::string_view text) { found.op = text; });
                });
                std::string kernel = kernel_name(found.name);
                if (kernel.empty() || program.ambiguous.contains(kernel) || names_ >= kMaxNames) return;
                auto [known, added] = program.by_kernel.try_emplace(kernel, found);
                names_ += added;
                if (added || known->second == found) return;
                program.by_kernel.erase(known);
                program.ambiguous.insert(std::move(kernel));
            });
        });
    });
}

const HloInstruction* HloNames::find(std::string_view name, std::string_view kernel) const {
    auto program = programs_.find(name);
    if (program == programs_.end()) return nullptr;
    auto found = program->second.by_kernel.find(kernel);
    return found == program->second.by_kernel.end() ? nullptr : &found->second;
}

}  // namespace gpuprof::importers::xprof
