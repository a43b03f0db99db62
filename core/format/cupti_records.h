// Offsets of the fields in CUPTI's activity records. CUPTI only adds fields at the end, so one offset serves every
// version from 11.8 to 13.5. Record lengths differ; the collector finds them while walking a buffer, because the
// version does not determine them (11.8 and 12.1 both report 18, with kernels of 200 and 208 bytes). Source:
// cupti_activity.h of the packages nvidia-cuda-cupti 11.8, 12.1, 12.4, 12.8 and 13.0 to 13.5
// (tools/check_cupti_layout.py).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuprof::inline format::cupti {

enum class Kind : std::uint32_t {
    memcpy = 1,
    memset = 2,
    kernel = 3,  // one after the other; the same record
    driver = 4,
    runtime = 5,
    device = 8,
    context = 9,
    concurrent_kernel = 10,
    marker = 12,
    overhead = 17,
    memcpy_p2p = 22,
    stream = 37,
    synchronization = 38,
    external_correlation = 39,
    memory2 = 49,
    graph_trace = 51,
    jit = 52,
    device_graph_trace = 53,
    graph_host_node = 56,  // since 13.1, as the next
    host_launch = 58,
};

constexpr bool is_kernel(Kind kind) { return kind == Kind::kernel || kind == Kind::concurrent_kernel; }

// A field of type T at a fixed offset.
template <class T>
struct Field {
    using type = T;
    std::uint32_t offset;
};
// In no record, so always 0.
inline constexpr Field<std::uint64_t> kNowhere{~std::uint32_t{0}};

namespace kernel {
inline constexpr Field<std::uint16_t> registers{6};
inline constexpr Field<std::uint64_t> start{16}, end{24}, completed{32}, name{104}, queued{120}, submitted{128},
    graph_node{144};
inline constexpr Field<std::uint32_t> device{40}, context{44}, stream{48}, correlation{92}, graph{156};
inline constexpr Field<std::int32_t> grid_x{52}, grid_y{56}, grid_z{60}, block_x{64}, block_y{68}, block_z{72},
    static_shared{76}, dynamic_shared{80};
inline constexpr Field<std::uint32_t> local_per_thread{84}, cluster_x{176}, cluster_y{180}, cluster_z{184};
}  // namespace kernel
namespace memcpy {
inline constexpr Field<std::uint8_t> copy_kind{4}, src{5}, dst{6};
inline constexpr Field<std::uint64_t> bytes{8}, start{16}, end{24}, graph_node{64};
inline constexpr Field<std::uint32_t> device{32}, context{36}, stream{40}, correlation{44}, graph{72};
}  // namespace memcpy
namespace memcpy_p2p {
inline constexpr Field<std::uint64_t> bytes{8}, start{16}, end{24}, graph_node{72};
inline constexpr Field<std::uint32_t> device{32}, context{36}, stream{40}, correlation{60}, graph{80};
}  // namespace memcpy_p2p
namespace memset {
inline constexpr Field<std::uint64_t> bytes{8}, start{16}, end{24}, graph_node{64};
inline constexpr Field<std::uint32_t> device{32}, context{36}, stream{40}, correlation{44}, graph{72};
inline constexpr Field<std::uint16_t> memory_kind{50};
}  // namespace memset
namespace api {
inline constexpr Field<std::uint32_t> cbid{4}, process{24}, thread{28}, correlation{32}, error{36};
inline constexpr Field<std::uint64_t> start{8}, end{16};
}  // namespace api
namespace overhead {
inline constexpr Field<std::uint32_t> what{4}, object{8}, thread{16};  // thread: if the object is a thread (2)
inline constexpr Field<std::uint64_t> start{24}, end{32}, data{48};    // data: from CUPTI 12.4 on; the client frees it
}  // namespace overhead
namespace device {
inline constexpr Field<std::uint64_t> memory{16}, name{136};
inline constexpr Field<std::uint32_t> warp{32}, sms{44}, warps_per_sm{52}, shared_per_sm{60}, registers_per_sm{64},
    registers_per_block{68}, shared_per_block{72}, threads_per_block{76}, cc_major{104}, cc_minor{108}, id{112};
inline constexpr std::uint32_t uuid = 120;
}  // namespace device
namespace external_correlation {
inline constexpr Field<std::uint32_t> kind{4}, correlation{16};
inline constexpr Field<std::uint64_t> id{8};
}  // namespace external_correlation

