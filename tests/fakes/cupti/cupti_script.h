// The script that the fake libcupti plays: records laid out as CUPTI lays them out, each with the lane (thread) that
// delivers it. script.py writes it and documents the format. Strings that records point to live as long as the process,
// as clients may look at them at any time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fake_cupti {

struct ScriptRecord {
    std::uint32_t kind = 0, bytes = 0, lane = 0;
    const unsigned char* at = nullptr;
};

// The stream and the event that a call is about.
struct Subject {
    std::uint32_t stream = 0, event = 0;
};

struct Script {
    std::uint32_t version = 0, lanes = 0;
    std::uint64_t first_ns = 0;  // the earliest start
    std::uint32_t last_correlation = 0;
    std::vector<ScriptRecord> records;
    std::map<std::uint32_t, Subject> subjects;              // by correlation id
    std::map<std::uint32_t, const unsigned char*> kernels;  // records, by correlation id
    std::vector<unsigned char> memory;
};

// Null, with a line on stderr, when the file is no script. The same file is read once.
const Script* find_script(const std::string& path);

// Where a kind of record keeps what the fake rewrites; 0: it has none (offset 0 is the kind).
struct Fields {
    std::uint32_t start = 0, end = 0, correlation = 0, process = 0, thread = 0;
};
Fields fields_of(std::uint32_t kind);

template <class T>
T read(const unsigned char* record, std::uint32_t offset) {
    T value{};
    __builtin_memcpy(&value, record + offset, sizeof value);
    return value;
}
template <class T>
void write(unsigned char* record, std::uint32_t offset, T value) {
    __builtin_memcpy(record + offset, &value, sizeof value);
}

enum : std::uint32_t {
    kMemcpy = 1,
    kMemset = 2,
    kSerialKernel = 3,
    kDriver = 4,
    kRuntime = 5,
    kDevice = 8,
    kKernel = 10,
    kOverhead = 17,
    kMemcpy2 = 22,
    kCudaEvent = 36,
    kSynchronization = 38,
    kExternalCorrelation = 39,
    kGraphTrace = 51,
    kDeviceGraph = 53,
    kHostNode = 56,
    kHostLaunch = 58
};

constexpr bool is_device_work(std::uint32_t kind) {
    return kind == kKernel || kind == kMemcpy || kind == kMemcpy2 || kind == kMemset || kind == kGraphTrace;
}

}  // namespace fake_cupti
