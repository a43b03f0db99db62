// Writes one JSON document into a Sink, piece by piece. The output is always valid JSON, whatever the input: strings
// are repaired to UTF-8 (U+FFFD), NaN and infinities become null. Integers are exact. Reals are the shortest text that
// reads back as the same double, always with a point or an exponent, so that readers see the same type in every row.
// Containers down to `depth` put each member on its own line; deeper ones stay on one line. The caller keeps the
// grammar: a key before each value of an object, an end for each begin. Spec: RFC 8259.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"

namespace gpuprof::inline base {

// Appends the shortest text of a finite double that reads back as equal, with a point or an exponent.
void append_real(std::string& out, double value);

class JsonWriter {
public:
    explicit JsonWriter(Sink& sink, std::size_t depth = 0) : sink_(sink), depth_(depth) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_array() { begin('['); }
    void end_array() { end(']'); }
    void key(std::string_view name);
    void text(std::string_view value);
    void integer(std::int64_t value);
    void real(double value);
    void boolean(bool value);
    void null();
    // A value that is already JSON; the caller has checked it.
    void raw(std::string_view json);

    // A key and its value.
    void member(std::string_view name, std::string_view value) { key(name), text(value); }
    void member(std::string_view name, std::int64_t value) { key(name), integer(value); }

private:
    void begin(char bracket);
    void end(char bracket);
    void before_value();
    void next_line();
    void quoted(std::string_view value);

    Sink& sink_;
    std::size_t depth_;
    std::vector<bool> filled_;  // per open container: whether it has a member
    bool after_key_ = false;
};

}  // namespace gpuprof::base
