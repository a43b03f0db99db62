// Where written bytes go: a file, a pipe, a string. Writers of reports and exports write into a Sink in small pieces;
// it passes them on in large ones, so that a table of any length needs no string of that size. After a failure a sink
// ignores the rest: writers need not check each write, only long loops should ask failed(). The owner flushes at the
// end and asks the concrete sink for the error. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

class Sink {
public:
    virtual ~Sink() = default;

    void write(std::string_view bytes) {
        buffer_.append(bytes);
        if (buffer_.size() >= kPiece) flush();
    }
    void flush() {
        if (!buffer_.empty()) put(buffer_);
        buffer_.clear();
    }
    // Whether further writing is pointless.
    virtual bool failed() const { return false; }

private:
    static constexpr std::size_t kPiece = 64 * 1024;
    virtual void put(std::string_view bytes) = 0;
    std::string buffer_;
};

// Keeps everything; for tests and small texts.
class StringSink final : public Sink {
public:
    const std::string& text() {
        flush();
        return text_;
    }

private:
    void put(std::string_view bytes) override { text_.append(bytes); }
    std::string text_;
};

}  // namespace gpuprof::base
