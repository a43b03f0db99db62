// What the reduction of a rank reads, by subject. A column that is missing here reads as absent, so
// tests/unit/ranks/bounded_reading_test.cc compares with whole recordings.
#include "ranks/reduce/reduce.h"

namespace gpuprof::inline ranks {

const ColumnSelection& reduced_columns() {
    static const ColumnSelection selected{
        // Who recorded what; short tables. The rank_ tables are those of a file that is a summary already.
        {"process", "*"},
        {"thread", "*"},
        {"device", "*"},
        {"meta", "*"},
        {"loss", "*"},
        {"clock", "*"},
        {"rank", "*"},
        {"rank_group", "*"},
        {"rank_step", "*"},
        {"rank_kernel", "*"},
        {"rank_collective", "*"},
        {"rank_transfer", "*"},
        {"rank_call", "*"},
        // Work of the devices, and what they were sampled for.
        {"kernel",
         "start dur process device context stream name correlation external_id grid_x grid_y grid_z block_x "
         "block_y block_z graph_id"},
        {"memcpy", "start dur process device context stream kind correlation"},
        {"memset", "start dur process device context stream correlation"},
        {"sample", "time device metric value"},
        {"cpu_sample", "time dur"},
        // Steps, and what the host did while a device was idle.
        {"api_call", "start dur thread process name correlation"},
        {"op", "start dur thread name external_id"},
        {"range", "start dur thread name domain external_id payload"},
        {"overhead", "start dur"},
        // Collectives, and the calls of a flight recorder.
        {"collective",
         "process correlation external_id name type in_elements out_elements group_size group "
         "group_description ranks communicator seq src_rank dst_rank bytes call state created_time "
         "started_time stack"},
    };
    return selected;
}

}  // namespace gpuprof::ranks
