// Creates a large Kineto trace from a real one by repeating its events: `grow_trace IN.json BYTES > OUT.json`. Each
// copy is shifted in time by the length of the recording, and its ids (correlation, external, flow, Python, sequence)
// by more than the original's largest, so that the copies stay distinct like the events of a longer recording. Works on
// the text as printed by Kineto, without a JSON parser. IN must be uncompressed.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Shift { none, time, id };

struct Key {
    std::string_view text;
    Shift shift;
};
constexpr Key kKeys[] = {
    {"\"ts\": ", Shift::time},
    {"\"id\": ", Shift::id},
    {"\"External id\": ", Shift::id},
    {"\"correlation\": ", Shift::id},
    {"\"Python id\": ", Shift::id},
    {"\"Python parent id\": ", Shift::id},
    {"\"wait_on_cuda_event_record_corr_id\": ", Shift::id},
};

// Literal text, followed by a number that every copy shifts.
struct Part {
    std::string_view text;
    Shift shift = Shift::none;
    std::int64_t number = 0;  // ids; times in nanoseconds
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads the number at `at` as an integer, times in thousandths; moves `at` past it.
std::int64_t read_number(std::string_view text, std::size_t& at, Shift shift) {
    std::int64_t value = 0;
    while (at < text.size() && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
    if (shift != Shift::time) return value;
    int decimals = 0;
    if (at < text.size() && text[at] == '.')
        for (++at; at < text.size() && is_digit(text[at]); ++at, ++decimals)
            if (decimals < 3) value = value * 10 + (text[at] - '0');
    for (; decimals < 3; ++decimals) value *= 10;
    return value;
}

std::vector<Part> split(std::string_view events) {
    std::vector<Part> parts;
    std::size_t begin = 0;
    for (std::size_t at = events.find('"'); at != std::string_view::npos; at = events.find('"', at)) {
        std::string_view rest = events.substr(at);
        const Key* found = nullptr;
        for (const Key& key : kKeys)
            if (rest.starts_with(key.text) && rest.size() > key.text.size() && is_digit(rest[key.text.size()]))
                found = &key;
        if (found == nullptr) {
            ++at;
            continue;
        }
        at += found->text.size();
        Part part{events.substr(begin, at - begin), found->shift, 0};
        part.number = read_number(events, at, found->shift);
        parts.push_back(part);
        begin = at;
    }
    parts.push_back({events.substr(begin), Shift::none, 0});
    return parts;
}

struct Extent {
    std::int64_t first = INT64_MAX, last = INT64_MIN, largest_id = 0;
};

Extent measure(const std::vector<Part>& parts) {
    Extent extent;
    for (const Part& part : parts) {
        if (part.shift == Shift::id && part.number > extent.largest_id) extent.largest_id = part.number;
        if (part.shift != Shift::time) continue;
        if (part.number < extent.first) extent.first = part.number;
        if (part.number > extent.last) extent.last = part.number;
    }
    return extent;
}

void write_copy(const std::vector<Part>& parts, std::int64_t copy, const Extent& extent, std::string& out) {
    std::int64_t later = copy * (extent.last - extent.first + 1'000'000);
    std::int64_t higher = copy * (extent.largest_id + 1);
    char number[64];
    for (const Part& part : parts) {
        out += part.text;
        if (part.shift == Shift::id)
            out.append(number, static_cast<std::size_t>(
                                   std::snprintf(number, sizeof number, "%" PRId64, part.number + higher)));
        if (part.shift != Shift::time) continue;
        std::int64_t ns = part.number + later;
        out.append(number, static_cast<std::size_t>(
                               std::snprintf(number, sizeof number, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: grow_trace IN.json BYTES > OUT.json\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    auto wanted = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
    std::size_t key = text.find("\"traceEvents\"");
    std::size_t open = text.find('[', key == std::string::npos ? text.size() : key);
    std::size_t close = text.rfind("}\n  ]");
    if (open == std::string::npos || close == std::string::npos || close < open) {
        std::fprintf(stderr, "grow_trace: %s: not a Kineto trace in object form\n", argv[1]);
        return 3;
    }
    std::string_view all = text;
    std::vector<Part> parts = split(all.substr(open + 1, close - open));
    Extent extent = measure(parts);
    std::size_t written = std::fwrite(text.data(), 1, open + 1, stdout);
    std::string out;
    for (std::int64_t copy = 0; copy == 0 || written < wanted; ++copy) {
        out.assign(copy == 0 ? "" : ",");
        write_copy(parts, copy, extent, out);
        if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) return 6;
        written += out.size();
    }
    std::fwrite(text.data() + close + 1, 1, text.size() - close - 1, stdout);
    return std::fflush(stdout) == 0 ? 0 : 6;
}
