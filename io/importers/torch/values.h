// A value of one of PyTorch's files, which write the same dictionaries and lists as a pickle or as JSON: readers are
// written once, as templates over PickleView and JsonView. A view refers to its document. What a view does not hold (a
// missing key, another type) reads as an empty view, an empty text or nothing.
#pragma once

#include <simdjson.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/importers/source/pickle.h"

namespace gpuprof::inline importers::torch {

class PickleView {
public:
    PickleView(const Pickle& pickle, const PickleValue& value) : pickle_(&pickle), value_(value) {}

    PickleView operator[](std::string_view key) const { return {*pickle_, pickle_->find(value_, key)}; }
    std::string_view text() const { return pickle_->text(value_); }
    std::optional<std::int64_t> integer() const { return Pickle::integer(value_); }
    std::optional<double> real() const {
        if (value_.kind == PickleValue::Kind::real) return std::bit_cast<double>(value_.bits);
        if (auto whole = integer()) return static_cast<double>(*whole);
        return std::nullopt;
    }
    bool truth() const { return value_.kind == PickleValue::Kind::boolean && value_.bits != 0; }
    bool is_list() const { return value_.kind == PickleValue::Kind::list || value_.kind == PickleValue::Kind::tuple; }
    bool is_dictionary() const { return value_.kind == PickleValue::Kind::dictionary; }
    // The same for a list or dictionary wherever the file refers to it.
    std::optional<std::int64_t> identity() const {
        return value_.kind >= PickleValue::Kind::list ? std::optional(value_.bits) : std::nullopt;
    }
    // Whether the document ends within it.
    bool is_open() const { return pickle_->is_open(value_); }
    // Elements of a list; keys and values of a dictionary.
    std::size_t size() const { return pickle_->items(value_).size() / (is_dictionary() ? 2 : 1); }
    // `visit` returns whether to go on.
    template <class Visit>
    void each(Visit visit) const {
        if (!is_list()) return;
        for (const PickleValue& item : pickle_->items(value_))
            if (!visit(PickleView(*pickle_, item))) return;
    }
    template <class Visit>
    void each_pair(Visit visit) const {
        if (!is_dictionary()) return;
        std::span<const PickleValue> items = pickle_->items(value_);
        for (std::size_t i = 0; i + 1 < items.size(); i += 2)
            if (!visit(pickle_->text(items[i]), PickleView(*pickle_, items[i + 1]))) return;
    }

private:
    const Pickle* pickle_;
    PickleValue value_;
};

// What looks into simdjson's values is not inline: it is long, and readers are full of it.
class JsonView {
public:
    explicit JsonView(simdjson::dom::element value) : value_(value) {}

    [[gnu::noinline]] JsonView operator[](std::string_view key) const {
        simdjson::dom::element found;
        return value_ && (*value_)[key].get(found) == simdjson::SUCCESS ? JsonView(found) : JsonView();
    }
    std::string_view text() const { return get<std::string_view>().value_or(std::string_view()); }
    std::optional<std::int64_t> integer() const { return get<std::int64_t>(); }
    std::optional<double> real() const { return get<double>(); }
    bool truth() const { return get<bool>().value_or(false); }
    bool is_list() const { return value_ && value_->is_array(); }
    bool is_dictionary() const { return value_ && value_->is_object(); }
    std::optional<std::int64_t> identity() const { return std::nullopt; }  // every value is written once
    bool is_open() const { return false; }                                 // JsonDocument drops what is cut
    std::size_t size() const {
        simdjson::dom::array items;
        simdjson::dom::object pairs;
        if (value_ && value_->get(items) == simdjson::SUCCESS) return items.size();
        return value_ && value_->get(pairs) == simdjson::SUCCESS ? pairs.size() : 0;
    }
    template <class Visit>
    void each(Visit visit) const {
        simdjson::dom::array items;
        if (!value_ || value_->get(items) != simdjson::SUCCESS) return;
        for (simdjson::dom::element item : items)
            if (!visit(JsonView(item))) return;
    }
    template <class Visit>
    void each_pair(Visit visit) const {
        simdjson::dom::object pairs;
        if (!value_ || value_->get(pairs) != simdjson::SUCCESS) return;
        for (auto [key, value] : pairs)
            if (!visit(key, JsonView(value))) return;
    }

private:
    JsonView() = default;
    template <class T>
    [[gnu::noinline]] std::optional<T> get() const {
        T found{};
        return value_ && value_->get(found) == simdjson::SUCCESS ? std::optional<T>(found) : std::nullopt;
    }

    std::optional<simdjson::dom::element> value_;
};

// Frames, the innermost first, as a stack of table stack_sample: "function (file:line)", outermost first. Nothing if it
// would be longer than `room`, or has more than kMaxFrames.
inline constexpr std::size_t kMaxFrames = std::size_t{1} << 16;
template <class View>
std::optional<std::string> stack_text(const View& frames, std::size_t room) {
    std::vector<View> all;
    frames.each([&](const View& frame) {
        all.push_back(frame);
        return all.size() <= kMaxFrames;
    });
    if (all.size() > kMaxFrames) return std::nullopt;
    std::string text;
    for (auto frame = all.rbegin(); frame != all.rend(); ++frame) {
        std::string_view name = (*frame)["name"].text(), file = (*frame)["filename"].text();
        if (text.size() + name.size() + file.size() > room) return std::nullopt;
        if (!text.empty()) text += ';';
        text += name;
        if (file.empty() || file == "??") continue;
        std::optional<std::int64_t> line = (*frame)["line"].integer();
        text.append(" (").append(file);
        if (line && *line > 0) text.append(":").append(std::to_string(*line));
        text += ')';
    }
    return text;
}

}  // namespace gpuprof::importers::torch
