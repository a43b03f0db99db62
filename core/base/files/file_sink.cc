#include "core/base/files/file_sink.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gpuprof::inline base {

Result<FileSink> FileSink::open(const std::string& file, const OutputOptions& options) {
    if (file == "-") return FileSink(OutputFile("standard output", STDOUT_FILENO));
    Result<OutputFile> opened = OutputFile::open(file, options);
    if (!opened.ok()) return opened.error();
    return FileSink(std::move(*opened));
}

void FileSink::put(std::string_view bytes) {
    auto size = static_cast<off_t>(bytes.size());
    while (!bytes.empty() && error_ == 0) {
        ssize_t written = ::write(file_.fd(), bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
    if (error_ == 0)
        whole_ += size;
    else if (published_ && ftruncate(file_.fd(), whole_) != 0)
        return;  // no file, or one that cannot be repaired
}

Status FileSink::status() const {
    if (error_ == 0 || error_ == EPIPE) return {};
    return file_.failure(error_);
}

Status FileSink::publish() {
    flush();
    if (Status written = status(); !written.ok()) return written;
    // A second attempt could succeed although bytes were lost: fsync reports an error only once.
    if (!published_ && publishing_) publishing_ = file_.publish();
    published_ = publishing_.ok();
    return publishing_;
}

Status FileSink::close() {
    flush();
    if (Status written = status(); !written.ok()) return written;
    return publishing_ ? file_.close() : publishing_;
}

}  // namespace gpuprof::base
