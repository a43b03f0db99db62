#include "io/importers/kineto/parser.h"

#include "io/importers/kineto/event.h"
#include "io/importers/kineto/header.h"
#include "io/importers/kineto/members.h"
#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {
namespace {

class PieceParser {
public:
    PieceParser(std::string_view file, const Piece& piece, State state, Block& block)
        : piece_(piece), p_(piece.begin), end_(piece.end), state_(state), block_(block), rows_(file, block) {}

    std::size_t run() {
        while (step()) {
        }
        return static_cast<std::size_t>(p_ - piece_.begin);
    }
    State state() const { return state_; }

private:
    // Takes one item; false if the piece has no more.
    bool step() {
        if (state_ == State::lost) return find_next();
        p_ = skip_space(p_, end_);
        while (p_ < end_ && *p_ == ',' && state_ != State::start && state_ != State::after)
            p_ = skip_space(p_ + 1, end_);
        if (p_ >= end_) {
            p_ = end_;
            return false;
        }
        switch (state_) {
            case State::start: return start();
            case State::header: return header_item();
            case State::events: return event_item();
            default: return broken(p_);
        }
    }

    bool start() {
        constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
        if (std::string_view{p_, static_cast<std::size_t>(end_ - p_)}.starts_with(kByteOrderMark))
            p_ = skip_space(p_ + 3, end_);
        if (p_ >= end_ || (*p_ != '{' && *p_ != '[')) return broken(p_);
        block_.is_object = *p_ == '{';
        block_.has_events = *p_ == '[';
        state_ = *p_++ == '{' ? State::header : State::events;
        return true;
    }

    bool header_item() {
        const char* item = p_;
        if (*p_ == '}') {
            ++p_;
            state_ = State::after;
            return true;
        }
        RawValue key, value;
        Scan scan = scan_key(p_, end_, key);
        if (scan == Scan::ok && *p_ == '[' && key.text() == "traceEvents") {
            ++p_;
            state_ = State::events;
            block_.has_events = true;
            return true;
        }
        bool too_deep = false;
        if (scan == Scan::ok) scan = scan_value(p_, end_, value, too_deep);
        if (scan != Scan::ok || too_long(item)) return failed(item, scan);
        if (too_deep) rows_.lose(Loss::too_deep, offset_of(item));
        if (!too_deep && !read_header_member(key.text(), value, block_)) rows_.lose(Loss::bad_number, offset_of(item));
        return true;
    }

    bool event_item() {
        const char* item = p_;
        if (*p_ == ']') {
            ++p_;
            state_ = State::header;
            return true;
        }
        if (*p_ != '{') return foreign_item();
        Scan scan = read_event(p_, end_, event_);
        if (scan != Scan::ok || too_long(item)) return failed(item, scan);
        rows_.write(event_, offset_of(item));
        return true;
    }

    // Something between events that is not an event.
    bool foreign_item() {
        const char* item = p_;
        RawValue value;
        bool too_deep = false;
        Scan scan = scan_value(p_, end_, value, too_deep);
        if (scan != Scan::ok) return failed(item, scan);
        rows_.lose(Loss::malformed_event, offset_of(item));
        return true;
    }

    bool too_long(const char* item) const { return static_cast<std::size_t>(p_ - item) > kMaxItem; }

    bool failed(const char* item, Scan scan) {
        if (scan != Scan::cut_off) return broken(item);
        if (piece_.last) {
            rows_.lose(Loss::truncated, offset_of(item));
            block_.cut_off = true;
            p_ = end_;
            return false;
        }
        if (static_cast<std::size_t>(end_ - item) > kMaxItem) return broken(item);
        p_ = item;
        return false;
    }

    bool broken(const char* item) {
        rows_.lose(Loss::malformed_event, offset_of(item));
        p_ = item + 1;
        state_ = State::lost;
        return true;
    }

    // Looks for the next event, or for the end of the events.
    bool find_next() {
        for (const char* at = p_; at < end_; ++at) {
            at = find_stop(at, end_, nesting_stops);
            if (at >= end_) break;
            if (*at != '{' && *at != ']') continue;
            // Near the end of a piece, the next bytes are needed to decide.
            if (!piece_.last && end_ - at <= kEventPrefix) return stop_at(at);
            char before = last_visible(piece_.begin, at, piece_.before);
            if (looks_like_event(before, at, end_)) return go_on_at(at, State::events);
            if (*at == ']' && before == '}' && looks_like_end(at)) return go_on_at(at + 1, State::header);
        }
        return stop_at(end_);
    }
    bool go_on_at(const char* at, State state) {
        p_ = at;
        state_ = state;
        return true;
    }
    bool stop_at(const char* at) {
        p_ = at;
        return false;
    }
    // Whether a brace, or a comma and a key, follow the bracket.
    bool looks_like_end(const char* at) const {
        const char* limit = end_ - at > kEventPrefix ? at + kEventPrefix : end_;
        const char* after = skip_space(at + 1, limit);
        if (after < limit && *after == ',') {
            after = skip_space(after + 1, limit);
            return after < limit && *after == '"';
        }
        return after < limit && *after == '}';
    }

    std::uint64_t offset_of(const char* at) const {
        return piece_.offset + static_cast<std::uint64_t>(at - piece_.begin);
    }

    Piece piece_;
    const char* p_;
    const char* end_;
    State state_;
    Block& block_;
    RowWriter rows_;
    Event event_;
};

}  // namespace

std::size_t parse_piece(std::string_view file, const Piece& piece, State& state, Block& block) {
    PieceParser parser(file, piece, state, block);
    std::size_t used = parser.run();
    state = parser.state();
    return used;
}

const char* find_cut(const char* begin, const char* end) {
    for (const char* at = end; at > begin;) {
        const void* brace = memrchr(begin, '{', static_cast<std::size_t>(at - begin));
        if (brace == nullptr) break;
        at = static_cast<const char*>(brace);
        if (at > begin && looks_like_event(last_visible(begin, at, ','), at, end)) return at;
    }
    return end;
}

}  // namespace gpuprof::importers::kineto
