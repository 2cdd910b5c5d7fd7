"""A page of Caja's properties: what reading the file costs now."""

import os
import sys

from gi.repository import Caja, GObject, Gtk

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from seekless_panel.page import Page  # noqa: E402


class SeeklessProperties(GObject.GObject, Caja.PropertyPageProvider):
    """One page for one regular file."""

    def get_property_pages(self, files):
        if len(files) != 1 or files[0].is_directory():
            return []
        path = files[0].get_location().get_path()
        if path is None:
            return []
        label = Gtk.Label(label="Reading cost")
        label.show()
        return [Caja.PropertyPage(name="Seekless::sleds", label=label, page=Page(path))]
