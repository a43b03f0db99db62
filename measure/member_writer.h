// Writes the members that a visit_* function visits (measurement_fields.h) as a JSON object.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/json_writer.h"
#include "measure/measurement.h"

namespace gpuprof::measure {

class MemberWriter {
public:
    explicit MemberWriter(JsonWriter& json) : json_(json) {}

    template <class Value>
    void member(std::string_view name, const Value& value) {
        json_.key(name);
        put(value);
    }
    template <class Value>
    void member_if(std::string_view name, const Value& value, bool there) {
        json_.key(name);
        there ? put(value) : json_.null();
    }
    template <class Visit>
    void object(std::string_view name, Visit&& visit) {
        json_.key(name);
        write_object(visit);
    }
    // An object that may be absent: visit(value, visitor).
    template <class Value, class Visit>
    void optional(std::string_view name, const std::optional<Value>& value, Visit&& visit) {
        json_.key(name);
        value ? write_object([&](auto& inner) { visit(*value, inner); }) : json_.null();
    }
    template <class Value, class Visit>
    void list(std::string_view name, const std::vector<Value>& values, Visit&& visit) {
        json_.key(name);
        json_.begin_array();
        for (const Value& value : values) write_object([&](auto& inner) { visit(value, inner); });
        json_.end_array();
    }
    void statistics(std::string_view name, const Statistics& value) {
        json_.key(name);
        write_json(value, json_);
    }
    template <class Visit>
    void write_object(Visit&& visit) {
        json_.begin_object();
        visit(*this);
        json_.end_object();
    }

private:
    void put(std::string_view value) { json_.text(value); }
    void put(const std::string& value) { json_.text(value); }
    void put(double value) { json_.real(value); }
    void put(bool value) { json_.boolean(value); }
    void put(std::integral auto value) { json_.integer(static_cast<std::int64_t>(value)); }
    void put(StopReason value) { json_.text(name_of(value)); }
    void put(StopRule value) { json_.text(name_of(value)); }
    template <class Value>
    void put(const std::optional<Value>& value) {
        value ? put(*value) : json_.null();
    }
    template <class Value>
    void put(const std::vector<Value>& values) {
        json_.begin_array();
        for (const Value& value : values) put(value);
        json_.end_array();
    }

    JsonWriter& json_;
};

}  // namespace gpuprof::measure
