#include "io/importers/source/json_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_error.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/read_all.h"

namespace gpuprof::inline importers {
namespace {

class PrefixScan {
public:
    PrefixScan(std::string_view text, std::size_t deepest) : text_(text), deepest_(deepest) {}

    JsonPrefix run() {
        while (skip_space() && step()) {
        }
        prefix_.ends = at_;
        for (std::size_t i = open_at_whole_; i-- > 0;) prefix_.closing += open_[i] == '{' ? '}' : ']';
        return prefix_;
    }

private:
    enum class Expecting { value, value_or_end, key, key_or_end, colon, comma_or_end, nothing };

    bool skip_space() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ < text_.size() && expecting_ != Expecting::nothing;
    }
    bool step() {
        char c = text_[at_];
        switch (expecting_) {
            case Expecting::value_or_end:
            case Expecting::value: return c == ']' && expecting_ == Expecting::value_or_end ? close(c) : value(c);
            case Expecting::key_or_end:
            case Expecting::key:
                if (c == '}' && expecting_ == Expecting::key_or_end) return close(c);
                return c == '"' && string() && (expecting_ = Expecting::colon, true);
            case Expecting::colon: return c == ':' && (++at_, expecting_ = Expecting::value, true);
            case Expecting::comma_or_end:
                if (c != ',') return close(c);
                ++at_;
                expecting_ = open_.back() == '{' ? Expecting::key : Expecting::value;
                return true;
            case Expecting::nothing: break;
        }
        return false;
    }
    bool value(char c) {
        if (c == '{' || c == '[') {
            open_ += c;
            ++at_;
            expecting_ = c == '{' ? Expecting::key_or_end : Expecting::value_or_end;
            note_whole();
            return true;
        }
        return (c == '"' ? string() : scalar()) && complete();
    }
    bool close(char c) {
        if (open_.empty() || c != (open_.back() == '{' ? '}' : ']')) return false;
        open_.pop_back();
        ++at_;
        return complete();
    }
    bool complete() {
        expecting_ = open_.empty() ? Expecting::nothing : Expecting::comma_or_end;
        note_whole();
        return true;
    }
    void note_whole() {
        if (open_.size() > deepest_) return;
        prefix_.whole = at_;
        open_at_whole_ = open_.size();
    }
    // After the closing quote; false if the string has none.
    bool string() {
        for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
            if (static_cast<unsigned char>(text_[at]) < ' ') {
                at_ = at;
                return false;
            }
            if (text_[at] == '\\') {
                ++at;
            } else if (text_[at] == '"') {
                at_ = at + 1;
                return true;
            }
        }
        at_ = text_.size();
        return false;
    }
    // A number, true, false or null; the parser checks which.
    bool scalar() {
        std::size_t end = text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_);
        if (end == at_) return false;
        at_ = std::min(end, text_.size());
        return end != text_.npos;
    }

    std::string_view text_;
    std::size_t deepest_, at_ = 0, open_at_whole_ = 0;
    std::string open_;
    Expecting expecting_ = Expecting::value;
    JsonPrefix prefix_;
};

}  // namespace

JsonPrefix complete_prefix(std::string_view text, std::size_t deepest) { return PrefixScan(text, deepest).run(); }

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
    return parse(std::move(*text), source, deepest);
}

Result<simdjson::dom::element> JsonDocument::parse(std::string text, Source& source, std::size_t deepest) {
    text_ = std::move(text);
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
