#include "io/importers/source/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

namespace gpuprof::inline importers {

namespace {

using PickleKind = PickleValue::Kind;

// The opcodes that name or call code, or refer to anything outside the file.
constexpr std::pair<unsigned char, const char*> kRefused[] = {
    {'c', "GLOBAL"}, {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},     {'b', "BUILD"},        {'i', "INST"},
    {'o', "OBJ"},    {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"},        {0x83, "EXT2"},
    {0x84, "EXT4"},  {'P', "PERSID"},        {'Q', "BINPERSID"},  {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};

// How many length bytes precede the bytes of a text; 0 for opcodes without a length.
struct Counted {
    unsigned char opcode;
    std::size_t length_bytes;
    PickleKind kind;
};
constexpr Counted kCounted[] = {
    {0x8C, 1, PickleKind::text}, {'X', 4, PickleKind::text},   {0x8D, 8, PickleKind::text},
    {'U', 1, PickleKind::text},  {'T', 4, PickleKind::text},   {'C', 1, PickleKind::bytes},
    {'B', 4, PickleKind::bytes}, {0x8E, 8, PickleKind::bytes}, {0x96, 8, PickleKind::bytes}};

}  // namespace

class Unpickler {
public:
    Unpickler(std::string_view bytes, std::uint64_t max_memory) : bytes_(bytes), max_memory_(max_memory) {}

    Result<Pickle> run() {
        while (!stopped_) {
            begun_ = at_;
            bool sound = at_ < bytes_.size() && step(static_cast<unsigned char>(bytes_[at_++]));
            if (refused_) return Error{ExitCode::unreadable, why_};
            if (!sound) return put_together(at_ == bytes_.size() || !why_.empty() ? cut_off() : damaged());
            if (pickle_.memory_ + stack_.capacity() * sizeof stack_[0] > max_memory_)
                return Error{ExitCode::internal, "needs too much memory"};
        }
        return std::move(pickle_);
    }

private:
    std::string cut_off() const { return fmt::format("unexpected end of the pickle at byte {}", begun_); }
    std::string damaged() const { return fmt::format("the pickle is damaged at byte {}", begun_); }

    bool fail_cut_off() {
        why_ = cut_off();
        return false;
    }
    bool take(std::size_t size, std::string_view& out) {
        if (size > bytes_.size() - at_) return fail_cut_off();
        out = bytes_.substr(at_, size);
        at_ += size;
        return true;
    }
    bool little_endian(std::size_t size, std::uint64_t& value) {
        std::string_view raw;
        if (!take(size, raw)) return false;
        value = 0;
        for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
        return true;
    }
    bool line(std::string_view& out) {
        std::size_t end = bytes_.find('\n', at_);
        if (end == bytes_.npos) return fail_cut_off();
        out = bytes_.substr(at_, end - at_);
        at_ = end + 1;
        return true;
    }

    void hold(std::size_t bytes) { pickle_.memory_ += bytes; }
    bool push(PickleValue value) {
        stack_.push_back(value);
        return true;
    }
    bool push_integer(std::int64_t value) { return push({PickleKind::integer, value}); }
    bool push_text(std::string_view text, PickleKind kind = PickleKind::text) {
        hold(sizeof text);
        pickle_.texts_.push_back(text);
        return push({kind, static_cast<std::int64_t>(pickle_.texts_.size() - 1)});
    }
    bool push_container(PickleKind kind, std::vector<PickleValue> items = {}) {
        hold(sizeof items + items.size() * sizeof items[0]);
        pickle_.containers_.push_back(std::move(items));
        return push({kind, static_cast<std::int64_t>(pickle_.containers_.size() - 1)});
    }
    // Removes and returns the values above `from`.
    std::vector<PickleValue> above(std::size_t from) {
        std::vector<PickleValue> items(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
        stack_.resize(from);
        return items;
    }
    bool has(std::size_t count) const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()) >= count; }
    bool pop_mark(std::size_t& mark) {
        if (marks_.empty()) return false;
        mark = marks_.back();
        marks_.pop_back();
        return true;
    }
    bool make(PickleKind kind) {
        std::size_t mark = 0;
        return pop_mark(mark) && push_container(kind, above(mark));
    }
    bool make_last(PickleKind kind, std::size_t count) {
        return has(count) && push_container(kind, above(stack_.size() - count));
    }
    // Puts the values above `from` into the container just below.
    bool extend(std::size_t from, bool into_dictionary) {
        if (from == 0 || from > stack_.size()) return false;
        std::vector<PickleValue> items = above(from);
        const PickleValue& to = stack_.back();
        bool dictionary = to.kind == PickleKind::dictionary;
        if (dictionary != into_dictionary ||
            (!dictionary && to.kind != PickleKind::list && to.kind != PickleKind::set) ||
            (dictionary && items.size() % 2 != 0))
            return false;
        auto& into = pickle_.containers_[static_cast<std::size_t>(to.bits)];
        into.insert(into.end(), items.begin(), items.end());
        hold(items.size() * sizeof items[0]);
        return true;
    }
    bool extend_from_mark(bool into_dictionary) {
        std::size_t mark = 0;
        return pop_mark(mark) && extend(mark, into_dictionary);
    }
    // Memo indexes are consecutive in what Python writes; others are kept separately.
    bool remember(std::uint64_t place) {
        constexpr std::size_t kBytesPerNode = 32;  // of a hash table, besides the value
        if (!has(1)) return false;
        if (place == memo_.size()) memo_.push_back({});
        bool dense = place < memo_.size();
        hold(sizeof(PickleValue) + (dense ? 0 : kBytesPerNode));
        (dense ? memo_[place] : sparse_memo_[place]) = stack_.back();
        return true;
    }
    bool recall(std::uint64_t place) {
        if (place < memo_.size()) return push(memo_[place]);
        auto known = sparse_memo_.find(place);
        return known != sparse_memo_.end() && push(known->second);
    }

    // Two's complement, little-endian. A number that does not fit 64 bits is absent.
    bool long_integer(std::size_t size) {
        std::string_view raw;
        if (!take(size, raw)) return false;
        bool negative = !raw.empty() && static_cast<unsigned char>(raw.back()) >= 0x80;
        std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
        bool fits = true;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            auto byte = static_cast<unsigned char>(raw[i]);
            if (i < 8)
                value = (value & ~(std::uint64_t{0xFF} << (8 * i))) | std::uint64_t{byte} << (8 * i);
            else
                fits = fits && byte == (negative ? 0xFF : 0);
        }
        return fits ? push_integer(static_cast<std::int64_t>(value)) : push({});
    }
    bool text_number(bool real) {
        std::string_view text;
        if (!line(text)) return false;
        if (text == "00" || text == "01") return push({PickleKind::boolean, text == "01"});
        if (text.ends_with('L')) text.remove_suffix(1);
        PickleValue value{real ? PickleKind::real : PickleKind::integer};
        const char *begin = text.data(), *end = begin + text.size();
        double number = 0;
        auto read = real ? std::from_chars(begin, end, number) : std::from_chars(begin, end, value.bits);
        if (read.ec == std::errc::result_out_of_range) return push({});
        if (real) value.bits = std::bit_cast<std::int64_t>(number);
        return read.ec == std::errc{} && read.ptr == end && push(value);
    }
    bool big_endian_real() {
        std::string_view raw;
        if (!take(8, raw)) return false;
        std::uint64_t bits = 0;
        for (char c : raw) bits = bits << 8 | static_cast<unsigned char>(c);
        return push({PickleKind::real, static_cast<std::int64_t>(bits)});
    }
    bool line_text(bool quoted) {
        std::string_view text;
        if (!line(text)) return false;
        if (quoted && text.size() >= 2) text = text.substr(1, text.size() - 2);
        return push_text(text);
    }
    bool place(std::size_t bytes, std::uint64_t& value) {
        if (bytes > 0) return little_endian(bytes, value);
        std::string_view text;
        if (!line(text)) return false;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size();
    }

