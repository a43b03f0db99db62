// One call of a gRPC server over a Unix socket: one request without content, one message in return. This is the small part of HTTP/2 that
// such a call needs: every header is sent as a literal, the server is told to keep no table of headers, and the window is as large as the
// largest answer that is accepted. The server is not trusted: frames of forbidden sizes or on other streams, pushes, answers without
// the status 0 and calls that take too long fail. No TLS, no compression, no Huffman codes but those of "grpc-status".
// Sources: RFC 9113, RFC 7541, https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

// What the server sends, in pieces of any size.
class GrpcAnswer {
public:
    // `most`: bytes of the message.
    explicit GrpcAnswer(std::size_t most) : most_(most) {}
    // Adds to `reply` what the server waits for. After an error there is nothing more to take.
    Status take(std::string_view bytes, std::string& reply);
    // Whether the answer has ended.
    bool complete() const { return complete_; }
    // The message. Only once it is complete.
    std::string_view message() const;

private:
    struct Frame {
        unsigned type = 0, flags = 0, stream = 0;
        std::string_view content;
    };
    Status on_frame(Frame frame, std::string& reply);
    Status on_header_block(bool last);
    Status on_data(std::string_view content, bool last);

    std::size_t most_, control_frames_ = 0;
    std::string rest_, block_, body_;  // bytes of an incomplete frame, of headers, of DATA frames
    bool greeted_ = false, in_block_ = false, last_block_ = false, has_headers_ = false, complete_ = false;
};

// Calls `method`, such as "/v1.PodResourcesLister/List", at the Unix socket `path`. All of it takes at most `limit`.
Result<std::string> call_grpc(const std::string& path, std::string_view method, std::size_t most, DurNs limit);

}  // namespace gpuprof::cli
