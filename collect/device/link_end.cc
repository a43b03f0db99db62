#include "collect/device/link_end.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "collect/device/call_mark.h"
#include "collect/device/process_link.h"
#include "core/base/clock.h"

namespace gpuprof {

void begin_link_end(const char* name) {
    prctl(PR_SET_NAME, name);
    void* page = mmap(nullptr, sizeof(CallMark), PROT_READ | PROT_WRITE, MAP_SHARED, kLinkMark, 0);
    if (page != MAP_FAILED) share_call_mark(static_cast<CallMark*>(page));
}

bool send_packet(std::string_view packet) {
    return send(kLinkSocket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

std::string receive_packet(std::size_t most) {
    std::string packet(most, '\0');
    ssize_t size = 0;
    do size = recv(kLinkSocket, packet.data(), packet.size(), 0);
    while (size < 0 && errno == EINTR);
    packet.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return packet;
}

bool packet_before(TimeNs deadline) {
    constexpr DurNs kSecond = 1'000'000'000;
    for (;;) {
        DurNs left = std::max<DurNs>(deadline - monotonic_ns(), 0);
        timespec timeout{left / kSecond, left % kSecond};
        pollfd wanted{kLinkSocket, POLLIN, 0};
        int ready = ppoll(&wanted, 1, &timeout, nullptr);
        if (ready >= 0 || errno != EINTR) return ready != 0;
    }
}

}  // namespace gpuprof
