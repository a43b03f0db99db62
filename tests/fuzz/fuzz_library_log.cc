// Fuzz target of the parsers of libraries' logs: any text gives bounded entries, whose times lie in the recording and whose
// threads are ids that the system can have. The first byte chooses the library.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "collect/logs/log_parser.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

constexpr logs::LogWindow kWindow = {1'700'000'000'000'000'000, 1'780'000'000'000'000'000};
constexpr TimeNs kSecond = 1'000'000'000;

void check(const logs::LogLine& line) {
    if (line.text.empty() || line.text.size() > 1000 || line.level.empty()) std::abort();
    if (line.time && (*line.time < kWindow.from || *line.time > kWindow.to + 2 * kSecond)) std::abort();
    if (line.pid && *line.pid < 0) std::abort();
    if (line.tid && (*line.tid < 1 || *line.tid > 1 << 22)) std::abort();
}

}  // namespace

void run_library_log(std::string_view bytes) {
    if (bytes.empty()) return;
    logs::LogParser parser(static_cast<logs::Library>(static_cast<unsigned char>(bytes[0]) % 5), kWindow);
    for (std::size_t begin = 1; begin < bytes.size();) {
        std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
        if (std::optional<logs::LogLine> line = parser.feed(bytes.substr(begin, end - begin))) check(*line);
        begin = end + 1;
    }
    if (std::optional<logs::LogLine> line = parser.finish()) check(*line);
}

}  // namespace gpuprof::fuzz
