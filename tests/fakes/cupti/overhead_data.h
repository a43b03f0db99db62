#pragma once

#include <cstddef>

namespace fake_cupti {

// Gives a record of overhead its data; see overhead_data.cc.
void add_overhead_data(unsigned char* record, std::size_t bytes);

}  // namespace fake_cupti
