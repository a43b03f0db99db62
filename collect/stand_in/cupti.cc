// A libcupti.so for clients that load the library by its path and look its functions up there, as Proton (Triton) does with
// the folder in TRITON_CUPTI_LIB_PATH. Every name is an indirect function: a lookup runs a resolver, whose answer is the
// function that a linked client of CUPTI would call: that of the preloaded library if it has one, else CUPTI's own. A
// name that CUPTI does not have is not found, as in CUPTI itself. Nothing is forwarded at the time of a call.
// It is loaded only by those clients. Linking against it does not work: resolvers need the dynamic linker's lookup.
#include <dlfcn.h>

namespace {

using Function = int (*)();
using Find = void* (*)(const char* name);

Function find(const char* name) {
    auto ask = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "gpuprof_cupti_function"));
    return ask != nullptr ? reinterpret_cast<Function>(ask(name)) : nullptr;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// By this name the recorder recognises a libcupti that is none.
EXPORT int gpuprof_cupti_stand_in() { return 1; }

#define NAME(name)                                                    \
    extern "C" Function gpuprof_find_##name() { return find(#name); } \
    EXPORT int name() __attribute__((ifunc("gpuprof_find_" #name)));
#include "collect/stand_in/cupti_names.def"
#undef NAME
