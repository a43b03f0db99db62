// The log lines of GPU libraries, as their documentation shows them:
//
//   cuDNN     I! CuDNN (v7501) function cudnnFind...() called:    a call, a warning (W!) or an error (E!)
//             i!     mode: type=cudnnActivationMode_t; val=...;   its arguments
//             i! Time: 2019-06-04T18:09:15.727680 (0d+0h+...)     the last two lines say when and where
//             i! Process=18690; Thread=18798; GPU=0; ...
//             cuDNN 9 writes the same without the marks, and "Process: 21264, Thread: 21264".
//   cuBLAS    as cuDNN, but with pthread_self() as the thread, which is not an id of the system
//   cuBLASLt  [2023-04-07 04:57:13][cublasLt][8291][Trace][cublasLtMatmul] A=0X7F... Adesc=[...] ...
//   NCCL      [2026-05-05 06:16:47] node:PID:TID [0] file.cc:12 NCCL WARN text; without a time before NCCL 2.26
//   PyTorch   V0401 17:03:42.123456 12345 torch/_dynamo/x.py:12] [0/0] text; lines without this start continue the last
//
// A line that fits none of these is kept as text of the library. Parsing never fails.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace gpuprof::logs {

enum class Library { cudnn, cublas, cublaslt, nccl, torch };
// The group of --debug-env that it belongs to: cuBLASLt belongs to cublas.
std::string_view name_of(Library library);

struct LogLine {
    std::optional<TimeNs> time;  // as the library wrote it; absent: it wrote none
    std::optional<std::int64_t> pid, tid;
    std::string_view level;  // core/schema/debug_env.h
    std::string text;        // without time, process and level
};

// When the lines can have been written: a time outside is not believed.
struct LogWindow {
    TimeNs from = 0, to = 0;
};

class LogParser {
public:
    LogParser(Library library, LogWindow window) : library_(library), window_(window) {}
    // Takes one line without its end. Returns an entry that is complete before this line, if there is one.
    std::optional<LogLine> feed(std::string_view line);
    // The entry that has no line after it.
    std::optional<LogLine> finish();

private:
    std::optional<LogLine> begin(LogLine next);
    std::optional<LogLine> feed_block(std::string_view line);
    std::optional<LogLine> feed_torch(std::string_view line);

    Library library_;
    LogWindow window_;
    std::optional<LogLine> open_;
};

}  // namespace gpuprof::logs
