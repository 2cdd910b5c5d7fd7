"""The Gtk 3 page, where there is a display, with a script in place of the command."""

import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

from .test_figures import CANNED

try:
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk

    from seekless_panel.page import Page

    if not Gtk.init_check(None)[0]:
        raise ImportError("no display")
except (ImportError, ValueError):
    print("skipped: the panels' page without Gtk 3 or a display", file=sys.stderr)
    Page = None


def texts(widget):
    """What all labels below a widget say."""
    if isinstance(widget, Gtk.Label):
        return [widget.get_text()]
    below = widget.get_children() if isinstance(widget, Gtk.Container) else []
    return [text for child in below for text in texts(child)]


@unittest.skipIf(Page is None, "no Gtk 3 or no display")
class Shown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = mock.patch.dict(os.environ, {"SEEKLESS": str(self.folder / "seekless")})
        patch.start()
        self.addCleanup(patch.stop)
        (self.folder / "canned.json").write_text(CANNED, encoding="utf-8")

    def write(self, lines):
        script = self.folder / "seekless"
        script.write_text("#!/bin/sh\n" + lines, encoding="utf-8")
        script.chmod(0o755)

    def run_until(self, done):
        """Runs the main loop until something is so."""
        end = time.monotonic() + 20
        while not done():
            self.assertLess(time.monotonic(), end, "it never came so")
            while Gtk.events_pending():
                Gtk.main_iteration()
            time.sleep(0.01)

    def settle(self, page):
        """Waits for the answer."""
        self.run_until(lambda: "Asking…" not in texts(page))
        return texts(page)

    def test_figures_are_shown_and_the_button_asks_again(self):
        self.write(f"cat {self.folder}/canned.json")
        page = Page("film.mkv")
        self.assertIn("Asking…", texts(page), "the answer is not waited for")
        shown = self.settle(page)
        for words in ("Reading it, cheapest first:", "19 ms", "1.5 MB (50 %)", "· hole   █ memory   ▒ device"):
            self.assertIn(words, shown)
        self.write("echo 'seekless: film.mkv: No such file or directory' >&2; exit 2")
        page.refresh()
        self.assertIn("19 ms", texts(page), "what is shown stays until the answer comes")
        shown = self.settle(page)
        self.assertIn("film.mkv: No such file or directory", shown)
        self.assertNotIn("19 ms", shown)
        page.destroy()

    def test_a_page_that_is_closed_stops_asking(self):
        self.write(f"echo $$ >{self.folder}/pid; exec sleep 60")
        page = Page("film.mkv")
        pid = self.folder / "pid"
        self.run_until(lambda: pid.exists() and pid.read_text(encoding="utf-8").endswith("\n"))
        process = int(pid.read_text(encoding="utf-8"))
        page.destroy()
        self.run_until(lambda: not os.path.exists(f"/proc/{process}"))


if __name__ == "__main__":
    unittest.main()
