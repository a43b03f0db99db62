// Exceptions as errors, where none may leave: a thread's body, a destructor, what runs while a recorded command does. One that leaves ends
// the process, which may be another program's.
#pragma once

#include <new>
#include <string>
#include <system_error>
#include <type_traits>

#include "core/base/result.h"

namespace gpuprof::inline base {

// What is said of a std::bad_alloc, and of an exception that nobody expected. The texts fit into a std::string itself: making these
// needs no memory.
inline Error out_of_memory() noexcept { return {ExitCode::internal, "out of memory"}; }
inline Error internal_error() noexcept { return {ExitCode::internal, "internal error"}; }

// Runs `step`, which returns Status or nothing.
template <class Step>
Status caught(Step&& step) noexcept {
    try {
        try {
            if constexpr (std::is_same_v<decltype(step()), Status>) {
                return step();
            } else {
                step();
                return {};
            }
        } catch (const std::system_error& error) {  // of a thread that the system refuses
            return Error{ExitCode::internal, std::string("refused by the system: ") + error.what()};
        }
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (...) {
        return internal_error();
    }
}

}  // namespace gpuprof::base
