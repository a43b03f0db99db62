// Lines of each library as it is documented to write them. Origin, read on 2026-11-24:
//   cuDNN 7    docs.nvidia.com, cuDNN developer guide, API logging; times as in anonipdps20.netlify.app/docs/introspection/cudnn_log
//   cuDNN 9    docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html
//   cuBLAS     a log of cuBLAS 13.4.1, github.com/surya-mp/go-peft (lora-cublas.log)
//   cuBLASLt   a log of 2023-04-07 with CUBLASLT_LOG_LEVEL=4 on a TensorFlow program; the time was shortened to the format of the docs
//   NCCL       docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/logging.html; INFO lines: NCCL 2.27.5
//   PyTorch    the format of TorchLogsFormatter in torch/_logging/_internal.py
#include "collect/logs/log_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/schema/debug_env.h"

namespace gpuprof::logs {
namespace {

TimeNs utc(int year, int month, int day, int hour, int minute, int second) {
    std::tm parts{};
    parts.tm_year = year - 1900, parts.tm_mon = month - 1, parts.tm_mday = day;
    parts.tm_hour = hour, parts.tm_min = minute, parts.tm_sec = second;
    return TimeNs{timegm(&parts)} * kSecond;
}

std::vector<LogLine> parse(Library library, const std::string& text, TimeNs around) {
    // Wide enough for any time zone of the machine that runs this; LocalOrUniversal has a narrow one.
    LogParser parser(library, {around - 15 * 3600 * kSecond, around + 15 * 3600 * kSecond});
    std::vector<LogLine> lines;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        if (std::optional<LogLine> line = parser.feed(std::string_view(text).substr(begin, end - begin)))
            lines.push_back(*line);
    }
    if (std::optional<LogLine> line = parser.finish()) lines.push_back(*line);
    return lines;
}

class LogParserTest : public testing::Test {
protected:
    void SetUp() override {
        setenv("TZ", "UTC", 1);
        tzset();
    }
};

TEST_F(LogParserTest, Cudnn7) {
    TimeNs time = utc(2019, 6, 4, 18, 9, 15);
    auto lines = parse(Library::cudnn,
                       "I! CuDNN (v7501) function cudnnConvolutionForward() called:\n"
                       "i!     handle: type=cudnnHandle_t; streamId=0x7fa5880083d0;\n"
                       "i!     algo: type=cudnnConvolutionFwdAlgo_t; val=CUDNN_CONVOLUTION_FWD_ALGO_GEMM (2);\n"
                       "i! Time: 2019-06-04T18:09:15.727680 (0d+0h+0m+5s since start)\n"
                       "i! Process=18690; Thread=18798; GPU=0; Handle=0x7fa5880ddba0; StreamId=0x7fa5880083d0.\n",
                       time);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].time, time + 727'680'000);
    EXPECT_EQ(lines[0].pid, 18690);
    EXPECT_EQ(lines[0].tid, 18798);
    EXPECT_EQ(lines[0].level, debug_env::kInfo);
    EXPECT_NE(lines[0].text.find("cudnnConvolutionForward"), std::string::npos);
    EXPECT_NE(lines[0].text.find("FWD_ALGO_GEMM"), std::string::npos);
}

TEST_F(LogParserTest, Cudnn9) {
    TimeNs time = utc(2024, 1, 21, 14, 14, 21);
    auto lines = parse(Library::cudnn,
                       "cuDNN (v90000) function cudnnSetActivationDescriptor() called:\n"
                       "    mode: type=cudnnActivationMode_t; val=CUDNN_ACTIVATION_RELU (1);\n"
                       "Time: 2024-01-21T14:14:21.366171 (0d+0h+1m+5s since start)\n"
                       "Process: 21264, Thread: 21265, cudnn_handle: NULL, cudnn_stream: NULL.\n"
                       "W! CuDNN (v90100 17) function cudnnBackendFinalize() called:\n"
                       "w!     Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: engine.finalize()\n",
                       time);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].time, time + 366'171'000);
    EXPECT_EQ(lines[0].pid, 21264);
    EXPECT_EQ(lines[0].tid, 21265);
    EXPECT_EQ(lines[1].level, debug_env::kWarning);
    EXPECT_FALSE(lines[1].time);
    EXPECT_NE(lines[1].text.find("Reason: engine.finalize()"), std::string::npos);
}

TEST_F(LogParserTest, Cublas) {
    TimeNs time = utc(2026, 9, 11, 18, 38, 49);
    auto lines = parse(Library::cublas,
                       "I! cuBLAS (v13.4.1) function cublasStatus_t cublasCreate_v2(cublasContext**) called:\n"
                       "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x2d3af900)\n"
                       "i! Time: 2026-09-11T18:38:49 elapsed from start 0.016667 minutes or 1.000000 seconds\n"
                       "i!Process=14102; Thread=129943171284992; GPU=0; Handle=POINTER (IN HEX:0x(nil))\n"
                       "i! COMPILED WITH: GNU GCC/G++ / 8.5.0 20210514 (Red Hat 8.5.0-26)\n",
                       time);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].time, time);
    EXPECT_EQ(lines[0].pid, 14102);
    EXPECT_FALSE(lines[0].tid);  // pthread_self() is not an id of the system
}

