// The capture exporter with writer options chosen by the caller.
#pragma once

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/format/writer.h"
#include "core/model/trace.h"

namespace gpuprof::inline exporters {

Status write_capture(const Trace& trace, Sink& sink, WriterOptions options);

}  // namespace gpuprof::exporters
