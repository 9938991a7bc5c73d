#!/usr/bin/env python3
"""Writes `crates/dialect/src/postgres/raw/nodes.rs`: how each node of PostgreSQL's parser is read where it lies.

    tools/postgres_tree.py [--check]    with --check only says whether the file is as it would be written

The crate pg_query brings the parser's headers and the list of the fields that it serialises; a small C program tells
where the fields lie. They lie there on every machine whose pointers have 64 bits and whose enums have 32.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "crates/dialect/src/postgres/raw/nodes.rs"
#: Nodes that are written by hand: values and lists.
BY_HAND = ["Integer", "Float", "Boolean", "String", "BitString", "List", "A_Const"]
#: Files of the parser that make nodes.
MAKERS = ["parser_gram", "parser_parser", "nodes_makefuncs"]


@dataclass
class Field:
    """A field of a node, as it is serialised."""

    kind: str
    name: str
    at: str
    of: str = ""


@dataclass
class Node:
    """A kind of node: its message, the C structure, the fields."""

    message: str
    structure: str
    fields: list[Field] = field(default_factory=list)


def crate() -> Path:
    """The directory of the crate that brings the parser."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    [found] = [package for package in packages if package["name"] == "pg_query"]
    return Path(found["manifest_path"]).parent


def read_nodes(text: str) -> dict[str, Node]:
    """The nodes that are serialised, by the name of their function."""
    nodes = {}
    pattern = r"^_out(\w+)\(OUT_TYPE\((\w+), \w+\) out, const (\w+) \*node\)\n\{\n(.*?)^\}"
    for function, message, structure, body in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
        node = Node(message, structure)
        for kind, arguments in re.findall(r"WRITE_(\w+)_FIELD\(([^)]*)\)", body):
            parts = [part.strip() for part in arguments.split(",")]
            of = parts[1] if kind in ("ENUM", "SPECIFIC_NODE", "SPECIFIC_NODE_PTR") else ""
            node.fields.append(Field(kind, parts[-3], parts[-1], of))
        nodes[function] = node
    return nodes


def read_messages(text: str) -> tuple[dict[str, dict[str, str]], dict[str, tuple[str, str]]]:
    """The Rust types of the fields of each message, and of each message the variant of `node::Node` and its type."""
    messages = {}
    for name, body in re.findall(r"^pub struct (\w+) \{(?:\}|\n(.*?)^\})", text, re.MULTILINE | re.DOTALL):
        messages[name] = dict(re.findall(r"^    pub (?:r#)?(\w+): ([^#]*?),$", body, re.MULTILINE))
    [body] = re.findall(r"^    pub enum Node \{\n(.*?)^    \}", text, re.MULTILINE | re.DOTALL)
    variants = {}
    for variant, kind in re.findall(r"^        (\w+)\(([^#]*?)\),$", body, re.MULTILINE):
        message = re.search(r"super::(\w+)", kind)
        assert message is not None, kind
        variants[message[1]] = (variant, kind)
    return messages, variants


def ask(library: Path, nodes: dict[str, Node], enums: dict[str, list[str]], tags: list[str]) -> dict[str, int]:
    """What the C compiler says: offsets and sizes of fields, numbers of tags and enums."""
    lines = []
    for node in nodes.values():
        for each in node.fields:
            place = f"{node.structure}.{each.at}"
            lines.append(f'printf("{place} %zu\\n", offsetof({node.structure}, {each.at}));')
            lines.append(f'printf("size {place} %zu\\n", sizeof((({node.structure} *) 0)->{each.at}));')
    for place in [
        "Integer.ival",
        "Float.fval",
        "Boolean.boolval",
        "String.sval",
        "BitString.bsval",
        "A_Const.val",
        "A_Const.isnull",
        "A_Const.location",
        "List.length",
        "List.elements",
    ]:
        structure, member = place.split(".")
        lines.append(f'printf("{place} %zu\\n", offsetof({structure}, {member}));')
    for name, labels in enums.items():
        for label in labels:
            lines.append(f'printf("of {name}.{label} %d\\n", (int) {label});')
            lines.append(f'printf("to {name}.{label} %d\\n", _enumToInt{name}({label}));')
    lines += [f'printf("tag {tag} %d\\n", (int) T_{tag});' for tag in tags]
    program = "\n".join(
        [
            '#include "postgres.h"',
            "#include <stdio.h>",
            '#include "nodes/parsenodes.h"',
            '#include "nodes/plannodes.h"',
            '#include "nodes/value.h"',
            '#include "pg_query_enum_defs.c"',
            "#undef printf",
            "int main(void) {",
            *lines,
            "return 0; }",
        ]
    )
    with tempfile.TemporaryDirectory() as directory:
        source, binary = Path(directory) / "places.c", Path(directory) / "places"
        source.write_text(program)
        includes = [library, library / "src/postgres/include", library / "src/include", library / "src"]
        command = ["cc", "-w", "-o", binary, source, *[f"-I{path}" for path in includes]]
        subprocess.run(command, check=True)
        said = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    return {key: int(value) for key, value in (line.rsplit(" ", 1) for line in said.splitlines())}


