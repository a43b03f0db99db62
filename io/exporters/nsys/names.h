// Words and ids as Nsight Systems has them.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline exporters::nsys {

// A GlobalId: host, process id, thread id.
constexpr std::int64_t global_id(std::int64_t pid, std::int64_t tid) {
    return std::int64_t{1} << 48 | (pid & 0xFFFFFF) << 24 | (tid & 0xFFFFFF);
}

// Numbers of ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND and ENUM_CUPTI_SYNC_TYPE.
std::int64_t copy_kind(std::string_view word);
std::int64_t memory_kind(std::string_view word);
std::int64_t sync_type(std::string_view word);

}  // namespace gpuprof::exporters::nsys
