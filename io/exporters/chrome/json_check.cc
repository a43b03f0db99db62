#include "io/exporters/chrome/json_check.h"

#include "core/base/text/ascii.h"
#include "core/base/text/utf8.h"

namespace gpuprof::inline exporters {
namespace {

constexpr int kDepth = 64;

class Checker {
public:
    explicit Checker(std::string_view text) : rest_(text) {}

    bool document() {
        space();
        if (!value(kDepth)) return false;
        space();
        return rest_.empty();
    }

private:
    bool value(int depth) {
        if (rest_.empty() || depth == 0) return false;
        switch (rest_.front()) {
            case '{': return list('}', depth, true);
            case '[': return list(']', depth, false);
            case '"': return string();
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            default: return number();
        }
    }

    // The members of an object or array, with its brackets.
    bool list(char close, int depth, bool keys) {
        rest_.remove_prefix(1);
        space();
        if (take(close)) return true;
        while (true) {
            if (keys) {
                if (!string()) return false;
                space();
                if (!take(':')) return false;
                space();
            }
            if (!value(depth - 1)) return false;
            space();
            if (take(close)) return true;
            if (!take(',')) return false;
            space();
        }
    }

    bool string() {
        if (!take('"')) return false;
        while (!rest_.empty()) {
            auto byte = static_cast<unsigned char>(rest_.front());
            if (take('"')) return true;
            if (byte < 0x20) return false;
            if (take('\\')) {
                if (!escape()) return false;
            } else {
                CodePoint point = decode_utf8(rest_);
                if (!point.valid) return false;
                rest_.remove_prefix(point.bytes);
            }
        }
        return false;
    }

    bool escape() {
        if (!take('u')) {
            bool known = !rest_.empty() && std::string_view("\"\\/bfnrt").find(rest_.front()) != std::string_view::npos;
            if (known) rest_.remove_prefix(1);
            return known;
        }
        constexpr std::string_view kHex = "0123456789abcdefABCDEF";
        if (rest_.size() < 4 || rest_.substr(0, 4).find_first_not_of(kHex) != std::string_view::npos) return false;
        rest_.remove_prefix(4);
        return true;
    }

    bool number() {
        take('-');
        if (take('0')) {
            if (digit()) return false;
        } else if (!digits()) {
            return false;
        }
        if (take('.') && !digits()) return false;
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            return digits();
        }
        return true;
    }

    bool digit() const { return !rest_.empty() && is_digit(rest_.front()); }
    bool digits() {
        bool any = digit();
        while (digit()) rest_.remove_prefix(1);
        return any;
    }
    bool word(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void space() {
        while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos)
            rest_.remove_prefix(1);
    }

    std::string_view rest_;
};

}  // namespace

bool is_json(std::string_view text) { return Checker(text).document(); }

}  // namespace gpuprof::exporters
