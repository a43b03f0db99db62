#include "tests/fakes/cupti/cupti_script.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace fake_cupti {
namespace {

constexpr std::size_t kHeadBytes = 24, kEntryBytes = 16;

// Turns places in the text into addresses, in place.
void point(unsigned char* record, std::uint32_t bytes, std::uint64_t pointers, const unsigned char* text) {
    for (std::uint32_t word = 0; word < bytes / 8; ++word)
        if (pointers >> word & 1)
            write(record, word * 8, reinterpret_cast<std::uint64_t>(text + read<std::uint64_t>(record, word * 8)));
}

bool parse(Script& script) {
    std::vector<unsigned char>& memory = script.memory;
    if (memory.size() < kHeadBytes || std::memcmp(memory.data(), "GPFAKE1", 8) != 0) return false;
    script.version = read<std::uint32_t>(memory.data(), 8);
    script.lanes = std::max(1u, read<std::uint32_t>(memory.data(), 12));
    std::uint32_t records = read<std::uint32_t>(memory.data(), 16);
    std::size_t place = kHeadBytes + read<std::uint32_t>(memory.data(), 20);
    const unsigned char* text = memory.data() + kHeadBytes;
    script.first_ns = ~0ull;
    for (std::uint32_t i = 0; i < records; ++i) {
        if (place + kEntryBytes > memory.size()) return false;
        unsigned char* entry = memory.data() + place;
        ScriptRecord record;
        record.bytes = read<std::uint32_t>(entry, 0);
        record.lane = read<std::uint32_t>(entry, 4);
        record.at = entry + kEntryBytes;
        if (record.bytes < 8 || place + kEntryBytes + record.bytes > memory.size()) return false;
        record.kind = read<std::uint32_t>(record.at, 0);
        point(entry + kEntryBytes, record.bytes, read<std::uint64_t>(entry, 8), text);
        Fields fields = fields_of(record.kind);
        if (fields.start != 0) {
            auto start = read<std::uint64_t>(record.at, fields.start);
            if (start != 0) script.first_ns = std::min(script.first_ns, start);
        }
        if (fields.correlation != 0)
            script.last_correlation =
                std::max(script.last_correlation, read<std::uint32_t>(record.at, fields.correlation));
        if (record.kind == kKernel) script.kernels[read<std::uint32_t>(record.at, fields.correlation)] = record.at;
        if (record.kind == kCudaEvent)
            script.subjects[read<std::uint32_t>(record.at, 4)] = {read<std::uint32_t>(record.at, 12),
                                                                  read<std::uint32_t>(record.at, 16)};
        if (record.kind == kSynchronization)
            script.subjects[read<std::uint32_t>(record.at, 24)] = {read<std::uint32_t>(record.at, 32),
                                                                   read<std::uint32_t>(record.at, 36)};
        script.records.push_back(record);
        place += kEntryBytes + record.bytes;
    }
    return true;
}

}  // namespace

const Script* find_script(const std::string& path) {
    // Never destroyed: records point into it while the process ends.
    static auto& known = *new std::map<std::string, std::unique_ptr<Script>>;
    static auto& lock = *new std::mutex;
    std::lock_guard<std::mutex> held(lock);
    auto found = known.find(path);
    if (found != known.end()) return found->second.get();
    auto script = std::make_unique<Script>();
    std::ifstream file(path, std::ios::binary);
    script->memory.assign(std::istreambuf_iterator<char>(file), {});
    if (!parse(*script)) {
        std::fprintf(stderr, "fake libcupti: %s: not a script; make one with tests/fakes/cupti/script.py\n",
                     path.c_str());
        script = nullptr;
    }
    return (known[path] = std::move(script)).get();
}

Fields fields_of(std::uint32_t kind) {
    switch (kind) {
        case kMemcpy:
        case kMemset: return {16, 24, 44, 0, 0};
        case kDriver:
        case kRuntime: return {8, 16, 32, 24, 28};
        case kKernel: return {16, 24, 92, 0, 0};
        case 12: return {8, 0, 0, 24, 28};  // marker
        case kOverhead: return {24, 32, 0, 12, 16};
        case kMemcpy2: return {16, 24, 60, 0, 0};
        case kCudaEvent: return {0, 0, 4, 0, 0};
        case kSynchronization: return {8, 16, 24, 0, 0};
        case kExternalCorrelation: return {0, 0, 16, 0, 0};
        case 49: return {32, 0, 12, 48, 0};  // memory
        case kGraphTrace: return {8, 16, 4, 0, 0};
        case 52: return {16, 24, 32, 0, 0};  // jit
        case kDeviceGraph: return {8, 16, 0, 0, 0};
        case kHostNode: return {40, 48, 16, 32, 36};
        case kHostLaunch: return {32, 40, 16, 20, 24};
        default: return {};
    }
}

}  // namespace fake_cupti
