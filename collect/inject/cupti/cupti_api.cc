#include "collect/inject/cupti/cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "core/base/text/copy_cut.h"

namespace gpuprof::inject {
namespace {

constexpr int kCuda12 = 12000, kCuda13 = 13000;

struct Versioned {
    const char* name;
    int needs;  // of the driver
};

// What is already mapped: copies of libcupti, the driver, and a Python package folder that a library came from; empty if
// none.
struct MappedPaths {
    static constexpr std::size_t kCopies = 4;
    char cupti[kCopies][sizeof(Cupti::path)] = {}, driver[512] = {}, packages[512] = {};
};

template <std::size_t Size>
void copy_first(char (&to)[Size], const char* from, std::size_t length) noexcept {
    if (to[0] != '\0' || length >= Size) return;
    std::memcpy(to, from, length);
    to[length] = '\0';
}

int look_for_cupti(dl_phdr_info* library, std::size_t, void* found) noexcept {
    auto* mapped = static_cast<MappedPaths*>(found);
    const char* name = library->dlpi_name;
    if (name == nullptr) return 0;
    if (std::strstr(name, "/libcupti.so") != nullptr)
        for (auto& copy : mapped->cupti) {
            if (copy[0] != '\0') continue;
            copy_first(copy, name, std::strlen(name));
            break;
        }
    if (std::strstr(name, "/libcuda.so") != nullptr) copy_first(mapped->driver, name, std::strlen(name));
    for (const char* folder : {"/site-packages/", "/dist-packages/"})
        if (const char* at = std::strstr(name, folder))
            copy_first(mapped->packages, name, static_cast<std::size_t>(at - name) + std::strlen(folder));
    return 0;
}

// A CUPTI that is newer than the driver would not start.
int driver_version(const MappedPaths& mapped) noexcept {
    void* driver = mapped.driver[0] != '\0' ? dlopen(mapped.driver, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    int version = supported_cuda(driver);
    if (driver != nullptr) dlclose(driver);
    return version;
}

void* open_library(const char* name, int flags = RTLD_LAZY | RTLD_LOCAL) noexcept {
    if (name == nullptr || name[0] == '\0' || std::strstr(name, "/stubs/") != nullptr) return nullptr;
    return dlopen(name, flags);
}

void* open_in(const char* folder, const char* name) noexcept {
    char path[1024];
    if (folder == nullptr || folder[0] != '/') return nullptr;
    int length = std::snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && static_cast<std::size_t>(length) < sizeof path ? open_library(path) : nullptr;
}

// The library in collect/stand_in, which asks us for CUPTI.
bool is_stand_in(void* library) noexcept { return dlsym(library, "gpuprof_cupti_stand_in") != nullptr; }

// Null if it was refused before, or is none.
void* accept(void* library, const RefusedLibraries& refused) noexcept {
    if (library == nullptr) return nullptr;
    const link_map* about = nullptr;
    if (!is_stand_in(library) && dlinfo(library, RTLD_DI_LINKMAP, &about) == 0 && !refused.holds(about->l_name))
        return library;
    dlclose(library);
    return nullptr;
}

// In the toolkit: where its variables point, then the default location.
void* open_in_toolkit(const RefusedLibraries& refused) noexcept {
    for (const char* folder : {static_cast<const char*>(std::getenv("CUDA_HOME")),
                               static_cast<const char*>(std::getenv("CUDA_PATH")), "/usr/local/cuda"})
        for (const char* name : {"extras/CUPTI/lib64/libcupti.so", "lib64/libcupti.so"})
            if (void* library = accept(open_in(folder, name), refused)) return library;
    return nullptr;
}

// Where NVIDIA's PyPI packages install it.
void* open_in_packages(const char* folder, int driver, const RefusedLibraries& refused) noexcept {
    if (driver == 0 || driver >= kCuda13)
        if (void* library = accept(open_in(folder, "nvidia/cu13/lib/libcupti.so.13"), refused)) return library;
    if (driver == 0 || driver >= kCuda12)
        if (void* library = accept(open_in(folder, "nvidia/cuda_cupti/lib/libcupti.so.12"), refused)) return library;
    for (const char* name : {"nvidia/cuda_cupti/lib/libcupti.so.11.8", "triton/backends/nvidia/lib/cupti/libcupti.so"})
        if (void* library = accept(open_in(folder, name), refused)) return library;
    return nullptr;
}

// Of several mapped copies the newest: it knows everything that clients of the others ask for.
void* open_newest_mapped(const MappedPaths& mapped) noexcept {
    void* newest = nullptr;
    std::uint32_t highest = 0;
    for (const auto& path : mapped.cupti) {
        void* library = open_library(path, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr || is_stand_in(library)) continue;
        if (newest == nullptr && mapped.cupti[1][0] == '\0') return library;  // the only one
        auto ask = reinterpret_cast<int (*)(std::uint32_t*)>(dlsym(library, "cuptiGetVersion"));
        std::uint32_t version = 0;
        // Without a driver some versions crash.
        bool known = mapped.driver[0] != '\0' && ask != nullptr && ask(&version) == kCuptiSuccess;
        if (newest != nullptr && (!known || version <= highest)) {
            dlclose(library);
            continue;
        }
        newest = library;  // the program keeps the one before mapped
        highest = version;
    }
    return newest;
}

void* find_library(const char* named, const RefusedLibraries& refused, bool& was_mapped) noexcept {
    MappedPaths mapped;
    dl_iterate_phdr(look_for_cupti, &mapped);
    if (refused.count == 0)
        if (void* library = open_newest_mapped(mapped)) {
            was_mapped = true;
            return library;
        }
    if (void* library = accept(open_library(named), refused)) return library;
    if (void* library = accept(open_in(std::getenv("TRITON_CUPTI_LIB_PATH"), "libcupti.so"), refused)) return library;
    if (void* library = open_in_toolkit(refused)) return library;
    int driver = driver_version(mapped);
    for (auto [name, needs] : {Versioned{"libcupti.so.13", kCuda13},
                               {"libcupti.so.12", kCuda12},
                               {"libcupti.so.11.8", 0},
                               {"libcupti.so", 0}})
        if (driver == 0 || driver >= needs)
            if (void* library = accept(open_library(name), refused)) return library;
    return open_in_packages(mapped.packages, driver, refused);
}

}  // namespace

int supported_cuda(void* driver) noexcept {
    auto ask = driver == nullptr ? nullptr : reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
    int version = 0;
    return ask != nullptr && ask(&version) == 0 ? version : 0;
}

bool RefusedLibraries::holds(const char* path) const noexcept {
    for (std::size_t i = 0; i < count; ++i)
        if (std::strcmp(paths[i], path) == 0) return true;
    return false;
}

bool RefusedLibraries::add(const char* path) noexcept {
    if (count == kMax || path[0] == '\0' || holds(path)) return false;
    copy_cut(paths[count++], path);
    return true;
}

bool Cupti::load(const char* named, const RefusedLibraries& refused) noexcept {
    bool mapped_before = false;
    void* library = find_library(named, refused, mapped_before);
    if (library == nullptr) return false;
    bool complete = true;
#define FUNCTION(required, result, name, arguments)                      \
    name = reinterpret_cast<result(*) arguments>(dlsym(library, #name)); \
    complete = complete && (!(required) || name != nullptr);
#include "collect/inject/cupti/cupti_symbols.def"
#undef FUNCTION
    if (!complete) {
        *this = Cupti{};
        return false;
    }
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(cuptiActivityEnable), &where) != 0 && where.dli_fname != nullptr)
        copy_cut(path, where.dli_fname);
    was_mapped = mapped_before;
    return true;
}

}  // namespace gpuprof::inject
