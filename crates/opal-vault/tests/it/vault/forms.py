"""Prints each secret on stdin (a JSON list) in all the ways that programs do.

A line for each: the index of the secret, the name of the form, its bytes in hexadecimal.
"""

import base64
import html
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import urllib.parse

BASH = r"""
printf '%q' "$1"; printf '\0'; printf '%s' "${1@Q}"; printf '\0'
x=$1; declare -p x; printf '\0'; set -- "$1"; PS4=; exec 2>&1; set -x; : "$1"
"""


def bash(text, locale):
    if len(text) > 100_000:
        return
    environment = {**os.environ, "LC_ALL": locale}
    command = ["bash", "-c", BASH, "bash", text]
    out = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    for name, form in zip(["%q", "@Q", "declare", "trace"], out.split(b"\0")):
        yield f"bash {name} {locale}", form


def read(text):
    """As `echo` of dash, `echo -e` and `printf %b` read the backslashes of a value."""
    if len(text) > 100_000 or "\\" not in text:
        return
    for name, command in (
        ("dash echo", ["dash", "-c", 'echo "$1"', "dash", text]),
        ("echo -e", ["bash", "-c", 'echo -e "$1"', "bash", text]),
        ("printf %b", ["bash", "-c", 'printf %b "$1"', "bash", text]),
    ):
        out = subprocess.run(command, capture_output=True, check=True).stdout
        yield name, out
        yield f"base64 {name}", base64.b64encode(out)
        for index, line in enumerate(out.split(b"\n")[:40]):
            if len(line.decode(errors="replace").strip()) >= 8:
                yield f"{name} line {index}", line


def yaml_double(text):
    """As PyYAML writes what it puts in double quotes, without its breaks of lines."""
    short = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r"}
    short |= {"\x1b": "e", '"': '"', "\\": "\\"}

    def one(c):
        if c in short:
            return "\\" + short[c]
        if " " <= c <= "~":
            return c
        number = ord(c)
        return f"\\x{number:02X}" if number < 256 else f"\\u{number:04X}" if number < 65536 else f"\\U{number:08X}"

    return '"' + "".join(map(one, text)) + '"'


def nginx(text):
    def one(byte):
        return f"\\x{byte:02X}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte)

    return "".join(map(one, text.encode()))


def escapes(text, wide, control):
    def one(c):
        if c in '"\\':
            return "\\" + c
        if c in "\n\t\r":
            return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[c]
        if ord(c) > 126 and wide or ord(c) < 32 or ord(c) == 127:
            return "".join(control.format(byte) for byte in c.encode())
        return c

    return "".join(map(one, text))


def texts(text):
    yield "raw", text
    yield "trimmed", text.strip()
    yield "crlf", text.replace("\r\n", "\n").replace("\n", "\r\n")
    for index, line in enumerate(text.splitlines()[:40]):
        if len(line.strip()) >= 8 and line != text:
            yield f"line {index}", line
            yield f"prefixed line {index}", f"app-1  | {line.strip()}"
    for narrow in (True, False):
        plain = json.dumps(text, ensure_ascii=narrow)
        yield f"json {narrow}", plain
        yield f"json slash {narrow}", plain.replace("/", "\\/")
        markup = plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        yield f"json markup {narrow}", markup
        yield f"json in a document {narrow}", json.dumps({"a": 1, "v": text}, ensure_ascii=narrow, indent=2)
    yield "json upper", re.sub(r"\\u....", lambda m: "\\u" + m[0][2:].upper(), json.dumps(text))
    for safe in ("", "/", "!*'()", "!~*'();/?:@&=+$,#"):
        quoted = urllib.parse.quote(text, safe=safe)
        yield f"url {safe}", quoted
        yield f"url lower {safe}", re.sub("%..", lambda m: m[0].lower(), quoted)
    yield "form", urllib.parse.quote_plus(text)
    yield "form pair", urllib.parse.urlencode({"token": text})
    yield "html", html.escape(text)
    yield "html text", html.escape(text, quote=False)
    yield "html 39", html.escape(text).replace("&#x27;", "&#39;")
    yield "html apos", html.escape(text).replace("&#x27;", "&apos;")
    yield "html double only", html.escape(text, quote=False).replace('"', "&quot;")
    yield "shlex", shlex.quote(text)
    yield "single quotes", "'" + text.replace("'", "'\\''") + "'"
    yield "repr", repr(text)
    yield "ascii", ascii(text)
    yield "repr bytes", repr(text.encode())
    yield "repr in a list", repr([text, 1])
    yield "yaml single", "'" + text.replace("'", "''") + "'"
    yield "yaml double", yaml_double(text)
    yield "nginx", nginx(text)
    yield "csv", '"' + text.replace('"', '""') + '"'
    yield "c octal", escapes(text, True, "\\{:03o}")
    yield "c hex", escapes(text, True, "\\x{:02x}")
    yield "c utf-8", escapes(text, False, "\\{:03o}")