    bool step(unsigned char opcode) {
        for (auto [refused, name] : kRefused)
            if (opcode == refused) {
                why_ = fmt::format("the pickle would run or name code ({} at byte {}); only plain values are supported",
                                   name, begun_);
                refused_ = true;
                return false;
            }
        for (const Counted& counted : kCounted)
            if (opcode == counted.opcode) {
                std::uint64_t size = 0;
                std::string_view text;
                return little_endian(counted.length_bytes, size) && take(size, text) && push_text(text, counted.kind);
            }
        std::uint64_t number = 0;
        switch (opcode) {
            case 0x80: return little_endian(1, number) && number <= 5;  // PROTO
            case 0x95: return little_endian(8, number);                 // FRAME; its contents are read anyway
            case '.': return stop();
            case '(': return marks_.push_back(stack_.size()), true;
            case '0': return drop();
            case '1': return pop_mark(number) && (stack_.resize(number), true);
            case '2': return has(1) && push(PickleValue(stack_.back()));
            case 'N': return push({});
            case 0x88: return push({PickleKind::boolean, 1});
            case 0x89: return push({PickleKind::boolean, 0});
            case 'K': return little_endian(1, number) && push_integer(static_cast<std::int64_t>(number));
            case 'M': return little_endian(2, number) && push_integer(static_cast<std::int64_t>(number));
            case 'J': return little_endian(4, number) && push_integer(static_cast<std::int32_t>(number));
            case 0x8A: return little_endian(1, number) && long_integer(number);
            case 0x8B: return little_endian(4, number) && long_integer(number);
            case 'I':
            case 'L': return text_number(false);
            case 'F': return text_number(true);
            case 'G': return big_endian_real();
            case 'S': return line_text(true);
            case 'V': return line_text(false);
            default: return container_step(opcode);
        }
    }