namespace memory2 {
inline constexpr Field<std::uint32_t> operation{4}, memory_kind{8}, correlation{12}, device{52};
inline constexpr Field<std::uint64_t> address{16}, bytes{24}, time{32};
}  // namespace memory2
namespace jit {
inline constexpr Field<std::uint32_t> operation{8};
inline constexpr Field<std::uint64_t> start{16}, end{24};
}  // namespace jit
namespace graph_trace {
inline constexpr Field<std::uint32_t> correlation{4}, device{24}, graph{28}, context{32}, stream{36};
inline constexpr Field<std::uint64_t> start{8}, end{16};
}  // namespace graph_trace
namespace device_graph_trace {
// Under the hardware event system of Blackwell the stream and who launched it are not valid, and are not read.
inline constexpr Field<std::uint32_t> device{4}, graph{24}, context{36};
inline constexpr Field<std::uint64_t> start{8}, end{16};
}  // namespace device_graph_trace
// Functions of the host that a stream waits for.
namespace graph_host_node {
inline constexpr Field<std::uint32_t> stream{4}, context{8}, device{12}, correlation{16}, thread{36};
inline constexpr Field<std::uint64_t> start{40}, end{48};
}  // namespace graph_host_node
namespace host_launch {
inline constexpr Field<std::uint32_t> stream{4}, context{8}, device{12}, correlation{16}, thread{24};
inline constexpr Field<std::uint64_t> start{32}, end{40};
}  // namespace host_launch
namespace synchronization {
inline constexpr Field<std::uint32_t> type{4}, correlation{24}, context{28}, stream{32};
inline constexpr Field<std::uint64_t> start{8}, end{16};
}  // namespace synchronization

namespace marker {
inline constexpr Field<std::uint64_t> time{8};
}  // namespace marker

// Of callbacks about CUDA graphs: CUpti_GraphData, and those of CUpti_CallbackIdResource (cupti_callbacks.h).
struct GraphData {
    void *graph, *original_graph, *node, *original_node;
    std::uint32_t node_type;
    void *dependency, *executable;
};
enum GraphCallback : std::uint32_t {
    kGraphCreated = 9,
    kNodeCreated = 13,
    kDependencyCreated = 15,
    kDependencyDestroyed = 16,
    kExecutableStarting = 17,
    kExecutableCreated = 18,
    kNodeCloned = 20,
    kNodeUpdated = 22,  // since 12.8
};

// Offsets of the start and end times of a kind of record. Offset 0, which holds the kind, means none.
struct TimesOfKind {
    Kind kind;
    Field<std::uint64_t> at[5];
};
inline constexpr TimesOfKind kTimes[] = {
    {Kind::concurrent_kernel, {kernel::start, kernel::end, kernel::completed, kernel::queued, kernel::submitted}},
    {Kind::kernel, {kernel::start, kernel::end, kernel::completed, kernel::queued, kernel::submitted}},
    {Kind::memcpy, {memcpy::start, memcpy::end}},
    {Kind::memcpy_p2p, {memcpy_p2p::start, memcpy_p2p::end}},
    {Kind::memset, {memset::start, memset::end}},
    {Kind::driver, {api::start, api::end}},
    {Kind::runtime, {api::start, api::end}},
    {Kind::overhead, {overhead::start, overhead::end}},
    {Kind::synchronization, {synchronization::start, synchronization::end}},
    {Kind::memory2, {memory2::time}},
    {Kind::graph_trace, {graph_trace::start, graph_trace::end}},
    {Kind::jit, {jit::start, jit::end}},
    {Kind::device_graph_trace, {device_graph_trace::start, device_graph_trace::end}},
    {Kind::graph_host_node, {graph_host_node::start, graph_host_node::end}},
    {Kind::host_launch, {host_launch::start, host_launch::end}},
    {Kind::marker, {marker::time}},
};
inline constexpr const TimesOfKind* times_of(Kind kind) {
    for (const TimesOfKind& times : kTimes)
        if (times.kind == kind) return &times;
    return nullptr;
}

// One record inside a buffer. Reads past its end return 0.
class Record {
public:
    explicit Record(std::string_view bytes) : bytes_(bytes) {}
    Kind kind() const { return static_cast<Kind>(get(Field<std::uint32_t>{0})); }
    template <class T>
    T get(Field<T> field) const {
        T value{};
        if (std::size_t{field.offset} + sizeof(T) <= bytes_.size())
            std::memcpy(&value, bytes_.data() + field.offset, sizeof(T));
        return value;
    }
    std::string_view bytes() const { return bytes_; }

private:
    std::string_view bytes_;
};

}  // namespace gpuprof::format::cupti
