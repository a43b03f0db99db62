"""AMD's files as their writers make them, with few rows: rocpd's tables by GUID below views and the same run as JSON, rocmProfileData, and the analysis of rocprof-compute."""

import json
import sqlite3
from contextlib import closing

SECRET = "not-a-secret-but-must-not-be-shown"
GUID = "_00000000_0001_7001_8001_0000000000{:02x}"
TABLES = {
    "metadata": "id INTEGER PRIMARY KEY, tag, value",
    "string": "id INTEGER PRIMARY KEY, guid, string",
    "info_node": "id INTEGER PRIMARY KEY, machine_id, hostname",
    "info_process": "id INTEGER PRIMARY KEY, nid, ppid, pid, command, environment",
    "info_thread": "id INTEGER PRIMARY KEY, nid, pid, tid, name",
    "info_agent": "id INTEGER PRIMARY KEY, nid, pid, type, absolute_index, type_index, name, product_name, extdata",
    "info_kernel_symbol": "id INTEGER PRIMARY KEY, kernel_name, display_name, arch_vgpr_count, accum_vgpr_count",
    "info_pmc": "id INTEGER PRIMARY KEY, agent_id, name, symbol, units",
    "track": "id INTEGER PRIMARY KEY, pid, tid, name_id",
    "event": "id INTEGER PRIMARY KEY, category_id, stack_id, parent_stack_id, correlation_id, extdata",
    "pmc_event": "id INTEGER PRIMARY KEY, event_id, pmc_id, value",
    "region": "id INTEGER PRIMARY KEY, pid, tid, start, end, name_id, event_id",
    "sample": "id INTEGER PRIMARY KEY, track_id, timestamp, event_id",
    "kernel_dispatch": "id INTEGER PRIMARY KEY, pid, tid, agent_id, kernel_id, queue_id, stream_id, start, end, private_segment_size, "
                       "group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, "
                       "graph_exec_id, graph_node_id, event_id",
    "memory_copy": "id INTEGER PRIMARY KEY, pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, event_id",
    "memory_allocate": "id INTEGER PRIMARY KEY, pid, tid, agent_id, type, level, start, end, address, size, event_id",
}
STRINGS = ["HIP_RUNTIME_API_EXT", "hipLaunchKernel", "KERNEL_DISPATCH", "hipMemcpyAsync", "MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE",
           "MARKER_CORE_RANGE_API", "roctxThreadRangeA", "MARKER_CORE_API"]
FACTS = {"cu_count": 256, "wave_front_size": 64, "max_waves_per_cu": 32, "workgroup_max_size": 1024, "lds_size_in_kb": 160, "mem_banks": [{"size_in_bytes": 1 << 38}]}


