// What kubelet answers: frames of HTTP/2, the status of the call, and the list of devices. The bytes are put together here from the
// numbers of RFC 9113, RFC 7541 and kubelet's api.proto.
#include "cli/serve/kubelet.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/http/grpc_call.h"

namespace gpuprof {
namespace {

using namespace std::string_literals;

std::string frame(char type, char flags, char stream, const std::string& content) {
    std::string text;
    for (int shift : {16, 8, 0}) text += static_cast<char>(content.size() >> shift);
    return text + type + flags + "\0\0\0"s + stream + content;
}

const std::string kSettings = frame(4, 0, 0, "\0\5\0\0\x40\0"s), kHeaders = frame(1, 4, 1, "\x20\x88\x5f\1x"s);
const std::string kNoTrouble = "\x40\x0bgrpc-status\1"s + "0";
const std::string kTrailers = frame(1, 5, 1, kNoTrouble), kHello = "\0\0\0\0\5hello"s, kBody = frame(0, 0, 1, kHello);

struct Taken {
    std::string message = {}, reply = {}, error = {};
};
Taken taken(const std::string& bytes, std::size_t piece = 1'000'000) {
    GrpcAnswer answer(1000);
    Taken all;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        if (Status status = answer.take(std::string_view(bytes).substr(at, piece), all.reply); !status)
            return {.error = status.error().message};
    if (!answer.complete()) return {.error = "incomplete"};
    all.message = answer.message();
    return all;
}

TEST(GrpcAnswer, OfEveryForm) {
    EXPECT_EQ(taken(kSettings + kHeaders + kBody + kTrailers).message, "hello");
    EXPECT_EQ(taken(kSettings + kHeaders + frame(0, 0, 1, "\0\0\0\0\0"s) + kTrailers).message, "");
    std::string huffman = "\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f";  // "grpc-status"
    std::string all = kSettings + frame(4, 1, 0, "") + frame(8, 0, 0, "\0\1\0\0"s) + frame(6, 0, 0, "12345678") +
                      frame(1, 0, 1, "\x88") + frame(9, 0, 1, "\x5f\1") + frame(9, 4, 1, "x") +
                      frame(0, 8, 1, "\2"s + kHello.substr(0, 6) + "\0\0"s) + frame(11, 9, 3, "unknown") +
                      frame(0, 0, 1, kHello.substr(6)) + frame(7, 0, 0, "\0\0\0\1\0\0\0\0"s) +
                      frame(1, 0x2d, 1, "\1" + "\0\0\0\0\7"s + "\x40" + huffman + "\x81\x07" + "\0"s);
    for (std::size_t piece : {1'000'000, 1, 7}) {
        Taken found = taken(all, piece);
        EXPECT_EQ(found.message, "hello") << found.error;
        EXPECT_EQ(found.reply, frame(4, 1, 0, "") + frame(6, 1, 0, "12345678"));
    }
    for (std::size_t size = 0; size < all.size(); ++size) EXPECT_EQ(taken(all.substr(0, size)).error, "incomplete");
}

TEST(GrpcAnswer, WithoutTheListIsAnError) {
    std::string start = kSettings + kHeaders, many;
    auto error = [](const std::string& bytes) { return taken(bytes).error; };
    EXPECT_EQ(error(kSettings + frame(1, 5, 1, "\x88\x40\x0bgrpc-status\2" + "12"s)),
              "the call failed with gRPC status 12 (unknown method)");
    EXPECT_EQ(error(start + kBody + frame(1, 5, 1, "\x40\x0bgrpc-status\1" + "8"s)),
              "the call failed with gRPC status 8");
    for (int i = 0; i < 1100; ++i) many += frame(6, 0, 0, "12345678");
    for (const auto& [why, bytes] : std::vector<std::pair<std::string, std::string>>{
             {"not HTTP/2", "HTTP/1.1 400 Bad Request\r\n\r\n"},
             {"not HTTP/2", kHeaders},
             {"larger than 16 KiB", kSettings + frame(0, 0, 1, std::string(16'385, 'x'))},
             {"larger than 16 KiB", "\xff\xff\xff\4\0\0\0\0\0"s},
             {"HTTP status 200", kSettings + frame(1, 4, 1, "\x8d")},
             {"HTTP status 200", kSettings + frame(1, 4, 1, "")},
             {"content before headers", kSettings + kBody},
             {"more than 1000 bytes", start + frame(0, 0, 1, std::string(1006, '\0'))},
             {"no status", start + frame(0, 1, 1, kHello)},
             {"no status", start + kBody + frame(1, 5, 1, "\x40\2ok\1" + "0"s)},
             {"no status", start + kBody + frame(1, 5, 1, "\x40\x0bgrpc-status")},
             {"no status", start + kBody + frame(1, 5, 1, "\x40\x0bgrpc-status\1x")},
             {"in the middle", start + kBody + frame(1, 4, 1, kNoTrouble)},
             {"not together", kSettings + frame(1, 0, 1, "\x88") + kBody},
             {"not together", kSettings + frame(9, 4, 1, "\x88")},
             {"more padding", start + frame(0, 8, 1, "\6hello")},
             {"more padding", start + frame(0, 8, 1, "")},
             {"cut off", kSettings + frame(1, 0x24, 1, "\x88")},
             {"another stream", start + frame(0, 0, 3, kHello)},
             {"ended the call", start + frame(3, 0, 1, "\0\0\0\2"s)},
             {"ended the connection", start + frame(7, 0, 0, "\0\0\0\1\0\0\0\2"s)},
             {"ended the connection", start + frame(7, 0, 0, "\0\0\0\0\0\0\0\0"s)},
             {"a push", start + frame(5, 4, 1, "\0\0\0\2\x82"s)},
             {"damaged frame", start + frame(6, 0, 0, "1234567")},
             {"without content", start + many},
             {"one uncompressed message", start + frame(0, 0, 1, "\1\0\0\0\5hello"s) + kTrailers},
             {"one uncompressed message", start + frame(0, 0, 1, "\0\0\0\0\4hello"s) + kTrailers},
             {"one uncompressed message", start + kTrailers}})
        EXPECT_NE(error(bytes).find(why), std::string::npos) << why << ": " << error(bytes);
    for (const std::string& each : {frame(0, 0, 1, ""), frame(0, 8, 1, "\0"s), frame(9, 0, 1, "")}) {
        std::string bytes = kSettings + (each[3] == 9 ? frame(1, 0, 1, "\x88") : kHeaders);
        for (int i = 0; i < 1100; ++i) bytes += each;
        EXPECT_NE(error(bytes).find("without content"), std::string::npos);
    }
}

std::string field(char number, const std::string& content) {
    std::string size(1, static_cast<char>(content.size() & 0x7f));
    if (content.size() > 0x7f)
        size = static_cast<char>(content.size() | 0x80) + ""s + static_cast<char>(content.size() >> 7);
    return static_cast<char>(number << 3 | 2) + size + content;
}
std::string devices(const std::string& resource, const std::vector<std::string>& ids) {
    std::string text = field(1, resource);
    for (const std::string& id : ids) text += field(2, id);
    return field(2, text + field(3, field(1, "\x08\1")));
}
std::string pod(const std::string& space, const std::string& name, const std::string& container,
                const std::string& of) {
    return field(1, field(3, of + field(1, container) + "\x1a\3\1\2\3") + field(2, space) + field(1, name));
}

using Lines = std::vector<std::string>;
Lines lines_of(const PodDevices& found) {
    Lines lines;
    for (const PodDevices::Line& line : found.lines)
        lines.push_back(line.uuid + " " + line.of.space + "/" + line.of.pod + "/" + line.of.container);
    return lines;
}

TEST(PodDevices, AreThoseWithAnId) {
    const std::string one = "GPU-0a1b2c3d-1111-2222-3333-444455556666", mig = "MIG-" + one.substr(4);
    std::string list = pod("team", "train-0", "main",
                           devices("nvidia.com/gpu", {one, "GPU-two"}) + devices("example.com/nic", {"eth1"})) +
                       pod("team", "infer.x", "server", devices("nvidia.com/gpu.shared", {one + "::3", one + "::11"})) +
                       pod("team", "infer.x", "side", devices("nvidia.com/mig-1g.10gb", {mig, "MIG-GPU-x/1/0"})) +
                       pod("gke", "p", "c",
                           devices("nvidia.com/gpu", {"nvidia0", "nvidia0/gi0", one + "::", one + "::x", "GPU-\"\n"})) +
                       pod("a\"b", "p", "c", devices("nvidia.com/gpu", {one})) +
                       pod("team", "p_q", "c", devices("nvidia.com/gpu", {one})) +
                       pod("team", "p", "", devices("nvidia.com/gpu", {one})) +
                       pod("dra", "p", "c",
                           field(5, field(2, "claim") + field(4, field(2, "gpu.nvidia.com") + field(4, "gpu-0")) +
                                        field(4, field(2, "other.example.com"))));
    Result<PodDevices> found = pod_devices_in(list);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(lines_of(*found),
              (Lines{one + " team/infer.x/server", one + " team/train-0/main", "GPU-two team/train-0/main",
                     mig + " team/infer.x/side", "MIG-GPU-x/1/0 team/infer.x/side"}));
    EXPECT_EQ(found->unknown, (std::map<std::string_view, std::size_t>{{"claim", 1}, {"id", 5}, {"name", 3}}));
    EXPECT_TRUE(pod_devices_in("")->lines.empty());
    for (std::size_t size = 1; size < list.size(); ++size) static_cast<void>(pod_devices_in(list.substr(0, size)));
    EXPECT_FALSE(pod_devices_in(list.substr(0, list.size() - 1)).ok());
    EXPECT_FALSE(pod_devices_in(field(1, field(3, "\x12\x7f"))).ok());
}

TEST(PodDevices, AreBounded) {
    std::string list;
    for (int i = 0; i < 1500; ++i)
        list += pod("team", "p" + std::to_string(i), "c", devices("nvidia.com/gpu", {"GPU-one"}));
    Result<PodDevices> found = pod_devices_in(list);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->lines.size(), PodDevices::kMostLines);
    EXPECT_EQ(found->unknown.at("limit"), 1500 - PodDevices::kMostLines);
}

}  // namespace
}  // namespace gpuprof
