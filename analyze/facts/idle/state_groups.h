// Which states of a device vary independently enough, over the windows of a sensor, to be told apart.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::inline facts {

// `rows`: by reading, the share of each state. `min_share`: by how much of a window a state must vary on its own. Every
// state is in one group.
std::vector<std::vector<std::uint32_t>> separable_states(const std::vector<std::vector<double>>& rows,
                                                         std::size_t states, double min_share);

}  // namespace gpuprof::facts
