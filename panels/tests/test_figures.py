"""Figures to words, from canned answers of the command."""

import json
import pathlib
import unittest

from seekless_panel import figures

CANNED = (pathlib.Path(__file__).parent / "sleds.json").read_text(encoding="utf-8")


def with_sleds(*levels_and_bytes):
    """A canned answer with other ranges."""
    told = json.loads(CANNED)
    sled, offset = told[0]["sleds"][0], 0
    told[0]["sleds"] = []
    for level, count in levels_and_bytes:
        told[0]["sleds"].append({**sled, "offset": offset, "bytes": count, "level": level})
        offset += count
    told[0]["bytes"] = offset
    return figures.parse(json.dumps(told))


class Words(unittest.TestCase):
    def test_rows_say_times_levels_device_and_notes(self):
        self.assertEqual(
            figures.rows(figures.parse(CANNED)),
            [
                ("Reading it, cheapest first", "19 ms"),
                ("Reading it from first to last", "19 ms to 21.1 ms"),
                ("Holes", "100.0 KB (3 %)"),
                ("In memory", "1.5 MB (50 %)"),
                ("On the device", "1.4 MB (47 %)"),
                ("Device", "8:0 sda ST4000 xfs (costs calibrated)"),
                ("What is in memory stays about", "2.0 h"),
                ("Note", "remote: storage:7007 did not answer"),
            ],
        )

    def test_each_range_has_a_row_up_to_a_limit(self):
        told = figures.parse(CANNED)
        rows = figures.sled_rows(told, 10)
        self.assertEqual(rows[1], ("1.0 MB", "1.4 MB", "device", "12 ms", "210.0 MB/s"))
        self.assertEqual(rows[2], ("2.4 MB", "100.0 KB", "hole", "no time", ""))
        self.assertEqual(rows[3][2], "memory (sampled)")
        self.assertEqual(figures.sled_rows(told, 3)[3], ("…", "", "1 more ranges", "", ""))

    def test_units_fit_their_numbers(self):
        times = {0: "no time", 1e-6: "1 µs", 0.0123: "12.3 ms", 1: "1 s", 99.94: "99.9 s", 119: "119 s", 120: "2.0 min"}
        times.update({7200: "2.0 h", 172800: "2.0 days", 1.8e19: "for ever"})
        self.assertEqual({seconds: figures.time(seconds) for seconds in times}, times)
        sizes = {0: "0 B", 999: "999 B", 1000: "1.0 KB", 4e9: "4.0 GB", 2.5e12: "2.5 TB"}
        self.assertEqual({count: figures.size(count) for count in sizes}, sizes)


class Bar(unittest.TestCase):
    def test_a_cell_shows_the_level_of_most_of_its_bytes(self):
        self.assertEqual(figures.bar(figures.parse(CANNED), 12), "████▒▒▒▒▒▒██")
        told = with_sleds(("memory", 320), ("device", 6), ("memory", 314))
        self.assertEqual(figures.bar(told, 64), "█" * 32 + "▒" + "█" * 31)

    def test_the_bar_agrees_with_a_count_byte_by_byte(self):
        told = with_sleds(("memory", 7), ("device", 11), ("archive", 3), ("memory", 20), ("unknown", 14))
        levels = [sled.level for sled in told.sleds for _ in range(sled.bytes)]
        for count in (1, 2, 5, 9, 55, 99):
            parts = figures.cells(told, count)
            self.assertEqual(len(parts), min(count, 55))
            for cell, level in enumerate(parts):
                inside = levels[55 * cell // len(parts) : 55 * (cell + 1) // len(parts)]
                self.assertEqual(inside.count(level), max(inside.count(other) for other in inside))

    def test_an_empty_file_and_a_level_of_tomorrow_are_shown_too(self):
        empty = with_sleds()
        self.assertEqual((figures.bar(empty, 9), figures.markup(empty, 9)), ("", ""))
        self.assertEqual(figures.rows(empty)[2][0], "Device")
        told = with_sleds(("moon", 5), ("hole", 5))
        self.assertEqual(list(figures.bytes_at(told)), ["hole", "moon"])
        self.assertEqual(figures.bar(told, 2), "?·")
        self.assertIn(("moon", "5 B (50 %)"), figures.rows(told))

    def test_markup_has_one_span_for_a_run_of_one_level(self):
        self.assertEqual(
            figures.markup(with_sleds(("memory", 3), ("device", 1)), 4),
            '<span foreground="#2e9e4f">███</span><span foreground="#3070c0">▒</span>',
        )


class Strange(unittest.TestCase):
    def test_what_is_not_understood_is_said_so(self):
        for text in ("", "[]", "{}", "null", "[1]", "[{}]", CANNED.replace('"low"', '"least"'), CANNED.replace("3000000", "1e999")):
            with self.assertRaises(figures.NotUnderstood, msg=text):
                figures.parse(text)

    def test_fields_that_came_later_do_no_harm(self):
        told = json.loads(CANNED)
        told[0]["colour"] = told[0]["sleds"][0]["smell"] = 1
        self.assertEqual(figures.parse(json.dumps(told)), figures.parse(CANNED))


if __name__ == "__main__":
    unittest.main()