def rocpd(file, guids=1, copies=True, schema="3", views=True):
    """Three kernels on stream 5 (call, dispatch and counters tied by stack_id), one copy, one allocation, a range and a mark."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA page_size = 512")
        for number in range(guids):
            guid = GUID.format(number + 1)

            def insert(table, *rows, guid=guid):
                for row in rows:
                    database.execute(f"INSERT INTO rocpd_{table}{guid} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))

            for table, columns in TABLES.items():
                database.execute(f"CREATE TABLE rocpd_{table}{guid} ({columns})")
                if views and number == 0:
                    database.execute(f"CREATE VIEW rocpd_{table} AS SELECT * FROM rocpd_{table}{guid}")
            text = {string: n + 1 for n, string in enumerate(STRINGS)}
            insert("metadata", {"tag": "schema_version", "value": schema}, {"tag": "guid", "value": guid})
            insert("string", *({"string": string} for string in STRINGS))
            insert("info_node", {"id": 7, "machine_id": "m", "hostname": "host"})
            insert("info_process", {"id": 908, "nid": 7, "pid": 908, "command": "python train.py", "environment": json.dumps({"API_TOKEN": SECRET})})
            insert("info_thread", {"id": 908, "pid": 908, "tid": 909, "name": "main"})
            insert("info_agent", {"id": 0, "type": "CPU", "absolute_index": 0, "type_index": 0, "name": "EPYC", "extdata": "{}"},
                   *({"id": gpu + 1, "type": "GPU", "absolute_index": gpu + 1, "type_index": gpu, "name": "gfx942", "product_name": "AMD Instinct MI300X", "extdata": json.dumps(FACTS)}
                     for gpu in range(2)))
            insert("info_kernel_symbol", {"id": 8, "kernel_name": "_Z4copyv.kd", "display_name": "copy()", "arch_vgpr_count": 24}, {"id": 9, "kernel_name": "plain.kd"})
            insert("info_pmc", {"id": 11, "agent_id": 2, "name": "SQ_WAVES", "symbol": "SQ_WAVES"}, {"id": 12, "agent_id": 2, "name": "Hits", "symbol": "TCC_HIT_sum", "units": "hits"})
            insert("track", {"id": 1, "pid": 908, "tid": 908, "name_id": text["MARKER_CORE_API"]})
            for kernel in range(3):
                start = 1_000_000 + kernel * 10_000
                insert("event", {"id": 2 * kernel + 1, "category_id": text["HIP_RUNTIME_API_EXT"], "stack_id": kernel + 1, "correlation_id": 0, "extdata": "{}"},
                       {"id": 2 * kernel + 2, "category_id": text["KERNEL_DISPATCH"], "stack_id": kernel + 1, "correlation_id": 0, "extdata": "{}"})
                insert("region", {"pid": 908, "tid": 908, "start": start - 3_000, "end": start - 1_000, "name_id": text["hipLaunchKernel"], "event_id": 2 * kernel + 1})
                insert("kernel_dispatch", {"pid": 908, "tid": 908, "agent_id": 2, "kernel_id": 8 + kernel // 2, "queue_id": 16, "stream_id": 5, "start": start, "end": start + 4_001,
                                           "private_segment_size": 16, "group_segment_size": 512, "workgroup_size_x": 64, "workgroup_size_y": 2, "workgroup_size_z": 1,
                                           "grid_size_x": 1000, "grid_size_y": 4, "grid_size_z": 1, "graph_exec_id": 3 if kernel == 2 else None,
                                           "graph_node_id": 30 if kernel == 2 else None, "event_id": 2 * kernel + 2})
            insert("pmc_event", *({"event_id": 2, "pmc_id": 11, "value": value} for value in (100.0, 101.0, 102.5)), {"event_id": 2, "pmc_id": 12, "value": 0.5})
            insert("event", {"id": 10, "category_id": text["HIP_RUNTIME_API_EXT"], "stack_id": 50, "extdata": "{}"}, {"id": 11, "category_id": text["MEMORY_COPY"], "stack_id": 50, "extdata": "{}"},
                   {"id": 12, "category_id": text["MARKER_CORE_RANGE_API"], "stack_id": 60, "extdata": '{"message": "forward"}'},
                   {"id": 13, "category_id": text["MARKER_CORE_API"], "stack_id": 61, "extdata": '{"message": "checkpoint"}'})
            insert("region", {"pid": 908, "tid": 908, "start": 980_000, "end": 990_000, "name_id": text["hipMemcpyAsync"], "event_id": 10},
                   {"pid": 908, "tid": 908, "start": 970_000, "end": 1_050_000, "name_id": text["roctxThreadRangeA"], "event_id": 12})
            insert("sample", {"track_id": 1, "timestamp": 1_005_000, "event_id": 13})
            if copies:
                insert("memory_copy", {"pid": 908, "tid": 908, "start": 985_000, "end": 988_000, "name_id": text["MEMORY_COPY_HOST_TO_DEVICE"], "dst_agent_id": 2, "src_agent_id": 0,
                                       "size": 4096, "stream_id": 5, "event_id": 11})
            insert("memory_allocate", {"pid": 908, "tid": 908, "agent_id": 2, "type": "ALLOC", "level": "REAL", "start": 960_000, "end": 965_000, "address": 4096, "size": 1 << 20},
                   {"pid": 908, "tid": 908, "type": "FREE", "level": "REAL", "start": 1_060_000, "end": 1_061_000, "address": 4096, "size": 0},
                   {"pid": 908, "tid": 908, "agent_id": 2, "type": "ALLOC", "level": "SCRATCH", "start": 961_000, "end": 965_000, "address": 8192, "size": 77})
        database.commit()
    return file


def rpd(file):
    """A kernel launched in blocks, one launched in work-items, a graph of two kernels, a copy, a fill, a range and a clock."""
    with closing(sqlite3.connect(file)) as database:
        database.executescript("""
            PRAGMA page_size = 512;
            CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag, value);
            CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string);
            CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, start, end, description_id, opType_id);
            CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);
            CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id, op_id);
            CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX, gridY, gridZ, workgroupX, workgroupY, workgroupZ, groupSegmentSize, privateSegmentSize);
            CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size, kind);
            CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType, deviceId, monitorType, start, end, value);
            INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '2');
            INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipExtModuleLaunchKernel'), (4, 'hipGraphLaunch'), (5, 'hipMemcpyAsync'), (6, 'hipMemsetAsync'),
                (7, 'UserMarker'), (8, 'aten::mm'), (9, 'KernelExecution'), (10, 'Task'), (11, 'CopyDeviceToHost'), (12, 'FillBuffer'), (13, 'gemm'), (14, 'add');
            INSERT INTO rocpd_api VALUES (1, 70, 71, 100, 200, 2, 1), (2, 70, 71, 300, 400, 3, 1), (3, 70, 71, 500, 600, 4, 1), (4, 70, 71, 700, 800, 5, 1), (5, 70, 71, 900, 1000, 6, 1),
                (6, 70, 71, 50, 2000, 7, 8);
            INSERT INTO rocpd_op VALUES (1, 2, 4, 150, 250, 13, 9), (2, 2, 4, 350, 451, 14, 9), (3, 2, 4, 550, 650, 13, 10), (4, 2, 4, 650, 750, 14, 10), (5, 2, 4, 760, 850, 1, 11),
                (6, 2, 4, 950, 1050, 1, 12);
            INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (1, 1), (2, 2), (3, 3), (3, 4), (4, 5), (5, 6);
            INSERT INTO rocpd_kernelapi VALUES (1, 7, 2, 1, 256, 1, 1, 64, 0), (2, 1000, 1, 1, 256, 1, 1, 0, 0);
            INSERT INTO rocpd_copyapi VALUES (4, 4096, 2);
            INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, end, value) VALUES ('gpu', 2, 'sclk', 100, 900, '1700');
        """)
    return file


def rocprof_json(traced=True):
    """The run of rocpd() as rocprofv3 writes it as JSON; `traced`: kernels are listed, not only counted."""
    kinds = ["NONE", "HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH", "MEMORY_COPY", "MARKER_CORE_RANGE_API", "MARKER_CORE_API", "MEMORY_ALLOCATION"]
    operations = {"HIP_RUNTIME_API_EXT": ["hipLaunchKernel", "hipMemcpyAsync"], "MARKER_CORE_RANGE_API": ["roctxMarkA", "roctxThreadRangeA"], "MARKER_CORE_API": ["roctxMarkA"],
                  "MEMORY_COPY": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE"],
                  "MEMORY_ALLOCATION": ["MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE"]}

    def record(kind, operation, start, end, correlation, **more):
        return {"size": 1, "kind": kinds.index(kind), "operation": operation, "thread_id": 909, "correlation_id": {"internal": correlation, "external": 0},
                "start_timestamp": start, "end_timestamp": end, **more}

    agents = [{"id": {"handle": 100}, "type": 1, "node_id": 0, "logical_node_type_id": 0, "name": "EPYC", "product_name": "EPYC"},
              *({"id": {"handle": 101 + gpu}, "type": 2, "node_id": gpu + 1, "logical_node_type_id": gpu, "name": "gfx942", "product_name": "AMD Instinct MI300X", **FACTS} for gpu in range(2))]
    kernels, calls = [], []
    for kernel in range(3):
        start = 1_000_000 + kernel * 10_000
        info = {"agent_id": {"handle": 102}, "queue_id": {"handle": 16}, "kernel_id": 8 + kernel // 2, "dispatch_id": kernel + 1, "private_segment_size": 16, "group_segment_size": 512,
                "workgroup_size": {"x": 64, "y": 2, "z": 1}, "grid_size": {"x": 1000, "y": 4, "z": 1}}
        graph = {"graph_exec_id": 3, "graph_node_id": 30} if kernel == 2 else {}
        kernels.append(record("KERNEL_DISPATCH", 2, start, start + 4_001, kernel + 1, dispatch_info=info, stream_id={"handle": 5}, **graph))
        calls.append(record("HIP_RUNTIME_API_EXT", 0, start - 3_000, start - 1_000, kernel + 1, args=[{"name": "stream", "value": SECRET}]))
    calls.append(record("HIP_RUNTIME_API_EXT", 1, 980_000, 990_000, 50))
    counted = {"thread_id": 909, "dispatch_data": kernels[0], "stream_id": {"handle": 5},
               "records": [*({"counter_id": {"handle": 11}, "value": value} for value in (100.0, 101.0, 102.5)), {"counter_id": {"handle": 12}, "value": 0.5}]}
    copy = record("MEMORY_COPY", 2, 985_000, 988_000, 50, dst_agent_id={"handle": 102}, src_agent_id={"handle": 100}, bytes=4096, stream_id={"handle": 5})
    memory = [record("MEMORY_ALLOCATION", 1, 960_000, 965_000, 70, agent_id={"handle": 102}, address="0x0000000000001000", allocation_size=1 << 20),
              record("MEMORY_ALLOCATION", 3, 1_060_000, 1_061_000, 71, agent_id={"handle": 0}, address="0x0000000000001000", allocation_size=0)]
    markers = [record("MARKER_CORE_RANGE_API", 1, 970_000, 1_050_000, 60), record("MARKER_CORE_API", 0, 1_005_000, 1_005_000, 61)]
    return {"rocprofiler-sdk-tool": [{
        "metadata": {"node": {"hostname": "host"}, "pid": 908, "command": ["python", "train.py"]}, "agents": agents,
        "counters": [{"id": {"handle": 11}, "name": "SQ_WAVES"}, {"id": {"handle": 12}, "name": "TCC_HIT_sum"}],
        "strings": {"buffer_records": [{"kind": kind, "operations": operations.get(kind, [])} for kind in kinds],
                    "marker_api": [{"key": 60, "value": "forward"}, {"key": 61, "value": "checkpoint"}]},
        "kernel_symbols": [{"kernel_id": 8, "kernel_name": "_Z4copyv.kd", "formatted_kernel_name": "copy()", "arch_vgpr_count": 24},
                           {"kernel_id": 9, "kernel_name": "plain.kd", "formatted_kernel_name": "plain"}],
        "callback_records": {"counter_collection": [counted]},
        "buffer_records": {"kernel_dispatch": kernels if traced else [], "hip_api": calls, "hsa_api": [], "marker_api": markers, "memory_copy": [copy], "memory_allocation": memory,
                           "scratch_memory": [{"size": 1}], "kfd": [{"size": 1}, {"size": 1}]}}]}


def compute(file, values="compute_kernel_metric_value"):
    """Two kernels of one workload, three dispatches, two metrics of the first kernel, one of which has a share of its peak."""
    with closing(sqlite3.connect(file)) as database:
        database.executescript(f"""
            PRAGMA page_size = 512;
            CREATE TABLE compute_workload (workload_id INTEGER PRIMARY KEY, name, sub_name, sys_info_extdata JSON);
            CREATE TABLE compute_metric_definition (metric_uuid INTEGER PRIMARY KEY, workload_id, name, metric_id, description, table_name, sub_table_name, unit);
            CREATE TABLE compute_kernel (kernel_uuid INTEGER PRIMARY KEY, workload_id, kernel_name);
            CREATE TABLE compute_dispatch (dispatch_uuid INTEGER PRIMARY KEY, kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp);
            CREATE TABLE {values} (value_uuid INTEGER PRIMARY KEY, metric_uuid, kernel_uuid, value_name, value);
            CREATE TABLE compute_workload_metric_value (value_uuid INTEGER PRIMARY KEY, metric_uuid, workload_id, value_name, value);
            CREATE VIEW compute_kernel_view AS SELECT * FROM compute_kernel;
            INSERT INTO compute_workload VALUES (1, 'vcopy', 'MI300X', '{json.dumps({"gpu_model": "MI300X", "hostname": SECRET})}');
            INSERT INTO compute_metric_definition VALUES (5, 1, 'VALU FLOPs', '2.1.0', '', 'Speed-of-Light', 'Speed-of-Light', 'GFLOP'), (6, 1, 'Wavefronts Num', '7.1.0', '', 'Wavefront', 'Launch', NULL);
            INSERT INTO compute_kernel VALUES (1, 1, 'vecCopy(double*)'), (2, 1, 'fill(int)');
            INSERT INTO compute_dispatch VALUES (1, 1, 0, 2, 1000, 3000), (2, 1, 2, 2, 9000, 11500), (3, 2, 1, 2, 4000, 4100);
            INSERT INTO {values} VALUES (1, 5, 1, 'avg', 12.5), (2, 5, 1, 'Peak', 100.0), (3, 5, 1, 'Pct of Peak', 12.5), (4, 6, 1, 'min', 3.0), (5, 6, 2, 'avg', 64.0), (6, 5, 2, 'avg', NULL);
            INSERT INTO compute_workload_metric_value VALUES (1, 5, 1, 'avg', 12.5);
        """)
    return file
