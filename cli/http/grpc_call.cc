#include "cli/http/grpc_call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/clock.h"

namespace gpuprof::inline cli {
namespace {

enum Http2Frame : unsigned {
    kData,
    kHeaders,
    kPriority,
    kReset,
    kSettings,
    kPush,
    kPing,
    kGoAway,
    kWindowUpdate,
    kContinuation
};
constexpr unsigned kAck = 1, kEndStream = 1, kEndHeaders = 4, kPadded = 8, kHasPriority = 32;
constexpr std::size_t kHead = 9, kMostFrame = 16'384, kMostHeaders = 16'384, kMostControlFrames = 1000;
constexpr std::size_t kMessagePrefix = 5;  // of a message: whether it is compressed, and its size

Error invalid_answer(std::string_view what) {
    return {ExitCode::unreadable, fmt::format("invalid gRPC answer: {}", what)};
}

std::string big_endian_text(std::size_t value, int bytes) {
    std::string text;
    while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
    return text;
}

unsigned big_endian_at(std::string_view bytes, std::size_t at, std::size_t size) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

std::string framed(unsigned type, unsigned flags, unsigned stream, std::string_view content) {
    return big_endian_text(content.size(), 3) + big_endian_text(type, 1) + big_endian_text(flags, 1) +
           big_endian_text(stream, 4) + std::string(content);
}

std::string grpc_request(std::string_view method, std::size_t window) {
    auto text = [](std::string_view value) { return static_cast<char>(value.size()) + std::string(value); };
    auto setting = [](unsigned name, std::size_t value) {
        return big_endian_text(name, 2) + big_endian_text(value, 4);
    };
    // The table of headers has no place, pushes are off, and the window of a stream.
    std::string settings = setting(1, 0) + setting(2, 0) + setting(4, window);
    // 0x83 and 0x86 are POST and http; literals name headers by their place in the static table, or by a text after 0x00.
    std::string headers = "\x83\x86\x04" + text(method) + '\x01' + text("localhost") + "\x0f\x10" +
                          text("application/grpc") + '\0' + text("te") + text("trailers");
    return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + framed(kSettings, 0, 0, settings) +
           framed(kWindowUpdate, 0, 0, big_endian_text(window, 4)) + framed(kHeaders, kEndHeaders, 1, headers) +
           framed(kData, kEndStream, 1, std::string(kMessagePrefix, '\0'));
}

// The literal grpc-status of a block of headers. No table is kept, so its name is there in letters or in Huffman's code.
std::optional<std::string> grpc_status(std::string_view block) {
    using namespace std::string_view_literals;
    for (std::string_view name : {"\x0bgrpc-status"sv, "\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f"sv}) {
        std::size_t at = block.find(name);
        if (at == block.npos) continue;
        std::string_view value = block.substr(at + name.size());
        if (value.starts_with("\x81\x07"sv)) return "0";  // Huffman's code of 0 is as long
        std::size_t size = value.empty() ? 0 : static_cast<unsigned char>(value.front());
        if (size < 1 || size > 2 || size >= value.size()) return std::nullopt;
        std::string_view digits = value.substr(1, size);
        if (digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
        return std::string(digits);
    }
    return std::nullopt;
}

class UnixSocket {
public:
    UnixSocket() : file_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
    ~UnixSocket() {
        if (file_ >= 0) close(file_);
    }
    UnixSocket(const UnixSocket&) = delete;
    UnixSocket& operator=(const UnixSocket&) = delete;
    int file() const { return file_; }

private:
    int file_;
};

}  // namespace

Status GrpcAnswer::take(std::string_view bytes, std::string& reply) {
    rest_ += bytes;
    std::string_view left = rest_;
    while (left.size() >= kHead && !complete_) {
        std::size_t size = big_endian_at(left, 0, 3);
        if (!greeted_ && (big_endian_at(left, 3, 1) != kSettings || (big_endian_at(left, 4, 1) & kAck) != 0))
            return invalid_answer("it is not HTTP/2");
        greeted_ = true;
        if (size > kMostFrame) return invalid_answer("a frame is larger than 16 KiB");
        if (left.size() < kHead + size) break;
        Frame next{.type = big_endian_at(left, 3, 1),
                   .flags = big_endian_at(left, 4, 1),
                   .stream = big_endian_at(left, 5, 4) & 0x7fffffffu,
                   .content = left.substr(kHead, size)};
        if (Status taken = on_frame(next, reply); !taken) return taken;
        left.remove_prefix(kHead + size);
    }
    rest_.erase(0, rest_.size() - left.size());
    return {};
}

Status GrpcAnswer::on_frame(Frame frame, std::string& reply) {
    if (in_block_ != (frame.type == kContinuation))
        return invalid_answer("headers and their continuation are not together");
    bool of_call = frame.type == kData || frame.type == kHeaders || frame.type == kContinuation || frame.type == kReset;
    if (of_call && frame.stream != 1) return invalid_answer("a frame of another stream");
    if (frame.type != kData && ++control_frames_ > kMostControlFrames)
        return invalid_answer("too many frames without content");
    if ((frame.type == kData || frame.type == kHeaders) && (frame.flags & kPadded) != 0) {
        if (frame.content.empty() || big_endian_at(frame.content, 0, 1) >= frame.content.size())
            return invalid_answer("more padding than content");
        frame.content.remove_suffix(big_endian_at(frame.content, 0, 1));
        frame.content.remove_prefix(1);
    }
    switch (frame.type) {
        case kData: return on_data(frame.content, (frame.flags & kEndStream) != 0);
        case kHeaders:
            if ((frame.flags & kHasPriority) != 0) {
                if (frame.content.size() < 5) return invalid_answer("a priority is cut off");
                frame.content.remove_prefix(5);
            }
            block_.clear();
            last_block_ = (frame.flags & kEndStream) != 0;
            [[fallthrough]];
        case kContinuation:
            block_ += frame.content;
            in_block_ = (frame.flags & kEndHeaders) == 0;
            if (block_.size() > kMostHeaders) return invalid_answer("headers have more than 16 KiB");
            return in_block_ ? Status() : on_header_block(last_block_);
        case kReset: return invalid_answer("the server ended the call");
        case kPush: return invalid_answer("a push");
        case kGoAway:
            // The last stream that it still answers, and an error.
            if (frame.content.size() < 8 || (big_endian_at(frame.content, 0, 4) & 0x7fffffffu) == 0 ||
                big_endian_at(frame.content, 4, 4) != 0)
                return invalid_answer("the server ended the connection");
            return {};
        case kSettings:
        case kPing:
            if (frame.stream != 0 || (frame.type == kPing && frame.content.size() != 8))
                return invalid_answer("a damaged frame");
            if ((frame.flags & kAck) == 0)
                reply += framed(frame.type, kAck, 0, frame.type == kPing ? frame.content : std::string_view());
            return {};
        default: return {};
    }
}

// Of the answer, or with `last` of what follows the message.
Status GrpcAnswer::on_header_block(bool last) {
    if (!has_headers_) {
        std::string_view block = block_;
        while (!block.empty() && (static_cast<unsigned char>(block.front()) & 0xe0u) == 0x20u)
            block.remove_prefix(1);  // the table has no place
        if (!block.starts_with('\x88'))
            return invalid_answer("no HTTP status 200");  // the static table's ":status: 200"
        has_headers_ = true;
        if (!last) return {};
    } else if (!last) {
        return invalid_answer("headers in the middle");
    }
    std::optional<std::string> status = grpc_status(block_);
    if (!status) return invalid_answer("no status of the call");
    if (*status != "0")
        return Error{ExitCode::unreadable, fmt::format("the call failed with gRPC status {}{}", *status,
                                                       *status == "12" ? " (unknown method)" : "")};
    if (body_.size() < kMessagePrefix || body_.front() != '\0' ||
        big_endian_at(body_, 1, 4) != body_.size() - kMessagePrefix)
        return invalid_answer("not one uncompressed message");
    complete_ = true;
    return {};
}

Status GrpcAnswer::on_data(std::string_view content, bool last) {
    if (!has_headers_) return invalid_answer("content before headers");
    if (last) return invalid_answer("no status of the call");
    if (body_.size() + content.size() > most_ + kMessagePrefix)
        return invalid_answer(fmt::format("the message has more than {} bytes", most_));
    // Frames that only pad would go on for ever.
    if (content.empty() && ++control_frames_ > kMostControlFrames)
        return invalid_answer("too many frames without content");
    body_ += content;
    return {};
}

std::string_view GrpcAnswer::message() const { return std::string_view(body_).substr(kMessagePrefix); }

Result<std::string> call_grpc(const std::string& path, std::string_view method, std::size_t most, DurNs limit) {
    auto failed = [&path](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot ask {}: {}", path, why)};
    };
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) return failed("the path is too long for a socket");
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    UnixSocket open;
    const TimeNs deadline = monotonic_ns() + limit;
    // A Unix socket connects at once, or its queue is full.
    if (open.file() < 0 || connect(open.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failed(std::strerror(errno));
    std::string to_send = grpc_request(method, most + kMostFrame);
    GrpcAnswer answer(most);
    std::array<char, 65'536> piece;
    while (!answer.complete()) {
        auto left = static_cast<int>((deadline - monotonic_ns()) / kMillisecond);
        pollfd waiting{open.file(), static_cast<short>(to_send.empty() ? POLLIN : POLLIN | POLLOUT), 0};
        if (left <= 0) return failed("no complete answer in time");
        if (poll(&waiting, 1, left) <= 0) continue;
        if (!to_send.empty()) {
            ssize_t sent = send(open.file(), to_send.data(), to_send.size(), MSG_NOSIGNAL);
            if (sent > 0) to_send.erase(0, static_cast<std::size_t>(sent));
            if (sent < 0 && errno != EAGAIN && errno != EINTR && (waiting.revents & POLLIN) == 0)
                return failed(std::strerror(errno));
        }
        ssize_t got = recv(open.file(), piece.data(), piece.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got < 0) return failed(std::strerror(errno));
        if (got == 0) return failed("the connection ended before the answer");
        std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
        if (Status taken = answer.take(bytes, to_send); !taken) return failed(taken.error().message);
    }
    return std::string(answer.message());
}

}  // namespace gpuprof::cli
