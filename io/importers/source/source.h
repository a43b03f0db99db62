// The bytes of an input, read in order and once, decompressed: a file, a gzip or zstd file, or standard input.
// Reading is sequential and bounded, so that a 5 GB trace needs no 5 GB of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline importers {

class Source {
public:
    virtual ~Source() = default;
    // Reads up to `size` bytes into `into`; fewer only at the end. 0 = end of input.
    virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
    // The first bytes (up to 64 KiB), without consuming them.
    virtual std::string_view head() = 0;
    // The name given by the user; "-" is standard input.
    virtual const std::string& name() const = 0;
    // Size in bytes of a plain, seekable, uncompressed file; 0 if unknown.
    virtual std::uint64_t plain_size() const { return 0; }
    // File descriptor of a plain, seekable, uncompressed file for parallel pread; -1 otherwise.
    virtual int plain_fd() const { return -1; }
    // Whether the compressed stream was damaged or truncated; everything before that was delivered.
    virtual bool damaged() const { return false; }
    // Bytes of the input itself, before decompression: its size, or the bytes read so far if unknown. Any thread may
    // ask.
    virtual std::uint64_t own_bytes() const = 0;
    virtual const ReadLimits& limits() const = 0;
};

// Opens a file, or standard input for "-" (and its other names, such as /dev/stdin). ExitCode::unreadable: a folder, a
// device, a missing or unreadable file. Reading fails if compressed input exceeds `limits`, or if a named pipe delivers
// nothing for as long as they allow; process substitution, <(zcat FILE), is such a pipe.
Result<std::unique_ptr<Source>> open_source(const std::string& file, const ReadLimits& limits = {});
// The same for a file that users know by another name.
Result<std::unique_ptr<Source>> open_source(const std::string& file, const std::string& name, const ReadLimits& limits);

// Several files as one input, one after the other; they are opened when they are reached, and not decompressed. One that
// cannot be opened ends the input with an error. The name is that of the first.
Result<std::unique_ptr<Source>> join_files(std::vector<std::string> files, const ReadLimits& limits = {});

// One over bytes in memory, which must outlive it. For tests and fuzzing.
Result<std::unique_ptr<Source>> memory_source(std::string name, std::string_view bytes, const ReadLimits& limits = {});

}  // namespace gpuprof::importers
