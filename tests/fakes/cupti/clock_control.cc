// Locks of the fake GPU's clocks: what is called goes into the file that GPUPROF_FAKE_CLOCKS names, a line per call.
// `locked by another tool` as its first line is an external lock.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fakes/cupti/delivery.h"
#include "tests/fakes/cupti/faults.h"

namespace {

bool owned = false;

bool locked_by_another() {
    const char* path = std::getenv("GPUPROF_FAKE_CLOCKS");
    std::FILE* file = path != nullptr ? std::fopen(path, "r") : nullptr;
    if (file == nullptr) return false;
    char line[64] = {};
    bool found = std::fgets(line, sizeof line, file) != nullptr && std::strncmp(line, "locked by another", 17) == 0;
    std::fclose(file);
    return found;
}

void log(const char* what) {
    const char* path = std::getenv("GPUPROF_FAKE_CLOCKS");
    if (std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr) {
        std::fprintf(file, "%s\n", what);
        std::fclose(file);
    }
}

}  // namespace

extern "C" {

int cuptiClockControlGetStatus(void* context, int* status) {
    if (int code = fake_cupti::gate(__func__)) return code;
    if (context == nullptr || status == nullptr) return 1;
    *status = owned || locked_by_another() ? 2 : 1;
    return 0;
}

int cuptiClockControlLock(void* context, int mode) {
    if (int code = fake_cupti::gate(__func__)) return code;
    if (context == nullptr || (mode != 1 && mode != 2)) return 1;
    if (owned || locked_by_another()) return 0;
    owned = true;
    log(mode == 1 ? "base" : "boost");
    return 0;
}

int cuptiClockControlUnlock() {
    if (int code = fake_cupti::gate(__func__)) return code;
    if (owned) log("unlocked");
    owned = false;
    return 0;
}
}
