#include "analyze/facts/host/host_copies.h"

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {

CopyPaths::CopyPaths(const Trace& trace)
    : copies_(&trace.memcpy()),
      device_to_device_(trace.strings().find("DtoD")),
      host_to_device_(trace.strings().find("HtoD")),
      device_to_host_(trace.strings().find("DtoH")),
      pageable_(trace.strings().find("pageable")),
      pinned_(trace.strings().find("pinned")) {}

HostCopies HostCopies::make(const Facts& facts) {
    HostCopies found;
    CopyPaths paths(facts.trace());
    const MemcpyTable& copies = facts.trace().memcpy();
    for (Row row = 0; row < copies.rows; ++row) {
        if (!paths.host_and_device(row)) continue;
        found.total += copies.dur[row];
        found.bytes.add(copies.bytes.value_or(row, 0));
        ++found.count;
        if (paths.to_host(row)) {
            found.to_host += copies.dur[row];
            found.bytes_to_host.add(copies.bytes.value_or(row, 0));
        }
        if (paths.pageable(row)) {
            found.pageable += copies.dur[row];
            found.pageable_bytes.add(copies.bytes.value_or(row, 0));
        } else if (paths.pinned(row)) {
            found.pinned += copies.dur[row];
        }
    }
    return found;
}

}  // namespace gpuprof::facts
