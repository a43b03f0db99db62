// Reads a JSON object into the members that a visit_* function visits (measurement_fields.h): the reverse of
// MemberWriter. Missing or null members leave the current value, so older files open; `wrong` is the first member of
// another type. Statistics are not read but recomputed from the samples, so a file cannot contradict itself.
#pragma once

#include <simdjson.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/measurement.h"

namespace gpuprof::measure {

class MemberReader {
public:
    using Value = simdjson::dom::element;

    explicit MemberReader(const simdjson::dom::object& object) : object_(object) {}
    std::string wrong;

    template <class T>
    void member(std::string_view name, T& to) {
        read(name, [&](const Value& value) { return get(value, to); });
    }
    template <class T>
    void member_if(std::string_view name, T& to, bool) {
        member(name, to);
    }
    template <class Visit>
    void object(std::string_view name, Visit&& visit) {
        read(name, [&](const Value& value) { return read_object(value, visit); });
    }
    template <class T, class Visit>
    void optional(std::string_view name, std::optional<T>& to, Visit&& visit) {
        object(name, [&](MemberReader& inner) { visit(to.emplace(), inner); });
    }
    template <class T, class Visit>
    void list(std::string_view name, std::vector<T>& to, Visit&& visit) {
        read(name, [&](const Value& value) {
            simdjson::dom::array items;
            if (value.get(items) != simdjson::SUCCESS) return false;
            for (const Value& item : items)
                if (!read_object(item, [&](MemberReader& inner) { visit(to.emplace_back(), inner); })) return false;
            return true;
        });
    }
    void statistics(std::string_view, Statistics&) {}

private:
    template <class Take>
    void read(std::string_view name, Take&& take) {
        Value value;
        if (object_[name].get(value) != simdjson::SUCCESS || value.is_null()) return;
        if (!take(value) && wrong.empty()) wrong = name;
    }
    template <class Visit>
    bool read_object(const Value& value, Visit&& visit) {
        simdjson::dom::object object;
        if (value.get(object) != simdjson::SUCCESS) return false;
        MemberReader inner(object);
        visit(inner);
        if (wrong.empty()) wrong = inner.wrong;
        return true;
    }

    static bool get(const Value& value, std::string& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        to = text;
        return true;
    }
    static bool get(const Value& value, double& to) { return value.get(to) == simdjson::SUCCESS; }
    static bool get(const Value& value, bool& to) { return value.get(to) == simdjson::SUCCESS; }
    template <std::integral T>
    static bool get(const Value& value, T& to) {
        std::int64_t number = 0;
        if (value.get(number) != simdjson::SUCCESS) return false;
        to = static_cast<T>(number);
        return static_cast<std::int64_t>(to) == number;
    }
    static bool get(const Value& value, StopReason& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        for (StopReason reason : kStopReasons)
            if (name_of(reason) == text) return to = reason, true;
        return false;
    }
    static bool get(const Value& value, StopRule& to) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) return false;
        Result<StopRule> rule = find_stop_rule(text);
        if (rule.ok()) to = *rule;
        return rule.ok();
    }
    template <class T>
    static bool get(const Value& value, std::optional<T>& to) {
        return get(value, to.emplace());
    }
    template <class T>
    static bool get(const Value& value, std::vector<T>& to) {
        simdjson::dom::array items;
        if (value.get(items) != simdjson::SUCCESS) return false;
        to.clear();
        for (const Value& item : items)
            if (!get(item, to.emplace_back())) return false;
        return true;
    }

    simdjson::dom::object object_;
};

}  // namespace gpuprof::measure
