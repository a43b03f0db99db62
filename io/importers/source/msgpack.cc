// Format: https://github.com/msgpack/msgpack/blob/master/spec.md.
#include "io/importers/source/msgpack.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>

#include "core/base/files/sink.h"
#include "core/base/text/json_writer.h"

namespace gpuprof::inline importers {
namespace {

class Msgpack {
public:
    Msgpack(std::string_view bytes, std::size_t deepest) : bytes_(bytes), deepest_(deepest), json_(sink_) {}

    MsgpackText run() {
        value(0);
        return {sink_.text(), std::move(cut_)};
    }

private:
    bool stop(std::string_view why) {
        if (cut_.empty()) cut_ = fmt::format("{} at byte {}", why, at_);
        return false;
    }
    // The next `size` bytes as a big-endian number.
    std::optional<std::uint64_t> number(std::size_t size) {
        if (bytes_.size() - at_ < size) {
            stop("unexpected end of file");
            return std::nullopt;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
        return value;
    }
    std::optional<std::string_view> take(std::optional<std::uint64_t> size) {
        if (!size) return std::nullopt;
        if (bytes_.size() - at_ < *size) {
            stop("unexpected end of file");
            return std::nullopt;
        }
        std::string_view taken = bytes_.substr(at_, *size);
        at_ += *size;
        return taken;
    }
    // The bytes that the length of a text, array or map takes after its first byte: 1, 2 or 4.
    std::optional<std::uint64_t> length(unsigned first, unsigned smallest, std::size_t bytes) {
        return number(bytes << (first - smallest));
    }
    // A key is written with its value, so that a truncated map has no key without one.
    void put_key() {
        if (key_) json_.key(*key_);
        key_.reset();
    }
    bool integer(std::int64_t value) { return put_key(), json_.integer(value), true; }
    bool real(double value) { return put_key(), json_.real(value), true; }
    bool null(bool known) { return known && (put_key(), json_.null(), true); }
    bool text(std::optional<std::string_view> text) { return text && (put_key(), json_.text(*text), true); }

    bool container(std::optional<std::uint64_t> count, bool map, std::size_t depth) {
        if (!count) return false;
        if (depth >= deepest_) return stop("values nest too deeply");
        put_key();
        map ? json_.begin_object() : json_.begin_array();
        bool whole = true;
        for (std::uint64_t i = 0; i < *count && whole; ++i) whole = (!map || key()) && value(depth + 1);
        key_.reset();
        map ? json_.end_object() : json_.end_array();
        return whole;
    }

    bool key() {
        auto first = number(1);
        if (!first) return false;
        std::optional<std::string_view> text;
        if ((*first & 0xE0) == 0xA0)
            text = take(*first & 0x1F);
        else if (*first >= 0xD9 && *first <= 0xDB)
            text = take(length(static_cast<unsigned>(*first), 0xD9, 1));
        else
            return stop("a key is not text");
        if (!text) return false;
        key_ = *text;
        return true;
    }

    bool value(std::size_t depth) {
        auto head = number(1);
        if (!head) return false;
        auto first = static_cast<unsigned>(*head);
        if (first < 0x80) return integer(first);
        if (first >= 0xE0) return integer(static_cast<std::int64_t>(first) - 0x100);
        if (first < 0x90) return container(first & 0x0F, true, depth);
        if (first < 0xA0) return container(first & 0x0F, false, depth);
        if (first < 0xC0) return text(take(first & 0x1F));
        switch (first) {
            case 0xC0: return null(true);
            case 0xC2:
            case 0xC3: return put_key(), json_.boolean(first == 0xC3), true;
            case 0xC4:
            case 0xC5:
            case 0xC6: return null(take(length(first, 0xC4, 1)).has_value());
            case 0xC7:
            case 0xC8:
            case 0xC9: {  // the type of an extension follows its length
                auto size = length(first, 0xC7, 1);
                return null(size && take(1) && take(size));
            }
            case 0xCA: {
                auto bits = number(4);
                return bits && real(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits))));
            }
            case 0xCB: {
                auto bits = number(8);
                return bits && real(std::bit_cast<double>(*bits));
            }
            case 0xCC:
            case 0xCD:
            case 0xCE:
            case 0xCF: {
                auto bits = length(first, 0xCC, 1);
                if (!bits) return false;
                return *bits <= INT64_MAX ? integer(static_cast<std::int64_t>(*bits))
                                          : real(static_cast<double>(*bits));
            }
            case 0xD0:
            case 0xD1:
            case 0xD2:
            case 0xD3: {
                auto bits = length(first, 0xD0, 1);
                if (!bits) return false;
                unsigned unused = 64 - (8u << (first - 0xD0));
                return integer(static_cast<std::int64_t>(*bits << unused) >> unused);
            }
            case 0xD4:
            case 0xD5:
            case 0xD6:
            case 0xD7:
            case 0xD8: return null(take(1) && take(std::size_t{1} << (first - 0xD4)));
            case 0xD9:
            case 0xDA:
            case 0xDB: return text(take(length(first, 0xD9, 1)));
            case 0xDC:
            case 0xDD: return container(length(first, 0xDC, 2), false, depth);
            case 0xDE:
            case 0xDF: return container(length(first, 0xDE, 2), true, depth);
            default: return stop("invalid byte");
        }
    }

    std::string_view bytes_;
    std::size_t deepest_, at_ = 0;
    StringSink sink_;
    JsonWriter json_;
    std::optional<std::string> key_;
    std::string cut_;
};

}  // namespace

MsgpackText json_of_msgpack(std::string_view bytes, std::size_t deepest) { return Msgpack(bytes, deepest).run(); }

}  // namespace gpuprof::importers
