"""Calls that take long: others run meanwhile, and Ctrl-C ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import seekless


def test_others_run_while_a_call_waits(tmp_path: Path) -> None:
    # The reader of the pipe waits until this thread has written to it.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[list[int]] = []

    def simulate() -> None:
        trace = seekless.Trace(pipe, format="csv")
        found.append(seekless.simulate(trace, "lru", 100, unit="file")["requests"])

    reader = threading.Thread(target=simulate)
    reader.start()
    with open(pipe, "w") as out:
        out.write("path,size\n" + "a,1\nb,1\n" * 10)
    reader.join()
    assert found == [[20]]


def test_ctrl_c_ends_a_call(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = (
        "import seekless, signal, sys\n"
        # A shell's background jobs ignore it, and so would their children.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "trace = seekless.Trace(sys.argv[1], format='csv')\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    seekless.simulate(trace, 'lru', 100, unit='file')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(pipe)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    descriptor = os.open(pipe, os.O_WRONLY)  # returns once the child has begun to read
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    os.close(descriptor)
    assert child.wait(60) == 0
