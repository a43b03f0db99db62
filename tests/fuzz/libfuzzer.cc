// The targets under libFuzzer: one executable, `fuzz`, that runs the target it is named after. The build makes a link for each, so
// `build/fuzz/fuzz_kineto` fuzzes `kineto`. tests/fuzz/run.py runs them in turn, with limits.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.h"

namespace {

const gpuprof::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
    std::string_view name = (*argv)[0];
    name.remove_prefix(name.rfind('/') + 1);
    if (name.starts_with("fuzz_")) chosen = gpuprof::fuzz::find_target(name.substr(5));
    if (chosen != nullptr) return 0;
    std::fprintf(stderr, "cannot tell the target by the name %s: call it through a link fuzz_TARGET\n", (*argv)[0]);
    std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen->run({reinterpret_cast<const char*>(data), size});
    return 0;
}
