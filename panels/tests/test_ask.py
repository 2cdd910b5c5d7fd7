"""Asking, with small scripts in place of the command: the main loop goes on, and every end is told in words."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from .test_figures import CANNED

try:
    from gi.repository import GLib

    from seekless_panel import ask
except ImportError:
    print("skipped: panels ask without python3-gi", file=sys.stderr)
    ask = None


@unittest.skipIf(ask is None, "no python3-gi")
class Asking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "seekless"
        self.loop = GLib.MainLoop()
        self.answers = []
        patch = mock.patch.dict(os.environ, {"SEEKLESS": str(self.script), "PATH": str(self.folder), "HOME": str(self.folder)})
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, lines):
        self.script.write_text("#!/bin/sh\n" + lines, encoding="utf-8")
        self.script.chmod(0o755)

    def answer(self, *told):
        self.answers.append(told)
        self.loop.quit()

    def run_loop(self, limit_s=20):
        timer = GLib.timeout_add(int(limit_s * 1000), self.loop.quit)
        self.loop.run()
        if GLib.MainContext.default().find_source_by_id(timer):
            GLib.source_remove(timer)

    def ask(self, path="film.mkv", **options):
        ask.Asker(path, self.answer, **options).ask()
        if not self.answers:
            self.run_loop()
        ((told, words),) = self.answers
        return told, words

    def test_figures_come_of_exactly_the_file_named(self):
        (self.folder / "canned.json").write_text(CANNED, encoding="utf-8")
        self.write(f'/usr/bin/printf "%s\\n" "$@" >{self.folder}/words; /usr/bin/cat {self.folder}/canned.json')
        told, words = self.ask("-a film\nwith 'quotes'.mkv")
        self.assertEqual((told.bytes, words), (3000000, ""))
        said = (self.folder / "words").read_text(encoding="utf-8")
        self.assertEqual(said, "sleds\n--json\n--\n-a film\nwith 'quotes'.mkv\n")

    def test_a_missing_command_is_said(self):
        self.assertIn("was not found", self.ask()[1])

    def test_a_command_that_cannot_run_is_said(self):
        self.script.write_text("#!/no/such/shell\n", encoding="utf-8")
        self.script.chmod(0o755)
        self.assertIn(str(self.script), self.ask()[1])

    def test_what_the_command_complains_of_is_shown(self):
        self.write("echo 'seekless: film.mkv: Permission denied' >&2; exit 2")
        self.assertEqual(self.ask(), (None, "film.mkv: Permission denied"))

    def test_a_killed_command_and_nonsense_are_said(self):
        self.write("kill -9 $$")
        self.assertIn("ended without a word", self.ask()[1])
        self.answers.clear()
        self.write("echo nonsense")
        self.assertIn("does not understand", self.ask()[1])

    def test_a_slow_command_is_given_up_and_the_loop_goes_on_meanwhile(self):
        self.write("exec /usr/bin/sleep 60")
        ticks = []
        timer = GLib.timeout_add(20, lambda: ticks.append(1) or True)
        told, words = self.ask(timeout_s=0.4)
        GLib.source_remove(timer)
        self.assertEqual((told, words), (None, "seekless gave no answer in 0.4 s"))
        self.assertTrue(ticks)

    def test_a_child_that_keeps_the_pipes_open_does_not_hold_the_answer(self):
        self.write("/usr/bin/sleep 5 & exec /usr/bin/sleep 60")
        self.assertIn("no answer", self.ask(timeout_s=0.3)[1])

    def test_who_stops_hears_nothing(self):
        self.write("exec /usr/bin/sleep 60")
        asker = ask.Asker("film.mkv", self.answer, timeout_s=0.2)
        asker.ask()
        asker.ask()  # one at a time
        asker.stop()
        self.run_loop(limit_s=0.5)
        self.assertEqual(self.answers, [])


if __name__ == "__main__":
    unittest.main()