def wanted(library: Path, nodes: dict[str, Node], arms: dict[str, str]) -> set[str]:
    """The functions of the nodes that the parser makes, and of those within them."""
    source = library / "src/postgres"
    made = set()
    for file in MAKERS:
        made |= set(re.findall(r"makeNode\((\w+)\)", (source / f"src_backend_{file}.c").read_text()))
    todo = [arms[name] for name in made if name in arms]
    found: set[str] = set()
    while todo:
        function = todo.pop()
        if function in found or function not in nodes:
            continue
        found.add(function)
        todo += [each.of for each in nodes[function].fields if each.kind.startswith("SPECIFIC")]
    return found


def snake(name: str) -> str:
    """A function's name for a message."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


KEYWORDS = {"type", "abstract", "as", "where", "ref", "override", "match", "move", "in"}


def spelled(name: str) -> str:
    """A field as Rust spells it."""
    return f"r#{name}" if name in KEYWORDS else name


def write(library: Path) -> str:
    """The file."""
    include = library / "libpg_query/src/include"
    nodes = read_nodes((include / "pg_query_outfuncs_defs.c").read_text())
    messages, variants = read_messages((library / "src/protobuf.rs").read_text())
    arms = {}
    conditions = (include / "pg_query_outfuncs_conds.c").read_text()
    for tag, message, function in re.findall(r"case T_(\w+):\n  OUT_NODE\((\w+), (\w+),", conditions):
        arms[tag] = function
        del message
    functions = wanted(library / "libpg_query", nodes, arms)
    nodes = {name: node for name, node in nodes.items() if name in functions}
    enumerations = (include / "pg_query_enum_defs.c").read_text()
    used = {each.of for node in nodes.values() for each in node.fields if each.kind == "ENUM"}
    enums = {}
    for name in sorted(used):
        [body] = re.findall(rf"^_enumToInt{name}\(\w+ value\) \{{\n(.*?)^\}}", enumerations, re.MULTILINE | re.DOTALL)
        enums[name] = re.findall(r"case (\w+):", body)
    tags = [tag for tag, function in arms.items() if function in nodes or tag in BY_HAND]
    said = ask(library / "libpg_query", nodes, enums, tags)
    numbers = {
        name: [(said[f"of {name}.{label}"], said[f"to {name}.{label}"]) for label in labels]
        for name, labels in enums.items()
    }

    out = [
        "// Written by tools/postgres_tree.py from the headers of libpg_query; changes here are lost.",
        "",
        "//! Where the fields of the parser's nodes lie.",
        "",
        "use pg_query::protobuf as p;",
        "use pg_query::protobuf::node::Node as N;",
        "",
        "use super::tree::{Obstacle, Place, Reader};",
        "",
        "/// Where values and lists have what is theirs.",
        "pub(super) mod at {",
    ]
    seen = "    pub(in crate::postgres::raw) const"
    for place in ["Integer.ival", "Float.fval", "Boolean.boolval", "String.sval", "BitString.bsval", "A_Const.val"]:
        out.append(f"{seen} {snake(place.split('.')[0]).upper()}: usize = {said[place]};")
    for name, place in [
        ("A_CONST_ISNULL", "A_Const.isnull"),
        ("A_CONST_LOCATION", "A_Const.location"),
        ("LIST_LENGTH", "List.length"),
        ("LIST_ELEMENTS", "List.elements"),
    ]:
        out.append(f"{seen} {name}: usize = {said[place]};")
    out += ["}", "", "/// Their tags.", "pub(super) mod tag {"]
    out += [f"{seen} {snake(tag).upper()}: u32 = {said[f'tag {tag}']};" for tag in BY_HAND]
    out += ["}", ""]

    out += [
        "impl Reader {",
        "    /// Reads the node of this tag.",
        "    pub(super) fn tagged(&mut self, tag: u32, at: Place<'_>, to: &mut Option<N>) {",
        "        *to = Some(match tag {",
    ]
    for tag in tags:
        if tag in BY_HAND:
            continue
        message = nodes[arms[tag]].message
        rust = next(name for name in variants if name.replace("_", "").lower() == message.replace("_", "").lower())
        variant, kind = variants[rust]
        call = f"self.read_{snake(rust)}(at)"
        out.append(
            f"            {said[f'tag {tag}']} => N::{variant}({f'Box::new({call})' if 'boxed' in kind else call}),"
        )
    out += ["            _ => return self.stopped_by(Obstacle::Unknown(tag)),", "        });", "    }", ""]

    for node in nodes.values():
        rust = next(name for name in messages if name.replace("_", "").lower() == node.message.replace("_", "").lower())
        types = messages[rust]
        place = "at" if node.fields else "_"
        out.append(f"    fn read_{snake(rust)}(&mut self, {place}: Place<'_>) -> p::{rust} {{")
        out.append(f"        p::{rust} {{")
        for each in node.fields:
            place = said[f"{node.structure}.{each.at}"]
            size = said[f"size {node.structure}.{each.at}"]
            kind = types.pop(each.name)
            boxed = "boxed" in kind
            if each.kind in ("INT", "UINT", "LONG", "UINT64"):
                read = f"{'u' if each.kind.startswith('U') else 'i'}{size * 8}"
                value = f"at.{read}({place})" if read == kind else f"{kind}::from(at.{read}({place}))"
            elif each.kind == "BOOL":
                assert size == 1, each
                value = f"at.bool({place})"
            elif each.kind == "ENUM":
                assert size == 4, each
                steps = {to - of for of, to in numbers[each.of]}
                number = f"at.i32({place})"
                value = f"{number} + {steps.pop()}" if len(steps) == 1 else f"{snake(each.of)}({number})"
            elif each.kind == "STRING":
                value = f"self.text(at.pointer({place}))"
            elif each.kind == "CHAR":
                value = f"at.letter({place})"
            elif each.kind == "LIST":
                value = f"self.items(at.pointer({place}))"
            elif each.kind == "NODE_PTR":
                assert boxed, each
                value = f"self.node(at.pointer({place}))"
            elif each.kind in ("SPECIFIC_NODE_PTR", "SPECIFIC_NODE"):
                inner = next(name for name in messages if name.replace("_", "").lower() == each.of.lower())
                where = f"at.pointer({place})" if each.kind == "SPECIFIC_NODE_PTR" else f"Some(at.within({place}))"
                value = f"self.inner({where}, Self::read_{snake(inner)})" + (".map(Box::new)" if boxed else "")
            else:
                raise AssertionError(f"{node.structure}.{each.at} is of the kind {each.kind}")
            out.append(f"            {spelled(each.name)}: {value},")
        assert set(types) <= {"xpr"}, (rust, types)
        out += [f"            {spelled(name)}: None," for name in types]
        out += ["        }", "    }", ""]
    out += ["}", ""]

    for name, pairs in numbers.items():
        if len({to - of for of, to in pairs}) > 1:
            numbered = [f"{of} => {to}," for of, to in pairs]
            out += [f"fn {snake(name)}(value: i32) -> i32 {{", "match value {", *numbered, "_ => 0,", "}", "}", ""]
    text = "\n".join(out)
    command = ["rustfmt", "--edition", "2024", "--config-path", str(ROOT)]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Write the file, or compare."""
    written = write(crate())
    if "--check" in sys.argv[1:]:
        if written != TARGET.read_text():
            print(f"{TARGET.relative_to(ROOT)} is not what the parser's headers say: run tools/postgres_tree.py")
            return 1
        return 0
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
