"""A page of Nautilus's properties (43 and later): what reading the file costs now.

Nautilus shows only rows of text, so the page asks again by itself while Nautilus holds it."""

import os
import sys

from gi.repository import Gio, GLib, GObject, Nautilus

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from seekless_panel import figures  # noqa: E402
from seekless_panel.ask import Asker  # noqa: E402

CELLS = 32
RANGES_MAX = 12
REFRESH_S = 2


class SeeklessProperties(GObject.GObject, Nautilus.PropertiesModelProvider):
    """One page for one regular file."""

    def get_models(self, files):
        if len(files) != 1 or files[0].is_directory():
            return []
        path = files[0].get_location().get_path()
        if path is None:
            return []
        store = Gio.ListStore.new(Nautilus.PropertiesItem)
        Watch(path, store).ask()
        return [Nautilus.PropertiesModel(title="Reading cost (SLEDs)", model=store)]


class Watch:
    """Fills a list again and again, until Nautilus releases it."""

    def __init__(self, path, store):
        self._asker = Asker(path, self._show)
        self._timer = 0
        self._shown = []
        self._store = store.weak_ref(self._gone)
        self._fill(store, [("Asking…", "")])

    def ask(self):
        self._timer = 0
        self._asker.ask()
        return GLib.SOURCE_REMOVE

    def _gone(self):
        if self._timer:
            GLib.source_remove(self._timer)
        self._timer = 0
        self._asker.stop()

    def _show(self, told, words):
        store = self._store()
        if store is None:
            return
        self._fill(store, [("Not known", words)] if told is None else page(told))
        self._timer = GLib.timeout_add_seconds(REFRESH_S, self.ask)

    def _fill(self, store, rows):
        """Changes only the rows that differ, so that the page does not jump."""
        for at, row in enumerate(rows):
            if at < len(self._shown) and self._shown[at] == row:
                continue
            item = Nautilus.PropertiesItem(name=row[0], value=row[1])
            store.splice(at, 1 if at < len(self._shown) else 0, [item])
        if len(rows) < len(self._shown):
            store.splice(len(rows), len(self._shown) - len(rows), [])
        self._shown = rows


def page(told):
    """All rows of the page."""
    rows = [("The file from first to last", figures.bar(told, CELLS))] + figures.rows(told)
    for offset, length, level, latency, bandwidth in figures.sled_rows(told, RANGES_MAX):
        name = f"{length} at {offset}" if length else offset
        rows.append((name, ", ".join(word for word in (level, latency, bandwidth) if word)))
    return rows
