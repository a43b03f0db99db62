// Fuzz target of the reader of logs of operating-system calls: any bytes are refused, or give as many calls as the file has room
// for, each with a known function or none. The first byte says whether the rest becomes a log of this build, so that what follows
// the header is reached.
#include <algorithm>
#include <cstring>
#include <string>

#include "collect/os_calls/log_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

using namespace os_calls;

void store(std::string& log, std::size_t offset, std::uint64_t value) {
    if (offset + sizeof value <= log.size()) std::memcpy(log.data() + offset, &value, sizeof value);
}

}  // namespace

void run_os_calls(std::string_view bytes) {
    if (bytes.empty()) return;
    std::string log(bytes.substr(1));
    if ((bytes[0] & 1) != 0 && log.size() >= sizeof(LogHeader)) {
        std::size_t capacity = (log.size() - sizeof(LogHeader)) / sizeof(Call);
        log.resize(log_bytes(capacity));
        store(log, offsetof(LogHeader, magic), kLogMagic);
        store(log, offsetof(LogHeader, build), build_of_log());
        if ((bytes[0] & 2) != 0) store(log, offsetof(LogHeader, capacity), capacity);
    }
    LogReader reader(log);
    if (!reader.valid()) return;
    promise(log_bytes(reader.calls()) <= log.size(), "calls lie in the file");
    for (std::size_t i = 0; i < reader.calls(); ++i) {
        std::string_view function = reader.call(i).function;
        bool known =
            std::find(std::begin(kFunctionNames), std::end(kFunctionNames), function) != std::end(kFunctionNames);
        promise(function.empty() || known, "functions are known");
    }
    for (std::size_t i = 0; i < kFunctions; ++i) static_cast<void>(reader.short_count(i) + reader.short_ns(i));
}

}  // namespace gpuprof::fuzz
