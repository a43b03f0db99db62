#include "core/base/file_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof::inline base {

FileView::FileView(const std::string& path) {
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat stat {};
    if (file >= 0 && fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
        size_ = static_cast<std::size_t>(stat.st_size);
        void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        data_ = mapped == MAP_FAILED ? nullptr : mapped;
    }
    if (file >= 0) close(file);
}

FileView::~FileView() {
    if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace gpuprof::base
