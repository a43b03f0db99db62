#include "io/importers/source/byte_stream.h"

#include <fmt/format.h>

namespace gpuprof::inline importers {
namespace {

class CappedBytes final : public ByteStream {
public:
    CappedBytes(std::unique_ptr<ByteStream> unpacked, std::string name, const ReadLimits& limits)
        : unpacked_(std::move(unpacked)), name_(std::move(name)), limits_(limits) {}

    Result<std::size_t> read(char* into, std::size_t size) override {
        Result<std::size_t> got = unpacked_->read(into, size);
        if (!got.ok()) return got;
        given_ += *got;
        if (given_ > limits_.by_size())
            return refuse(fmt::format("{} GiB", limits_.unpack_gib),
                          "raise the limit with --unpack-gib if you trust the file");
        if (given_ > limits_.by_ratio(own_bytes()))
            return refuse(fmt::format("{} times its compressed size", limits_.unpack_ratio),
                          "raise the limit with --unpack-ratio if you trust the file");
        return got;
    }
    bool damaged() const override { return unpacked_->damaged(); }
    std::uint64_t own_bytes() const override { return unpacked_->own_bytes(); }

private:
    Error refuse(std::string_view limit, std::string_view remedy) const {
        return {ExitCode::unreadable,
                fmt::format("cannot read {}: decompresses to more than {}; {}", name_, limit, remedy)};
    }

    std::unique_ptr<ByteStream> unpacked_;
    std::string name_;
    ReadLimits limits_;
    std::uint64_t given_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> cap_unpacked(std::unique_ptr<ByteStream> unpacked, const std::string& name,
                                         const ReadLimits& limits) {
    return std::make_unique<CappedBytes>(std::move(unpacked), name, limits);
}

}  // namespace gpuprof::importers
