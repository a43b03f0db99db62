// Lags by class: what lies between an event and the event that waits for it, as the median over a recording.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// `second` of edges between ops of a stream.
inline constexpr std::uint32_t kBetweenCalls = 0, kBetweenGraphs = 1, kWithinGraph = 2;

class LagClasses {
public:
    // `first` and `second` tell classes of one kind of edge apart: kinds of op, or the name of a call.
    std::uint16_t id(EdgeKind kind, std::uint32_t first, std::uint32_t second, DurNs usual);
    // A class of one edge whose residual is too long for it.
    std::uint16_t with_extra(std::uint16_t like, DurNs extra);
    // A lag that was seen where nothing else can have delayed the event.
    void add_sample(std::uint16_t id, DurNs lag);
    // Takes the median of the samples, or the usual lag when there are too few.
    void take_medians();
    // The classes between kernels and fills of a stream, `first` being from * 4 + to.
    std::vector<std::uint16_t> between_kernels() const;
    // Those of them between nodes of one graph.
    std::vector<std::uint16_t> between_nodes() const;
    // How many samples were added to a class.
    std::uint64_t samples(std::uint16_t id) const { return id < samples_.size() ? samples_[id].seen : 0; }
    DurNs lag(std::uint16_t id) const { return lags_[id].lag; }
    const std::vector<LagClass>& lags() const { return lags_; }

private:
    struct Samples {
        std::vector<DurNs> values;
        std::uint64_t seen = 0, stride = 1;
    };
    using Key = std::tuple<EdgeKind, std::uint32_t, std::uint32_t>;
    // The keys used last, by a hash of the key: a recording has tens of millions of edges and some dozens of classes.
    struct Recent {
        Key key{};
        std::uint16_t id = 0;
        bool known = false;
    };
    std::array<Recent, 256> recent_{};
    std::map<Key, std::uint16_t> ids_;
    std::vector<LagClass> lags_;
    std::vector<Samples> samples_;
};

}  // namespace gpuprof::replay
