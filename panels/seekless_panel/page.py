"""The page of widgets (Gtk 3): a bar, times, bytes by level, ranges, and a button that asks again."""

from gi.repository import Gtk, Pango

from . import figures
from .ask import Asker

CELLS = 56
RANGES_MAX = 1000
COLUMNS = ("Offset", "Length", "Level", "Latency", "Bandwidth")


class Page(Gtk.Box):
    """Asks when it is created, and again at each press of the button."""

    def __init__(self, path):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=12, border_width=12)
        self._bar = _label(xalign=0.5)
        self._legend = _label(xalign=0.5)
        self._grid = Gtk.Grid(column_spacing=12, row_spacing=6)
        self._state = _label(wrap=True, hexpand=True)
        self._button = Gtk.Button.new_with_mnemonic("_Refresh")
        self._ranges = Gtk.ListStore(*[str] * len(COLUMNS))
        for widget in (self._bar, self._legend, self._grid):
            self.pack_start(widget, False, False, 0)
        self.pack_start(self._table(), True, True, 0)
        foot = Gtk.Box(spacing=12)
        foot.pack_start(self._state, True, True, 0)
        foot.pack_end(self._button, False, False, 0)
        self.pack_end(foot, False, False, 0)
        self._asker = Asker(path, self._show)
        self._button.connect("clicked", lambda _: self.refresh())
        self.connect("destroy", lambda _: self._asker.stop())
        self.show_all()
        self.refresh()

    def refresh(self):
        """Asks again; the page does not change until the answer comes."""
        self._button.set_sensitive(False)
        self._state.set_text("Asking…")
        self._asker.ask()

    def _table(self):
        view = Gtk.TreeView(model=self._ranges)
        for number, title in enumerate(COLUMNS):
            column = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=number)
            column.set_resizable(True)
            view.append_column(column)
        window = Gtk.ScrolledWindow(shadow_type=Gtk.ShadowType.IN, min_content_height=120)
        window.add(view)
        return window

    def _show(self, told, words):
        self._button.set_sensitive(True)
        self._state.set_text(words)
        self._ranges.clear()
        self._grid.foreach(Gtk.Widget.destroy)
        if told is None:
            self._bar.set_text("")
            self._legend.set_text("")
            return
        self._bar.set_markup(f"<tt>{figures.markup(told, CELLS)}</tt>")
        self._legend.set_markup("   ".join(_legend(level) for level in figures.bytes_at(told)))
        for number, (name, value) in enumerate(figures.rows(told)):
            self._grid.attach(_label(name + ":", dim=True), 0, number, 1, 1)
            # Labels get no focus: the first value would be shown as selected.
            self._grid.attach(_label(value, wrap=True, selectable=True, can_focus=False), 1, number, 1, 1)
        self._grid.show_all()
        for row in figures.sled_rows(told, RANGES_MAX):
            self._ranges.append(row)


def _label(text="", dim=False, wrap=False, **properties):
    label = Gtk.Label(label=text, **{"xalign": 0, **properties})
    label.set_line_wrap(wrap)
    if wrap:
        label.set_line_wrap_mode(Pango.WrapMode.WORD_CHAR)
        label.set_max_width_chars(60)
    if dim:
        label.get_style_context().add_class("dim-label")
    return label


def _legend(level):
    block, colour, _ = figures.look(level)
    return f'<span foreground="{colour}">{block}</span> {level}'
