#include "cli/query/libedit.h"

#include <dlfcn.h>

namespace gpuprof::inline cli::libedit {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool load_all(Functions& f) {
    void* library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && find(library, "el_init", f.init) && find(library, "el_end", f.end) &&
           find(library, "el_set", f.set) && find(library, "el_get", f.get) && find(library, "el_gets", f.gets) &&
           find(library, "el_line", f.line) && find(library, "el_insertstr", f.insert) &&
           find(library, "el_deletestr", f.remove) && find(library, "el_resize", f.resize) &&
           find(library, "history_init", f.history_init) && find(library, "history_end", f.history_end) &&
           find(library, "history", f.history);
}

}  // namespace

const Functions* load() {
    static Functions functions;
    static const bool loaded = load_all(functions);
    return loaded ? &functions : nullptr;
}

}  // namespace gpuprof::cli::libedit
