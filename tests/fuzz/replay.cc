// Runs a fuzz target without libFuzzer: `replay_TARGET FOLDER` gives it every seed of the folder as it is, cut off at many places and
// with bytes changed; without a folder random bytes are the seeds. What is changed follows from the seed's size alone, so a
// failure comes again. libFuzzer finds more (CONTRIBUTING.md); this is what every build with the address sanitizer runs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kCuts = 32, kChanges = 100, kMostBytes = 64 * 1024;

using Bytes = std::vector<std::uint8_t>;

Bytes read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.resize(std::min(bytes.size(), kMostBytes));
    return bytes;
}

// A copy of exactly its size, so that a sanitizer sees a read behind it.
void run(const Bytes& bytes) {
    Bytes exact(bytes);
    exact.shrink_to_fit();
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void change(Bytes& bytes, std::mt19937& random) {
    constexpr std::uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '9', '-', ','};
    for (std::uint32_t times = 1 + random() % 4; times > 0; --times) {
        std::size_t at = random() % bytes.size();
        switch (random() % 4) {
            case 0: bytes[at] = static_cast<std::uint8_t>(random()); break;
            case 1: bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8); break;
            case 2: bytes[at] = kTelling[random() % std::size(kTelling)]; break;
            default: {  // a piece comes again elsewhere
                std::size_t from = random() % bytes.size(), length = random() % 32;
                for (std::size_t i = 0; i < length && from + i < bytes.size() && at + i < bytes.size(); ++i)
                    bytes[at + i] = bytes[from + i];
            }
        }
    }
}

std::size_t replay(const Bytes& seed) {
    run(seed);
    if (seed.empty()) return 1;
    for (std::size_t cut = 0; cut < kCuts; ++cut)
        run(Bytes(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(seed.size() * cut / kCuts)));
    std::mt19937 random(static_cast<std::uint32_t>(seed.size()));
    for (std::size_t i = 0; i < kChanges; ++i) {
        Bytes changed(seed);
        change(changed, random);
        run(changed);
    }
    return 1 + kCuts + kChanges;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2) return std::fprintf(stderr, "usage: %s [FOLDER]\n", argv[0]), 2;
    if (argc == 1) {
        std::mt19937 random(1);
        for (std::size_t size = 16; size <= 8192; size *= 2) {
            Bytes seed(size);
            for (std::uint8_t& byte : seed) byte = static_cast<std::uint8_t>(random());
            replay(seed);
        }
        return 0;
    }
    std::vector<std::filesystem::path> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) seeds.push_back(entry.path());
    std::sort(seeds.begin(), seeds.end());
    std::size_t inputs = 0;
    for (const std::filesystem::path& seed : seeds) {
        std::printf("%s\n", seed.c_str());
        std::fflush(stdout);
        inputs += replay(read(seed));
    }
    std::printf("%zu inputs\n", inputs);
    return seeds.empty() ? 1 : 0;
}
