// Environment variables that name files to load or run.
#pragma once

#include <sys/auxv.h>

#include <cstdlib>
#include <string>

namespace gpuprof::inline base {

// "" if it is not set, and always in a program that runs with another user's privileges: the user who started it must
// not choose what it loads.
inline std::string trusted_environment(const char* name) {
    const char* value = getauxval(AT_SECURE) != 0 ? nullptr : std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace gpuprof::base
