# The peer of the lab: reads from a Zip the names that it is told, and hands the contents over when
# it is done. What it imports late is imported before it says that it is ready.
import io
import struct
import sys
import zipfile

with io.BytesIO() as small:
    with zipfile.ZipFile(small, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("name", "content" * 100)
    with zipfile.ZipFile(small) as archive:
        archive.read("name")
"name".encode("cp437")
sys.stdout.buffer.write(b"ready\n")
sys.stdout.buffer.flush()

names = []
for line in sys.stdin.buffer:
    name = line.rstrip(b"\n")
    if not name:
        break
    names.append(name.decode())
with zipfile.ZipFile(sys.argv[1]) as archive:
    contents = [archive.read(name) for name in names]
sys.stdout.buffer.write(b"done\n")
sys.stdout.buffer.flush()
for content in contents:
    sys.stdout.buffer.write(struct.pack("<Q", len(content)))
    sys.stdout.buffer.write(content)
sys.stdout.buffer.flush()
