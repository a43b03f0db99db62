// A fuzzer's bytes as a row of choices: the structured targets make chunks, events or requests of them. Behind the end there are zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace gpuprof::fuzz {

class Choices {
public:
    explicit Choices(std::string_view bytes) : rest_(bytes) {}

    bool empty() const { return rest_.empty(); }
    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        auto value = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }
    std::uint32_t two_bytes() {
        std::uint32_t low = byte();
        return low | static_cast<std::uint32_t>(byte()) << 8;
    }
    // As many as there are.
    std::string_view take(std::size_t bytes) {
        std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest() { return take(rest_.size()); }

private:
    std::string_view rest_;
};

}  // namespace gpuprof::fuzz
