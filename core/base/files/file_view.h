// A regular file's bytes in memory, read-only, for the lifetime of this object; none if it cannot be mapped. A file that
// becomes shorter while it is mapped ends the program (SIGBUS): for programs and libraries, which are replaced, not rewritten.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline base {

class FileView {
public:
    explicit FileView(const std::string& path);
    ~FileView();
    FileView(const FileView&) = delete;
    FileView& operator=(const FileView&) = delete;
    std::string_view bytes() const {
        return data_ == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data_), size_);
    }

private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace gpuprof::base
