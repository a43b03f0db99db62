#include "core/base/files/file_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gpuprof::inline base {

FileView::FileView(const std::string& path) {
    // Looked at before it is opened: opening some devices has effects.
    int place = open(path.c_str(), O_PATH | O_CLOEXEC);
    struct stat stat {};
    bool regular = place >= 0 && fstat(place, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0;
    int file = regular ? open(("/proc/self/fd/" + std::to_string(place)).c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (place >= 0) close(place);
    if (file >= 0) {
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
