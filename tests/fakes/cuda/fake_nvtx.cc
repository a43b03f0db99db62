#include "tests/fakes/cuda/fake_nvtx.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace fake_nvtx {
namespace {

// Places in the tables: NVTX_CBID_CORE_*, NVTX_CBID_CORE2_*.
enum Core { kMarkA = 2, kRangeStartA = 5, kRangeEnd = 7, kPushA = 9, kPop = 11, kNameOsThreadA = 14, kCoreEnd = 16 };
enum Core2 {
    kDomainPushEx = 4,
    kDomainPop = 5,
    kDomainNameCategoryA = 8,
    kDomainRegisterStringA = 10,
    kDomainCreateA = 12,
    kCore2End = 16
};
enum Module { kModuleCore = 1, kModuleCore2 = 5 };

using Function = void (*)();
Function core[kCoreEnd], core2[kCore2End];
// Tables of places of function pointers; null at the ends of what exists.
Function* core_places[kCoreEnd + 1];
Function* core2_places[kCore2End + 1];

struct Attributes {  // nvtxEventAttributes_t
    std::uint16_t version = 3, size = 48;
    std::uint32_t category = 0;
    std::int32_t color_type = 0;
    std::uint32_t color = 0;
    std::int32_t payload_type = 0, reserved = 0;
    std::int64_t payload = 0;
    std::int32_t message_type = 0;
    const void* message = nullptr;
};
static_assert(sizeof(Attributes) == 48);

int find_module(int module, Function*** table, unsigned* size) {
    if (module != kModuleCore && module != kModuleCore2) return 0;
    *table = module == kModuleCore ? core_places : core2_places;
    *size = module == kModuleCore ? unsigned{kCoreEnd} : unsigned{kCore2End};
    return 1;
}

const void* find_table(std::uint32_t id) {
    static const struct {
        std::size_t bytes;
        int (*find_module)(int, Function***, unsigned*);
    } callbacks{sizeof callbacks, find_module};
    static const struct {
        std::size_t bytes;
        std::uint32_t version, reserved;
    } version{sizeof version, 3, 0};
    return id == 1 ? static_cast<const void*>(&callbacks) : id == 3 ? &version : nullptr;
}

bool load() {
    for (int i = 1; i < kCoreEnd; ++i) core_places[i] = &core[i];
    for (int i = 1; i < kCore2End; ++i) core2_places[i] = &core2[i];
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    if (path == nullptr || *path == 0) return false;
    void* library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return false;
    auto inject = reinterpret_cast<int (*)(const void* (*)(std::uint32_t))>(dlsym(library, "InitializeInjectionNvtx2"));
    return inject != nullptr && inject(find_table) != 0;
}

template <class Result, class... Arguments>
Result call(Function function, Result otherwise, Arguments... arguments) {
    return function ? reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...) : otherwise;
}

void* own_domain = nullptr;

}  // namespace

bool start() {
    static bool started = load();
    return started;
}

int push(const char* name) {
    start();
    return call(core[kPushA], -1, name);
}
int pop() { return call(core[kPop], -1); }
void mark(const char* name) {
    start();
    if (core[kMarkA]) reinterpret_cast<void (*)(const char*)>(core[kMarkA])(name);
}
std::uint64_t range_start(const char* name) {
    start();
    return call(core[kRangeStartA], std::uint64_t{0}, name);
}
void range_end(std::uint64_t id) {
    if (core[kRangeEnd]) reinterpret_cast<void (*)(std::uint64_t)>(core[kRangeEnd])(id);
}
void name_thread(std::uint32_t thread, const char* name) {
    start();
    if (core[kNameOsThreadA])
        reinterpret_cast<void (*)(std::uint32_t, const char*)>(core[kNameOsThreadA])(thread, name);
}

int push_in_domain(const char* domain, const char* name, std::uint32_t category, const char* category_name,
                   std::int64_t payload) {
    start();
    void* none = nullptr;
    own_domain = call(core2[kDomainCreateA], none, domain);
    void* text = call(core2[kDomainRegisterStringA], none, own_domain, name);
    if (auto name_category = core2[kDomainNameCategoryA])
        reinterpret_cast<void (*)(void*, std::uint32_t, const char*)>(name_category)(own_domain, category,
                                                                                     category_name);
    Attributes attributes;
    attributes.category = category;
    attributes.payload_type = 2;  // NVTX_PAYLOAD_TYPE_INT64
    attributes.payload = payload;
    attributes.message_type = text ? 3 : 1;  // registered, or plain
    attributes.message = text ? text : name;
    return call(core2[kDomainPushEx], -1, own_domain, static_cast<const Attributes*>(&attributes));
}
int pop_in_domain() { return call(core2[kDomainPop], -1, own_domain); }

}  // namespace fake_nvtx
