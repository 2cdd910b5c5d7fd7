"""The installation script, into a folder of its own."""

import os
import pathlib
import py_compile
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parent.parent / "install.sh"


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, *words):
        environment = {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data")}
        return subprocess.run([SCRIPT, *words], env=environment, capture_output=True, text=True, check=False)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

    def test_both_pages_come_whole_and_go_again(self):
        done = self.run_script("--user", "--command", "/bin/sh")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for manager in ("nautilus", "caja"):
            extensions = self.folder / f"data/{manager}-python/extensions"
            py_compile.compile(extensions / f"seekless_{manager}.py", self.folder / "compiled", doraise=True)
            command = (extensions / "seekless_panel/command").read_text(encoding="utf-8").strip()
            self.assertTrue(os.access(command, os.X_OK), command)
            for module in ("__init__", "figures", "ask", "page"):
                self.assertTrue((extensions / f"seekless_panel/{module}.py").exists())
        (self.folder / "compiled").unlink()
        self.assertEqual(self.run_script("--remove").returncode, 0)
        self.assertEqual(self.files(), [])

    def test_what_is_not_understood_changes_nothing(self):
        for words in ((), ("--system",), ("--user", "--command"), ("--user", "--command", "/no/such"), ("--remove", "x")):
            self.assertEqual(self.run_script(*words).returncode, 2, words)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
