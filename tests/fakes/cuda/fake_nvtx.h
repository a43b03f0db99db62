// NVTX as a program that includes nvtx3 headers has it: at the first use the library of NVTX_INJECTION64_PATH is loaded and
// given the tables of function pointers, which it may fill. Not filled: a call does nothing. Source: nvtx3/nvtxDetail/
// nvtxInit.h and nvtxTypes.h, version 3.
#pragma once

#include <cstdint>

namespace fake_nvtx {

// Whether an injection was loaded and agreed. Once per process.
bool start();

int push(const char* name);  // the level, or -1 without injection
int pop();
void mark(const char* name);
std::uint64_t range_start(const char* name);
void range_end(std::uint64_t id);
void name_thread(std::uint32_t thread, const char* name);
// A domain of its own with a registered string and a category.
int push_in_domain(const char* domain, const char* name, std::uint32_t category, const char* category_name,
                   std::int64_t payload);
int pop_in_domain();

}  // namespace fake_nvtx
