#include "io/importers/spool/native_names.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/base/boot_id.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline importers {
namespace {

bool is_this_boot(std::string_view boot_id) {
    char own[kBootIdSize];
    return !boot_id.empty() && boot_id == std::string_view(own, read_boot_id(own));
}

bool changed_after(const std::string& path, TimeNs time) {
    struct stat about {};
    return stat(path.c_str(), &about) != 0 || about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec > time;
}

}  // namespace

NativeNames::NativeNames(CodeFiles files, std::string_view boot_id, TimeNs since)
    : readable_(files == CodeFiles::open && is_this_boot(boot_id)), since_(since) {}

const NativeNames::Module* NativeNames::module(std::string_view path) {
    if (!readable_ || !path.starts_with('/')) return nullptr;
    auto known = modules_.find(path);
    if (known == modules_.end()) {
        std::string name(path);
        known = modules_.emplace(name, changed_after(name, since_) ? nullptr : std::make_unique<Module>(name)).first;
    }
    return known->second.get();
}

// A return address is that of the next instruction, which may belong to the next function.
NativeNames::Name NativeNames::of(std::string_view path, std::uint64_t address) {
    Name name{{}, path.substr(path.rfind('/') + 1)};
    if (const Module* found = module(path))
        name.function = qualified_name(found->functions.at(address == 0 ? 0 : address - 1));
    // Semicolons separate frames, and parentheses a frame's parts.
    std::replace(name.function.begin(), name.function.end(), ';', ',');
    return name;
}

std::string NativeNames::text(const Name& name, std::uint64_t address) {
    std::string function = name.function.empty() ? fmt::format("{:#x}", address) : name.function;
    return name.module.empty() ? function : fmt::format("{} ({})", function, name.module);
}

}  // namespace gpuprof::importers
