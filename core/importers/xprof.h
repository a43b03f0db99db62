// Importers of what the profilers of JAX and TensorFlow (XProf) write: `*.xplane.pb`, and the `*.trace.json.gz` made from it, which has
// less. Planes are devices and the host, lines are streams and threads; what an event is, its statistics tell.
// Formats: openxla/xla, xla/tsl/profiler/protobuf/xplane.proto; xprof, trace_events_to_json.
#pragma once

#include <string_view>

#include "core/importers/source.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

int sniff_xplane(std::string_view head);
Status import_xplane(Source& source, TraceBuilder& builder);

int sniff_xprof_json(std::string_view head);
Status import_xprof_json(Source& source, TraceBuilder& builder);

}  // namespace gpuprof
