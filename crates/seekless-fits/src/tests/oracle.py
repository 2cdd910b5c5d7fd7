"""Checks an output of `seekless fits` against astropy and numpy: oracle.py '[{...}, ...]' (JSON); says what differs."""

import json
import sys

import numpy as np
from astropy.io import fits


def numbers(hdu, null):
    """The pixels as doubles or exact integers, undefined ones as `null` (None: masked out)."""
    data = hdu.data
    if data.dtype.kind in "iu":
        return data.astype(object), np.zeros(data.shape, bool)
    data = data.astype(np.float64)
    undefined = np.isnan(data)
    if null is not None:
        data = np.where(undefined, null, data)
    return data, undefined


def histogram(p):
    with fits.open(p["input"]) as before, fits.open(p["output"]) as after:
        for old, new in zip(before, after):
            if old.data is not None:
                assert np.array_equal(old.data, new.data, equal_nan=old.data.dtype.kind == "f"), "the copy differs"
        table = after["HISTOGRAM"].data
        data, undefined = numbers(before[p["hdu"]], None)
        data = data[~undefined]
        low, high = min(data), max(data)
        size, bins = p["bin_size"], int((high - low) / p["bin_size"]) + 1
        places = [min(int((value - low) // size), bins - 1) for value in data]
        counts = np.bincount(np.array(places, int), minlength=bins)
        assert np.array_equal(counts, table["COUNT"]), f"counts {counts} but {table['COUNT']}"
        assert np.allclose(table["BIN_LO"], float(low) + size * np.arange(bins), rtol=1e-15)


def rebin(p):
    with fits.open(p["input"]) as before, fits.open(p["output"]) as after:
        data, _ = numbers(before[p["hdu"]], p["null"])
        x, y = p["x"], p["y"]
        rows, columns = data.shape[0] // y, data.shape[1] // x
        boxes = data[: rows * y, : columns * x].reshape(rows, y, columns, x)
        sums = boxes.sum(axis=(1, 3))
        found = after[p["hdu"]].data
        assert found.shape == sums.shape, f"shape {found.shape} but {sums.shape}"
        if found.dtype.kind in "iu" and data.dtype == object:
            assert (found.astype(object) == sums).all(), "sums of integers differ"
        else:
            exact = np.dtype(found.dtype).itemsize == 8
            assert np.allclose(found.astype(float), sums.astype(float), rtol=1e-12 if exact else 1e-6), "sums differ"


if __name__ == "__main__":
    for parameters in json.loads(sys.argv[1]):
        try:
            {"histogram": histogram, "rebin": rebin}[parameters["what"]](parameters)
        except AssertionError as error:
            sys.exit(f"{parameters}: {error}")
