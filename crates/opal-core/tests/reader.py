"""Reads an opal plan file, as docs/plan-format.md describes it."""

import hashlib
import json
import struct
import subprocess
import sys

ALGORITHMS = ["sha256", "blake3"]


class Refused(Exception):
    pass


class File:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if self.at + length > len(self.data):
            raise Refused(f"offset {self.at}: it ends before it should")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def pad(self):
        if any(self.take(-self.at % 8)):
            raise Refused(f"offset {self.at}: the padding is not zero")

    def block(self, form):
        content = self.take(self.number(form))
        self.pad()
        return content


def unpack(file):
    """A packed section: its packed length, its raw length, one zstd frame."""
    packed, raw = file.number("I"), file.number("I")
    frame = file.take(packed)
    file.pad()
    content = unzstd(frame)
    if len(content) != raw:
        raise Refused("the zstd frame does not have the length that is said")
    return File(content)


def unzstd(frame):
    """Python from 3.14 on has zstd; before that the program `zstd` does it."""
    try:
        from compression import zstd
    except ImportError:
        command = ["zstd", "--decompress", "--stdout", "--quiet"]
        done = subprocess.run(command, input=frame, capture_output=True)
        if done.returncode:
            raise Refused("zstd: " + done.stderr.decode().strip())
        return done.stdout
    try:
        return zstd.decompress(frame)
    except zstd.ZstdError as problem:
        raise Refused(f"zstd: {problem}")


def canonical(value):
    """The one spelling; Python sorts by code point, which is the order of UTF-8 bytes too."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def parse(content):
    text = content.decode("utf-8")
    value = json.loads(text)
    if canonical(value) != text:
        raise Refused("JSON that is not canonical")
    return value


def show_step(step, reasons, depth=0):
    reason = [reasons[step["path"]]] if step["path"] in reasons else []
    print("step", "  " * depth + step["decorator"], step["path"], *reason)
    args = step.get("args", {})
    if step["decorator"] == "needs" and depth == 0:
        if any(inner["decorator"] != "@needs" for inner in step["block"]):
            raise Refused("`needs` holds something else than dependencies")
    if step["decorator"] == "@needs":
        print("needed by", *args["needed_by"])
    for line in args.get("block_text", "").splitlines():
        print("text", line)
    for inner in step.get("block", []):
        show_step(inner, reasons, depth + 1)


def read_values(file, count):
    values = []
    for _ in range(count):
        key = file.take(file.number("H"))
        length, algorithm, digest = file.number("I"), file.number("B"), file.take(32)
        file.pad()
        values.append((key, length, ALGORITHMS[algorithm], digest.hex()))
    keys = [value[0] for value in values]
    if keys != sorted(set(keys)):
        raise Refused("VALUES: the keys are not sorted, or one is there twice")
    return values


def read(data):
    file = File(data)
    if file.take(4) != b"OPAL":
        raise Refused("this is no plan file")
    major, _minor, flags = file.number("H"), file.number("H"), file.number("H")
    mode, algorithm = file.number("B"), ALGORITHMS[file.number("B")]
    if major != 1 or mode != 1 or flags & 0b11111100 != 0b100:
        raise Refused("another version, mode or flag")
    steps, values, provenance_bytes = (file.number("I") for _ in range(3))
    created, _source, plan_hash = file.number("q"), file.take(32), file.take(32)

    start = file.at
    target = file.block("H")
    target_section = data[start : file.at]
    file.block("I")  # ENVELOPE
    packed = flags & 1
    section = unpack(file) if packed else file
    start = section.at
    steps = [parse(section.block("I")) for _ in range(steps)]
    hashed = b"opal plan v1\n" + target_section + section.data[start : section.at]
    if algorithm == "sha256" and hashlib.sha256(hashed).digest() != plan_hash:
        raise Refused("PlanHash is not that of TARGET and STEPS")
    if packed and section.at != len(section.data):
        raise Refused("STEPS: there are more steps than the header says")
    section = unpack(file) if packed else file
    values = read_values(section, values)
    if packed and section.at != len(section.data):
        raise Refused("VALUES: there are more values than the header says")
    provenance = file.block("I")
    if len(provenance) != provenance_bytes:
        raise Refused("PROVENANCE: its length and that in the header disagree")
    provenance = parse(provenance)
    for wanted in [(1, 32)] + [(0, 64)] * (flags >> 1 & 1):
        if (file.number("B"), len(file.block("H"))) != wanted:
            raise Refused("SIGNATURE: a record is not where it belongs")
    if file.at != len(data):
        raise Refused("something follows the end of the file")

    print("target", target.decode())
    print("created", created)
    print("plan hash", plan_hash.hex() + ("" if algorithm == "sha256" else " (not checked)"))
    for step in steps:
        show_step(step, provenance.get("reasons", {}))
    for key, *rest in values:
        print("value", key.decode(), *rest)
    print("compiler", provenance["compiler"])


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as opened:
            read(opened.read())
    except (Refused, ValueError, IndexError) as problem:
        sys.exit(f"refused: {problem}")