    bool container_step(unsigned char opcode) {
        std::uint64_t number = 0;
        switch (opcode) {
            case ']': return push_container(PickleKind::list);
            case ')': return push_container(PickleKind::tuple);
            case '}': return push_container(PickleKind::dictionary);
            case 0x8F: return push_container(PickleKind::set);
            case 'l': return make(PickleKind::list);
            case 't': return make(PickleKind::tuple);
            case 'd': return make(PickleKind::dictionary) && pickle_.containers_.back().size() % 2 == 0;
            case 0x91: return make(PickleKind::set);
            case 0x85: return make_last(PickleKind::tuple, 1);
            case 0x86: return make_last(PickleKind::tuple, 2);
            case 0x87: return make_last(PickleKind::tuple, 3);
            case 'a': return has(2) && extend(stack_.size() - 1, false);
            case 's': return has(3) && extend(stack_.size() - 2, true);
            case 'e':
            case 0x90: return extend_from_mark(false);
            case 'u': return extend_from_mark(true);
            case 'p': return place(0, number) && remember(number);
            case 'q': return place(1, number) && remember(number);
            case 'r': return place(4, number) && remember(number);
            case 0x94: return remember(memo_.size() + sparse_memo_.size());
            case 'g': return place(0, number) && recall(number);
            case 'h': return place(1, number) && recall(number);
            case 'j': return place(4, number) && recall(number);
            default: return false;
        }
    }

    bool stop() {
        if (stack_.empty()) return false;
        pickle_.root_ = stack_.back();
        return stopped_ = true;
    }
    bool drop() {
        if (has(1)) {
            stack_.pop_back();
            return true;
        }
        if (marks_.empty()) return false;
        marks_.pop_back();
        return true;  // a mark is dropped like a value
    }

    static bool is_container(const PickleValue& value) { return value.kind >= PickleKind::list; }
    std::vector<PickleValue>& items_of(const PickleValue& container) {
        return pickle_.containers_[static_cast<std::size_t>(container.bits)];
    }
    // Appends `value` to a list, or drops it: a tuple or a dictionary without a key takes nothing.
    void give(const PickleValue& container, const PickleValue& value) {
        if (!is_container(container)) return;
        pickle_.open_.insert(container.bits);
        if (container.kind == PickleKind::list || container.kind == PickleKind::set)
            items_of(container).push_back(value);
    }
    // Moves the values above a mark, or above the root, into the container below. In a dictionary, keys and values
    // alternate; a container in place of a key is the only element of the list before it, to which it was about to be
    // appended.
    void fill(const PickleValue& container, const std::vector<PickleValue>& values) {
        pickle_.open_.insert(container.bits);
        if (container.kind != PickleKind::dictionary) {
            for (const PickleValue& value : values) give(container, value);
            return;
        }
        for (std::size_t i = 0; i + 1 < values.size();) {
            PickleValue last = values[i + 1];
            items_of(container).push_back(values[i]);
            items_of(container).push_back(last);
            for (i += 2; i < values.size() && is_container(values[i]); ++i) {
                give(last, values[i]);
                last = values[i];
            }
        }
    }
    // The pickle up to where it was read.
    Result<Pickle> put_together(std::string why) {
        if (stack_.empty() || !is_container(stack_.front())) return Error{ExitCode::unreadable, why};
        for (std::size_t mark = 0; !marks_.empty();) {
            if (!pop_mark(mark) || mark > stack_.size() || mark == 0) continue;
            std::vector<PickleValue> values = above(mark);
            if (is_container(stack_.back())) fill(stack_.back(), values);
        }
        fill(stack_.front(), above(1));
        pickle_.root_ = stack_.front();
        pickle_.cut_ = std::move(why);
        return std::move(pickle_);
    }

    std::string_view bytes_;
    std::uint64_t max_memory_;
    std::size_t at_ = 0, begun_ = 0;
    std::vector<PickleValue> stack_;
    std::vector<std::size_t> marks_;
    std::vector<PickleValue> memo_;
    std::unordered_map<std::uint64_t, PickleValue> sparse_memo_;
    Pickle pickle_;
    std::string why_;
    bool stopped_ = false, refused_ = false;
};

Result<Pickle> Pickle::read(std::string_view bytes, std::uint64_t max_memory) {
    return Unpickler(bytes, max_memory).run();
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
    if (value.kind < PickleKind::list) return {};
    return containers_[static_cast<std::size_t>(value.bits)];
}

PickleValue Pickle::find(const PickleValue& dictionary, std::string_view key) const {
    if (dictionary.kind != PickleKind::dictionary) return {};
    std::span<const PickleValue> pairs = items(dictionary);
    for (std::size_t i = pairs.size(); i >= 2; i -= 2)
        if (pairs[i - 2].kind == PickleKind::text && text(pairs[i - 2]) == key) return pairs[i - 1];
    return {};
}

std::string_view Pickle::text(const PickleValue& value) const {
    bool has_text = value.kind == PickleKind::text || value.kind == PickleKind::bytes;
    return has_text ? texts_[static_cast<std::size_t>(value.bits)] : std::string_view();
}

std::optional<std::int64_t> Pickle::integer(const PickleValue& value) {
    return value.kind == PickleKind::integer ? std::optional(value.bits) : std::nullopt;
}

}  // namespace gpuprof::importers
