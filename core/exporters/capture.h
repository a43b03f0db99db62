// The capture exporter with its writer's options in the caller's hand.
#pragma once

#include "core/base/result.h"
#include "core/base/sink.h"
#include "core/format/writer.h"
#include "core/model/trace.h"

namespace gpuprof {

Status write_capture(const Trace& trace, Sink& sink, WriterOptions options);

}  // namespace gpuprof
