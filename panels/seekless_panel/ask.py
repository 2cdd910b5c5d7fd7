"""Asks the command without making the file manager wait: the main loop delivers the answer."""

import os
import shutil

from gi.repository import Gio, GLib

from . import figures

#: An answer takes milliseconds. The command waits 3 s for another machine, and 5 s for an archive's
#: own command.
TIMEOUT_S = 15


def command():
    """The command's path: from $SEEKLESS, from `install.sh --command`, from the PATH, or from the
    folders where cargo and users put programs."""
    written = os.path.join(os.path.dirname(__file__), "command")
    candidates = [os.environ.get("SEEKLESS")]
    if os.path.exists(written):
        with open(written, encoding="utf-8") as file:
            candidates.append(file.read().strip())
    candidates.append(shutil.which("seekless"))
    candidates.extend(os.path.expanduser(f"~/{folder}/seekless") for folder in (".local/bin", ".cargo/bin"))
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


class Asker:
    """Asks about one file, one question at a time.

    `answer(figures, words)` is called with figures, or with None and what went wrong."""

    def __init__(self, path, answer, timeout_s=TIMEOUT_S):
        self._path, self._answer, self._timeout_s = path, answer, timeout_s
        self._process = self._cancellable = None
        self._timer = 0
        self._late = False

    def ask(self):
        """Starts a question, unless one is running."""
        if self._process is not None:
            return
        program = command()
        if program is None:
            self._answer(None, "The command seekless was not found: put it on the PATH, or run panels/install.sh --command FILE")
            return
        flags = Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE
        try:
            process = Gio.Subprocess.new([program, "sleds", "--json", "--", self._path], flags)
        except GLib.Error as error:
            self._answer(None, f"{program}: {error.message}")
            return
        self._process, self._late, self._cancellable = process, False, Gio.Cancellable()
        self._timer = GLib.timeout_add(int(self._timeout_s * 1000), self._expired)
        process.communicate_async(None, self._cancellable, self._answered)

    def stop(self):
        """Cancels the current question; its answer is not delivered."""
        if self._process is not None:
            self._cancellable.cancel()
            self._end()

    def _end(self):
        """Ends the current question and its process."""
        self._process.force_exit()
        if self._timer:
            GLib.source_remove(self._timer)
        self._process, self._timer = None, 0

    def _expired(self):
        self._timer, self._late = 0, True
        # A grandchild may hold the pipes open, so killing the process would not end the reading.
        self._cancellable.cancel()
        return GLib.SOURCE_REMOVE

    def _answered(self, process, result):
        try:
            _, out, err = process.communicate_finish(result)
            failure = None
        except GLib.Error as error:
            out = err = None
            failure = error.message
        if process is not self._process:
            return  # stopped
        self._end()
        if self._late:
            self._answer(None, f"seekless gave no answer in {self._timeout_s:g} s")
        elif failure is not None:
            self._answer(None, f"seekless: {failure}")
        else:
            self._answer(*told(process.get_if_exited() and process.get_exit_status(), _text(out), _text(err)))


def told(status, out, err):
    """Figures, or None and what went wrong.

    `status` is the exit status; None or False if a signal ended the command."""
    if status != 0 or status is False:
        said = err.strip().removeprefix("seekless: ")
        return None, said or f"seekless ended without a word (status {status})"
    try:
        return figures.parse(out), ""
    except figures.NotUnderstood as error:
        return None, str(error)


def _text(data):
    return (data.get_data() or b"").decode("utf-8", "replace") if data is not None else ""
