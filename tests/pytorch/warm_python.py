"""An interpreter that has imported PyTorch already, for jobs of many ranks, of which each would import it for seconds.

    warm_python.py serve SOCKET                     imports PyTorch, and forks a process for each program
    warm_python.py run SOCKET [-u] FILE [ARGUMENT...]   runs a program there, with this environment, folder and streams; exits as it does

`python_exec` makes the command that torchrun takes for Python (PYTHON_EXEC). What starts with a library of the recorder cannot run here.
"""

import json
import os
import runpy
import signal
import socket
import sys
import traceback
from pathlib import Path


def run_program(connection):
    message, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    asked = json.loads(message)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv = asked["words"]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    status = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush(), sys.stderr.flush()
    connection.send(bytes([status]))
    os._exit(status)


def serve(place):
    import nvtx  # noqa: F401
    import torch  # noqa: F401
    import torch._dynamo  # noqa: F401  (the first DistributedDataParallel imports it)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place + ".part")
        server.listen()
        os.rename(place + ".part", place)
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_program(connection)
            connection.close()


def run(place, *words):
    asked = {"words": [word for word in words if word != "-u"], "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
        said = connection.recv(1)
    sys.exit(said[0] if said else 1)


def python_exec(folder, python):
    """Write the command into a folder; return its path and that of the socket."""
    command, place = folder / "warm-python", str(folder / "socket")
    command.write_text(f'#!/bin/sh\nexec "{python}" -S "{Path(__file__).resolve()}" run "{place}" "$@"\n')
    command.chmod(0o755)
    return command, place


if __name__ == "__main__":
    {"serve": serve, "run": run}[sys.argv[1]](*sys.argv[2:])
