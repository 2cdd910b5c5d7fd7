"""Shows the page in its own window, for systems without either file manager.

Usage: `python3 -m seekless_panel FILE`."""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

from .page import Page  # noqa: E402

if len(sys.argv) != 2:
    sys.exit("usage: python3 -m seekless_panel FILE")
window = Gtk.Window(title=f"{sys.argv[1]} – SLEDs", default_width=560)
window.add(Page(sys.argv[1]))
window.connect("destroy", Gtk.main_quit)
window.show()
Gtk.main()
