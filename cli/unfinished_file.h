// Temporary files of outputs (core/base/files/output_file.h), which must not survive a signal. SIGINT, SIGTERM, SIGHUP and
// SIGQUIT remove them and then end the program as usual. Signals that are ignored or handled otherwise are left alone.
// SIGKILL leaves the temporary file, and the destination unchanged.
#pragma once

#include <string>

namespace gpuprof::inline cli {

// One such file, during the lifetime of this object.
class UnfinishedFile {
public:
    UnfinishedFile();
    UnfinishedFile(UnfinishedFile&& other) noexcept;
    UnfinishedFile& operator=(UnfinishedFile&&) = delete;
    ~UnfinishedFile();
    // Sets its absolute path, before the file exists; call again if the path changes.
    void set(const std::string& path);

private:
    int slot_;  // -1: moved from, or all slots are taken
};

}  // namespace gpuprof::cli
