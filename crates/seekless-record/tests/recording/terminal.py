"""A user at a terminal: Ctrl-Z twice, fg each time, then Ctrl-C. Arguments: recorder, helper, output."""
import os
import pty
import select
import signal
import sys
import time

recorder, helper, output = sys.argv[1:]
shell, terminal = pty.fork()
if shell == 0:
    os.environ["PS1"] = "$ "
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job ignores it, and so would all that it starts
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen = b""


def expect(text):
    global seen
    patience = time.time() + 20
    while text not in seen:
        if time.time() > patience:
            sys.exit(f"no {text!r} in {seen!r}")
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 4096)
    before, seen = seen.split(text, 1)
    return before


def type_in(text):
    os.write(terminal, text)


expect(b"$ ")
type_in(f"{recorder} {output} {helper} interrupted\n".encode())
expect(b"ready")
for _ in range(2):
    type_in(b"\x1a")
    expect(b"Stopped")
    expect(b"$ ")
    type_in(b"fg\n")
    expect(b"interrupted")
    time.sleep(0.3)  # the shell says it before it does it
type_in(b"\x03")
expect(b"$ ")
type_in(b"echo code=$?\n")
expect(b"code=$?")
expect(b"code=")
print(expect(b"\n").decode().strip())
