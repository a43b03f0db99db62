#include "collect/counters/spool_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "core/format/bytes.h"

namespace gpuprof::counters {
namespace {

class FileInput final : public ByteInput {
public:
    explicit FileInput(const std::string& file) : file_(std::fopen(file.c_str(), "rbe"), std::fclose) {}
    bool open() const { return file_ != nullptr; }
    Result<std::size_t> read(char* into, std::size_t size) override {
        std::size_t got = std::fread(into, 1, size, file_.get());
        if (got == 0 && std::ferror(file_.get()) != 0)
            return Error{ExitCode::unreadable, std::string("cannot read a spool file: ") + std::strerror(errno)};
        return got;
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace

Status read_chunks(ByteInput& input, const std::function<void(const RawChunk&)>& take) {
    ChunkReader chunks(input);
    for (RawChunk chunk;;) {
        Result<bool> more = chunks.next(chunk);
        if (!more.ok()) return more.error();
        if (!*more) return {};
        take(chunk);
    }
}

Status read_chunks_of(const std::string& file, const std::function<Status(ByteInput&)>& read) {
    FileInput input(file);
    if (!input.open())
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", file, std::strerror(errno))};
    return read(input);
}

ProcessFacts facts_of(std::string_view payload) {
    std::map<std::string, std::string> facts;
    for (ByteCursor cursor(payload); cursor.left() > 0 && cursor.ok();) {
        std::string key(cursor.take(cursor.u32()));
        facts[key] = cursor.take(cursor.u32());
    }
    return {facts["host"] + ":" + facts["pid"],
            facts["rank"].empty() ? -1 : std::strtoll(facts["rank"].c_str(), nullptr, 10)};
}

}  // namespace gpuprof::counters
