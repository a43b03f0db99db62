"""AMD's databases as their writers make them, with few rows: rocpd's tables by GUID below views, and rocmProfileData."""

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
