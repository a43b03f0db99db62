// The interface between NVTX's header-only client and an injected library: names of functions in its tables, event
// attributes, and the two export tables. Source: nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h, nvToolsExtCuda.h,
// nvToolsExtCudaRt.h, version 3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::nvtx {

// Of the tables that are filled.
enum Core : unsigned {
    kMarkEx = 1,
    kMarkA,
    kMarkW,
    kRangeStartEx,
    kRangeStartA,
    kRangeStartW,
    kRangeEnd,
    kRangePushEx,
    kRangePushA,
    kRangePushW,
    kRangePop,
    kNameCategoryA,
    kNameCategoryW,
    kNameOsThreadA,
    kNameOsThreadW
};
enum Core2 : unsigned {
    kDomainMarkEx = 1,
    kDomainRangeStartEx,
    kDomainRangeEnd,
    kDomainRangePushEx,
    kDomainRangePop,
    kDomainResourceCreate,
    kDomainResourceDestroy,
    kDomainNameCategoryA,
    kDomainNameCategoryW,
    kDomainRegisterStringA,
    kDomainRegisterStringW,
    kDomainCreateA,
    kDomainCreateW,
    kDomainDestroy,
    kInitialize
};
enum CudaDriver : unsigned { kNameCuStreamA = 5, kNameCuStreamW };
enum CudaRuntime : unsigned { kNameCudaStreamA = 3, kNameCudaStreamW };
enum Module : int { kModuleCore = 1, kModuleCuda = 2, kModuleCudaRuntime = 4, kModuleCore2 = 5 };

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
struct EventAttributes {
    std::uint16_t version;
    std::uint16_t size;
    std::uint32_t category;
    std::int32_t color_type;
    std::uint32_t color;
    std::int32_t payload_type;
    std::int32_t reserved;
    std::uint64_t payload;
    std::int32_t message_type;
    union {
        const char* ascii;
        const wchar_t* unicode;
        const void* registered;
    } message;
};
static_assert(offsetof(EventAttributes, message) == 40);

// Pointers to the client's own function pointers.
using FunctionTable = void***;
struct Callbacks {
    std::size_t bytes;
    int (*module_table)(int module, FunctionTable* table, unsigned* size);
};
using GetExportTable = const void* (*)(std::uint32_t id);
constexpr std::uint32_t kCallbacksTable = 1;

}  // namespace gpuprof::inject::nvtx
