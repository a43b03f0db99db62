#include "io/importers/source/json_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_error.h"
#include "io/importers/source/json_prefix.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

// For each value the parser keeps two words and an index, and all texts once more.
std::size_t parsed_bytes(std::string_view text) {
    constexpr std::size_t kBytesPerValue = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
    auto begins_value = [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; };
    auto values = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_value));
    return 2 * text.size() + values * kBytesPerValue;
}

}  // namespace

simdjson::error_code JsonDocument::parse(simdjson::dom::element& root) {
    if (auto error = fault_of_text(parser_.allocate(text_.size() + 1, kMaxDepth)); error != simdjson::SUCCESS)
        return error;
    bool copied = text_.capacity() < text_.size() + simdjson::SIMDJSON_PADDING;
    return fault_of_text(parser_.parse(text_.data(), text_.size(), copied).get(root));
}

Result<simdjson::dom::element> JsonDocument::read(Source& source, std::size_t deepest) {
    constexpr std::size_t kMaxBytes = (std::size_t{4} << 30) - 64;
    Result<std::string> text = read_all(source, kMaxBytes, simdjson::SIMDJSON_PADDING);
    if (!text.ok()) return text.error();
    text_ = std::move(*text);
    bytes_ = parsed_bytes(text_);
    MemoryLimit limit(source);
    if (limit.is_below(bytes_)) return limit.error();
    simdjson::dom::element root;
    simdjson::error_code error = parse(root);
    if (error == simdjson::SUCCESS) return root;
    JsonPrefix prefix = complete_prefix(text_, deepest);
    bool whole = prefix.closing.empty() && prefix.ends == text_.size();  // e.g. nested too deeply
    bool ends_early = prefix.ends == text_.size() && !whole;
    std::string why = ends_early ? fmt::format("unexpected end of file at byte {}", text_.size())
                                 : fmt::format("damaged at byte {} of {}", prefix.ends, text_.size());
    text_.resize(prefix.whole);
    text_ += prefix.closing;
    if (whole || prefix.whole == 0 || parse(root) != simdjson::SUCCESS)
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", source.name(),
                                                       ends_early ? why : simdjson::error_message(error))};
    cut_ = std::move(why);
    return root;
}

}  // namespace gpuprof::importers
