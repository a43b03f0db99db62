// Files that must not outlive this program when a signal ends it: parts of outputs (core/base/output_file.h). SIGINT, SIGTERM,
// SIGHUP and SIGQUIT remove them and then end the program as they would have without; where one of these is ignored or
// handled otherwise, it stays so. SIGKILL leaves the part, and the file it would have become as it was.
#pragma once

#include <string>

namespace gpuprof {

// One such file, for as long as this object lives.
class UnfinishedFile {
public:
    UnfinishedFile();
    UnfinishedFile(UnfinishedFile&& other) noexcept;
    UnfinishedFile& operator=(UnfinishedFile&&) = delete;
    ~UnfinishedFile();
    // Its absolute path, before it exists; again when it gets another one.
    void set(const std::string& path);

private:
    int slot_;  // -1: handed on, or all are taken
};

}  // namespace gpuprof
