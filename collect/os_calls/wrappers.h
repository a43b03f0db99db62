// The C library's own syscall(), past the wrapper of this library.
#pragma once

namespace gpuprof::os_calls {

long next_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;

}  // namespace gpuprof::os_calls
