"""Compares the tree-sitter grammar with `opal self syntax`, and edits sources at random.

agreement.py compare LIBRARY CORPUS   LIBRARY is the compiled parser, CORPUS has sources NAME.opl and, for each, NAME.json
                                      from `opal self syntax NAME.opl --json`. Prints one JSON document.
agreement.py edit LIBRARY CORPUS ROUNDS   edits sources at random. Where the result has no error, and after everything is
                                          undone, the tree made from the old one must be the tree of the whole text.

agreement.py editors LIBRARY   the queries of the extension for Zed and what they capture in a short source, its configuration,
                               and the stanza for Helix in the guide. Prints one JSON document.

Classes are those of queries/highlights.scm, so the query is tried too. Blanks have no colour and are not compared.
"""

import ctypes
import json
import random
import sys
import tomllib
import warnings
from pathlib import Path

from tree_sitter import Language, Parser, Query, QueryCursor

CLASSES = {
    "attribute": "decorator",
    "comment": "comment",
    "embedded": "shell",
    "function": "function",
    "function.call": "function",
    "keyword": "keyword",
    "label": "label",
    "markup.raw": "text",
    "number": "number",
    "operator": "operator",
    "property": "field",
    "punctuation.bracket": "punctuation",
    "punctuation.delimiter": "punctuation",
    "string": "string",
    "string.escape": "escape",
    "string.regexp": "string",
    "type": "type",
    "type.builtin": "type",
    "variable": "variable",
    "variable.builtin": "reference",
    "variable.parameter": "parameter",
}

BOUNDARIES = {
    "functions": {"function", "label"},
    "blocks": {"block", "text_block"},
    "steps": {"step", "let"},
}


def language(path):
    library = ctypes.cdll.LoadLibrary(path)
    library.tree_sitter_opal.restype = ctypes.c_void_p
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(new(library.tree_sitter_opal(), b"tree_sitter.Language", None))


def nodes(tree):
    cursor = tree.walk()
    while True:
        yield cursor.node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


def classes(query, tree, length):
    """The innermost node decides, and of its captures the last pattern."""
    found = ["none"] * length
    captured = []
    for pattern, captures in QueryCursor(query).matches(tree.root_node):
        for name, those in captures.items():
            captured += [(node.start_byte, -node.end_byte, pattern, name) for node in those]
    for start, end, _, name in sorted(captured):
        for at in range(start, -end):
            found[at] = CLASSES[name]
    return found


def trimmed(text, start, end):
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return start, max(start, end - (len(part) - len(part.rstrip())))


def line_of(text, at):
    start = text.rfind(b"\n", 0, at) + 1
    end = text.find(b"\n", at)
    return text.count(b"\n", 0, at) + 1, text[start : end if end >= 0 else len(text)].decode()


def compare_classes(name, text, expected, found, report):
    last = None
    for at, (one, other) in enumerate(zip(expected, found)):
        if text[at : at + 1].isspace() or text[at] in b"\xef\xbb\xbf" and at < 3:
            continue
        report["compared"] += 1
        if one == other:
            continue
        report["different"] += 1
        if last and last["end"] == at and (last["expected"], last["found"]) == (one, other):
            last["end"] = at + 1
            continue
        line, source = line_of(text, at)
        last = {"file": name, "line": line, "expected": one, "found": other, "source": source, "start": at, "end": at + 1}
        report["differences"].append(last)


def compare_file(parser, query, path, report):
    text = path.read_bytes()
    document = json.loads(path.with_suffix(".json").read_text())
    tree = parser.parse(text)
    expected = []
    for run in document["classes"]:
        expected += [run["class"]] * (run["end"] - run["start"])
    compare_classes(path.name, text, expected, classes(query, tree, len(text)), report)
    all_nodes = list(nodes(tree))
    for key, kinds in BOUNDARIES.items():
        found = {trimmed(text, node.start_byte, node.end_byte) for node in all_nodes if node.is_named and node.type in kinds}
        wanted = {(span["start"], span["end"]) for span in document[key]}
        for start, end in sorted(found ^ wanted):
            line, source = line_of(text, start)
            side = "missing" if (start, end) in wanted else "extra"
            shown = text[start:end].decode().split("\n")[0]
            report["boundaries"].append(
                {"file": path.name, "line": line, "kind": key, "side": side, "text": shown, "source": source}
            )
    report["errors"] += [path.name] if tree.root_node.has_error else []
    report["files"] += 1


