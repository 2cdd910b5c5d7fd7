"""Loads files of a bucket in Python, and compares each: for `./run bench remote`.

    remote.py zip|s3fs BUCKET PACK WANTED SECONDS

WANTED has a CRC-32 and a name a line. Imports are not timed. Prints seconds, and how many files
were loaded until they, or the SECONDS, came to an end.
"""

import json
import os
import sys
import time
import zlib

import fsspec
import s3fs


def main():
    way, bucket, pack, wanted, seconds = sys.argv[1:]
    with open(wanted, encoding="utf-8") as lines:
        files = [line.rstrip("\n").split(" ", 1) for line in lines]
    began = time.perf_counter()
    options = {"endpoint_url": os.environ["ENDPOINT"]}
    if way == "zip":
        own = {"target_protocol": "s3", "target_options": options}
        system, folder = fsspec.filesystem("zip", fo=f"{bucket}/{pack}", **own), ""
    else:
        system, folder = s3fs.S3FileSystem(**options), f"{bucket}/files/"
    loaded = 0
    for crc, name in files:
        if time.perf_counter() - began > float(seconds):
            break
        content = system.cat_file(folder + name)
        if zlib.crc32(content) != int(crc):
            sys.exit(f"{name}: other bytes came")
        loaded += 1
    print(json.dumps({"seconds": time.perf_counter() - began, "files": loaded}))


main()
