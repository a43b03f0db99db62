"""A small program that loads libgpuprof.so and calls its C interface (capi/gpuprof.h) while allocations fail, as a host's Python does.

    LD_PRELOAD=allocation_faults.so fault_host.py LIBRARY RECORDING SERIES MOST [all]

One allocation of the calls is refused, at most MOST times, evenly over all of them; with `all`, every later one too. Then the calls omit the
monitor, because the C library itself ends a process that has no memory for the variables of a new thread.
Prints `try NUMBER` before each attempt, so that a death has a number, and at the end `tries COUNT`. faults.py runs it.
"""

import ctypes
import sys

NO_MEMORY = 6  # core/base/exit_code.h: internal


class MonitorOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("devices", ctypes.c_char_p), ("backend", ctypes.c_char_p), ("interval_ns", ctypes.c_int64),
                ("warmup_ns", ctypes.c_int64), ("max_samples", ctypes.c_uint64), ("strict", ctypes.c_int32), ("store_samples", ctypes.c_int32),
                ("start_timeout_ns", ctypes.c_int64), ("capture", ctypes.c_char_p)]


class Host:
    def __init__(self, library, recording, series, monitor):
        self.monitor = monitor
        self.library, self.faults = ctypes.CDLL(library), ctypes.CDLL(None)
        self.recording, self.backend = recording.encode(), f"replay:{series}@max".encode()
        for name in ("last_error", "trace_json", "table_json", "monitor_summary_json", "summary_text", "bench_statistics_json", "command_text"):
            getattr(self.library, f"gpuprof_{name}").restype = ctypes.c_char_p
        self.faults.allocation_faults_end.restype = ctypes.c_long
        self.samples = (ctypes.c_double * 20)(*range(1, 21))
        self.failed = 0

    def code(self, name, *arguments):
        """Whether it succeeded; a failure must be one of memory."""
        code = getattr(self.library, f"gpuprof_{name}")(*arguments)
        return code == 0 or self._refuse(name, code)

    def text(self, name, *arguments):
        return getattr(self.library, f"gpuprof_{name}")(*arguments) or self._refuse(name, NO_MEMORY)

    def _refuse(self, name, code):
        said = (self.library.gpuprof_last_error() or b"").decode()
        if not ("memory" in said or "allocate" in said or said == "" and code == 0):
            print(f"wrong: {name} returned {code} and said '{said}'", flush=True)
        self.failed += 1
        return False

    def calls(self):
        self.read()
        if self.monitor:
            self.sample()
        self.text("bench_statistics_json", self.samples, 20)
        self.text("command_text", (ctypes.c_char_p * 2)(b"train.py", b"--token=abc"), ctypes.c_size_t(2))

    def read(self):
        trace, table = ctypes.c_void_p(), ctypes.c_void_p()
        if self.code("trace_open", (ctypes.c_char_p * 1)(self.recording), ctypes.c_size_t(1), ctypes.byref(trace)):
            self.text("trace_json", trace)
            for name, arguments in (("trace_table", (b"kernels",)), ("trace_sql", (b"select * from kernel order by name", ctypes.c_uint64(0), ctypes.c_double(0)))):
                if self.code(name, trace, *arguments, ctypes.byref(table)):
                    self.text("table_json", table)
                    self.library.gpuprof_table_free(table)
                table = ctypes.c_void_p()
        self.library.gpuprof_trace_free(trace)

    def sample(self):
        monitor = ctypes.c_void_p()
        options = MonitorOptions(size=ctypes.sizeof(MonitorOptions), backend=self.backend, store_samples=1, start_timeout_ns=10**9)
        if self.code("monitor_open", ctypes.byref(options), ctypes.byref(monitor)):
            self.code("monitor_start", monitor)
            self.code("monitor_stop", monitor)
            self.text("monitor_summary_json", monitor, ctypes.c_size_t(0))
        self.library.gpuprof_monitor_free(monitor)

    def attempt(self, number, every):
        """How many allocations the calls made, this one refused; 0: none."""
        print(f"try {number}", flush=True)
        self.faults.allocation_faults_begin(ctypes.c_long(number), int(every))
        try:
            self.calls()
        except MemoryError:
            self.failed += 1  # Python's own
        return self.faults.allocation_faults_end()


def main():
    most, every = int(sys.argv[4]), sys.argv[5:] == ["all"]
    host = Host(*sys.argv[1:4], monitor=not every)
    host.calls()  # loads what is loaded once
    count = host.attempt(0, False)
    tries = min(most, count)
    for i in range(tries):
        host.attempt(1 + i * count // tries, every)
    host.failed = 0
    host.attempt(0, False)
    if host.failed:
        print("wrong: calls fail when nothing fails any more", flush=True)
    print(f"tries {tries}", flush=True)


if __name__ == "__main__":
    main()