def compare(library, corpus):
    opal = language(library)
    parser = Parser(opal)
    query = Query(opal, (Path(__file__).parent.parent / "queries/highlights.scm").read_text())
    for other in ["injections", "folds", "locals", "tags"]:
        Query(opal, (Path(__file__).parent.parent / f"queries/{other}.scm").read_text())
    report = {"files": 0, "compared": 0, "different": 0, "differences": [], "boundaries": [], "errors": []}
    for path in sorted(Path(corpus).glob("*.opl")):
        compare_file(parser, query, path, report)
    for one in report["differences"]:
        text = Path(corpus, one["file"]).read_bytes()
        one["text"] = text[one.pop("start") : one.pop("end")].decode(errors="replace")
    print(json.dumps(report))


PIECES = [b"\n", b"}", b"{", b'"', b"'", b"@var.x", b"@retry(3) {", b"fun f() {\n", b"<<E\n", b"E\n", b"$(", b")", b"`", b"#", b"//"]
PIECES += [b"case x in\n", b"esac\n", b"[[ ", b" ]]", b"/*", b"*/", b'"""', b"\\", b"->", b"when x {\n", b"let.a = @shell(", b"@script(\"sh\") {\n"]
PIECES += [b"\xff", "ü".encode(), b"\r\n", b"\xef\xbb\xbf", b"\0", b"a: b\n", b"x = 1\n", b"${", b"((", b" && ", b" | ", b"@"]


def point(text, at):
    start = text.rfind(b"\n", 0, at) + 1
    return (text.count(b"\n", 0, at), at - start)


def edited(text, chance):
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice([0, 0, 1, 2, 10]))
    return start, end, chance.choice(PIECES) if chance.random() < 0.8 else text[start : start + chance.randrange(20)]


def same(one, other):
    """Whether two trees have the same nodes at the same places."""
    return all(
        (a.type, a.start_byte, a.end_byte) == (b.type, b.start_byte, b.end_byte) for a, b in zip(nodes(one), nodes(other), strict=True)
    )


def changed(parser, tree, text, start, end, piece):
    """The text after an edit, and its tree, made from the old one."""
    after = text[:start] + piece + text[end:]
    new_end = start + len(piece)
    tree.edit(start, end, new_end, point(text, start), point(text, end), point(after, new_end))
    return after, parser.parse(after, tree)


def edit(library, corpus, rounds):
    parser = Parser(language(library))
    chance = random.Random(7)
    paths = sorted(Path(corpus).glob("*.opl"))
    report = {"edits": 0, "compared": 0, "different": []}
    for _ in range(rounds):
        path = chance.choice(paths)
        first = text = path.read_bytes()
        tree = parser.parse(text)
        done = []
        for _ in range(8):
            start, end, piece = edited(text, chance)
            done.append((start, start + len(piece), text[start:end]))
            text, tree = changed(parser, tree, text, start, end, piece)
            report["edits"] += 1
            whole = parser.parse(text)
            # How an error is passed over depends on where the parser begins.
            if whole.root_node.has_error:
                continue
            report["compared"] += 1
            if not same(tree, whole):
                report["different"].append({"file": path.name, "text": text.decode(errors="replace")})
                break
        for start, end, piece in reversed(done):
            text, tree = changed(parser, tree, text, start, end, piece)
        if text != first or not same(tree, parser.parse(first)):
            report["different"].append({"file": path.name, "text": "as it was before the edits"})
    print(json.dumps(report))


SHORT = b"""// Ships it.
fun deploy(place: "dev" | "prod") {
    @retry(3) {
        echo "@var.place" [x]
    }
}

build:
    true
"""


def editors(library):
    opal = language(library)
    root = Path(__file__).parent.parent.parent.parent
    zed = root / "editors/zed"
    tree = Parser(opal).parse(SHORT)
    report = {"errors": tree.root_node.has_error, "queries": {}}
    for path in sorted((zed / "languages/opal").glob("*.scm")):
        captured = {}
        for _, captures in QueryCursor(Query(opal, path.read_text())).matches(tree.root_node):
            for name, those in captures.items():
                captured.setdefault(name, []).extend(node.text.decode() for node in those)
        report["queries"][path.name] = captured
    report["language"] = tomllib.loads((zed / "languages/opal/config.toml").read_text())
    report["extension"] = tomllib.loads((zed / "extension.template.toml").read_text())
    guide = (root / "docs/guide/editors.md").read_text()
    helix = guide.split("\n## Helix\n")[1].split("\n## ")[0]
    report["helix"] = tomllib.loads(helix.split("```text\n")[1].split("```")[0])
    print(json.dumps(report))


warnings.simplefilter("error")
if __name__ == "__main__":
    if sys.argv[1] == "compare":
        compare(*sys.argv[2:])
    elif sys.argv[1] == "editors":
        editors(sys.argv[2])
    else:
        edit(sys.argv[2], sys.argv[3], int(sys.argv[4]))