def grouped(digits, size, separator):
    return separator.join(digits[at : at + size] for at in range(0, len(digits), size))


def encodings(text):
    data = text.encode()
    for before in range(3):
        for after in (b"", b"\n", b"y"):
            around = b"x" * before + data + after
            name = f"{before} {len(after)}"
            yield f"base64 {name}", base64.b64encode(around)
            yield f"base64url {name}", base64.urlsafe_b64encode(around).rstrip(b"=")
            yield f"encodebytes {name}", base64.encodebytes(around)
            for width in (64, 76, 20):
                letters = base64.b64encode(around).decode()
                wrapped = "\n".join(letters[at : at + width] for at in range(0, len(letters), width))
                yield f"base64 at {width} {name}", wrapped.encode()
                yield f"base64 crlf {width} {name}", wrapped.replace("\n", "\r\n").encode()
                yield f"base64 indented {width} {name}", textwrap.indent(wrapped, "  ").encode()
    for before in range(5):
        letters = base64.b32encode(b"x" * before + data).decode()
        yield f"base32 {before}", letters.encode()
        yield f"base32 wrapped {before}", grouped(letters, 76, "\n").encode()
    for case in (str.lower, str.upper):
        digits = case(data.hex())
        name = case.__name__
        yield f"hex {name}", digits.encode()
        yield f"hex wrapped {name}", grouped(digits, 60, "\n").encode()
        yield f"hex spaced {name}", grouped(digits, 2, " ").encode()
        yield f"hex colons {name}", grouped(digits, 2, ":").encode()
        yield f"hex dashes {name}", grouped(digits, 2, "-").encode()
        yield f"hex underscores {name}", grouped(digits, 2, "_").encode()
        yield f"hex pairs {name}", grouped(digits, 4, " ").encode()
        yield f"hex odd pairs {name}", (digits[:2] + " " + grouped(digits[2:], 4, " ")).encode()
        lines = [grouped(digits[at : at + 32], 2, " ") for at in range(0, len(digits), 32)]
        yield f"hex od {name}", ("\n ".join(lines)).encode()


def dressed(text):
    data = text.encode()
    half = len(data) // 2
    while data[half] & 0xC0 == 0x80:
        half += 1
    for name, sequence in (
        ("bold", b"\x1b[1m"),
        ("colour", b"\x1b[38;2;255;100;0m"),
        ("title", b"\x1b]0;title\x07"),
        ("link", b"\x1b]8;;https://example.com\x1b\\"),
        ("charset", b"\x1b(B"),
    ):
        yield f"{name} inside", data[:half] + sequence + data[half:]
    if "\x1b" not in text:
        yield "bold each", b"".join(c.encode() + b"\x1b[0m" for c in text)
    if text.isprintable() and len(data) < 2000:
        yield "in a link", b"\x1b]8;;https://x/?t=" + data + b"\x1b\\here\x1b]8;;\x1b\\"
    if len(data) < 2000:
        yield "in the clipboard", b"\x1b]52;c;" + base64.b64encode(data) + b"\x07"


for index, secret in enumerate(json.load(sys.stdin)):
    forms = [(name, form.encode()) for name, form in texts(secret)]
    forms += encodings(secret)
    forms += dressed(secret)
    forms += read(secret)
    forms += bash(secret, "C.UTF-8")
    forms += bash(secret, "C")
    for name, form in forms:
        print(index, name, form.hex(), sep="\t")