TEST_F(LogParserTest, CublasLt) {
    TimeNs time = utc(2023, 4, 7, 4, 57, 13);
    auto lines =
        parse(Library::cublaslt,
              "[2023-04-07 04:57:13][cublasLt][8291][Trace][cublasLtMatmul] A=0X7F8EB6002300 Adesc=[type=R_16F]\n"
              "[2023-04-07 04:57:13][cublasLt][8291][Error][cublasLtMatmul] Failed\n"
              "not a line of cuBLASLt\n",
              time);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].time, time);
    EXPECT_EQ(lines[0].pid, 8291);
    EXPECT_EQ(lines[0].text, "[Trace][cublasLtMatmul] A=0X7F8EB6002300 Adesc=[type=R_16F]");
    EXPECT_EQ(lines[1].level, debug_env::kError);
    EXPECT_EQ(lines[2].text, "not a line of cuBLASLt");
}

TEST_F(LogParserTest, Nccl) {
    TimeNs time = utc(2026, 5, 5, 6, 16, 47);
    auto lines = parse(Library::nccl,
                       "NCCL version 2.30.3+cuda13.0\n"
                       "[2026-05-05 06:16:47] node-01:189884:189885 [3] plugin/net.cc:3 NCCL WARN no plugin\n"
                       "husein-MS-7D31:1463326:1463512 [0] NCCL INFO NET/IB : No device found.\n"
                       "[" +
                           std::to_string(time / kSecond) +
                           ".250000] node-01:189884:189885 [3] NCCL INFO Using network Socket\n",
                       time);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0].text, "NCCL version 2.30.3+cuda13.0");
    EXPECT_EQ(lines[1].time, time);
    EXPECT_EQ(lines[1].pid, 189884);
    EXPECT_EQ(lines[1].tid, 189885);
    EXPECT_EQ(lines[1].level, debug_env::kWarning);
    EXPECT_EQ(lines[1].text, "no plugin");
    EXPECT_FALSE(lines[2].time);
    EXPECT_EQ(lines[2].tid, 1463512);
    EXPECT_EQ(lines[2].text, "NET/IB : No device found.");
    EXPECT_EQ(lines[3].time, time + 250'000'000);
    EXPECT_EQ(lines[3].text, "Using network Socket");
}

TEST_F(LogParserTest, Torch) {
    TimeNs time = utc(2026, 4, 1, 17, 3, 42);
    auto lines = parse(Library::torch,
                       "V0401 17:03:42.123456 12345 torch/_dynamo/symbolic_convert.py:12] [0/0] Graph break: print\n"
                       "  File \"x.py\", line 3\n"
                       "W0401 17:03:43.000000 12345 torch/_dynamo/x.py:1] [1/8] recompile limit\n",
                       time);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].time, time + 123'456'000);
    EXPECT_EQ(lines[0].pid, 12345);
    EXPECT_NE(lines[0].text.find("Graph break: print; File \"x.py\", line 3"), std::string::npos);
    EXPECT_EQ(lines[1].level, debug_env::kWarning);
}

TEST_F(LogParserTest, LocalOrUniversal) {
    setenv("TZ", "XYZ-3", 1);  // three hours east
    tzset();
    TimeNs time = utc(2023, 4, 7, 4, 57, 13);
    LogWindow window{time - kSecond, time + kSecond};
    for (const char* written : {"[2023-04-07 04:57:13]", "[2023-04-07 07:57:13]"}) {
        LogParser parser(Library::cublaslt, window);
        parser.feed(std::string(written) + "[cublasLt][1][Trace] x");
        EXPECT_EQ(parser.finish()->time, time) << written;
    }
    LogParser parser(Library::cublaslt, window);
    parser.feed("[2023-04-07 05:57:13][cublasLt][1][Trace] x");
    EXPECT_FALSE(parser.finish()->time);  // outside the recording
}

TEST_F(LogParserTest, HostileLines) {
    const std::vector<std::string> hostile = {"",
                                              "[",
                                              "]",
                                              "[]",
                                              "[][][]",
                                              "::::",
                                              "NCCL ",
                                              ": NCCL INFO ",
                                              "a:-1:-1 [0] NCCL WARN ",
                                              "I!",
                                              "i!",
                                              "W",
                                              "V",
                                              "V0401 ",
                                              "Time: ",
                                              "i! Time: 9999-99-99T99:99:99",
                                              "i! Process=;Thread=",
                                              "a:99999999999999999999:1 [0] NCCL INFO x",
                                              "[99999999999999999999.9] a:1:1 [0] NCCL INFO x",
                                              "V9999 99:99:99.9 1 x] y",
                                              std::string("\0\1\2\377", 4),
                                              std::string(10'000, '\xff'),
                                              std::string(10'000, '[')};
    for (Library library : {Library::cudnn, Library::cublas, Library::cublaslt, Library::nccl, Library::torch}) {
        LogParser parser(library, {0, utc(2026, 1, 1, 0, 0, 0)});
        for (const std::string& before : hostile) {
            for (const std::string& line : hostile) {
                for (const std::string& fed : {before, line}) {
                    std::optional<LogLine> done = parser.feed(fed);
                    EXPECT_LE(done ? done->text.size() : 0, 1000U);
                }
            }
        }
    }
}

}  // namespace
}  // namespace gpuprof::logs
