"""A generated statement as a tree, so that it can be written in two ways and made smaller while it still differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Union

Part = Union["Node", str]


@dataclasses.dataclass(eq=False)
class Node:
    """A piece of a statement: its parts, one after another, with `separator` between them.

    `type` makes it an expression of that type, `optional` a clause that may be left out, `least` a list that may lose
    elements down to that many, `joined` something that may be its first part alone, `value` a constant that may travel
    as a parameter.
    """

    parts: list[Part]
    type: str = ""
    optional: bool = False
    separator: str = ""
    least: int | None = None
    joined: bool = False
    value: str | None = None

    def text(self, parameters: list[str] | None = None) -> str:
        """The statement's text; constants become `$n` and go into `parameters` when that is given."""
        if parameters is not None and self.value is not None:
            parameters.append(self.value)
            return f"${len(parameters)}::{self.type}"
        parts = (part if isinstance(part, str) else part.text(parameters) for part in self.parts)
        return self.separator.join(part for part in parts if part or not self.separator)

    def nodes(self) -> Iterator[Node]:
        """This node and all below it, the larger ones first."""
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.nodes()

    def __str__(self) -> str:
        return self.text()


def join(*parts: Part) -> Node:
    """Parts one after another."""
    return Node(list(parts))


def maybe(*parts: Part) -> Node:
    """A clause that may be left out."""
    return Node(list(parts), optional=True)


def joined(*parts: Part) -> Node:
    """Parts of which the first may stand alone."""
    return Node(list(parts), joined=True)


def listed(parts: list[Node], separator: str = ", ", least: int = 1) -> Node:
    """A list that may lose elements."""
    return Node(list(parts), separator=separator, least=least)


def expression(type: str, *parts: Part) -> Node:
    """An expression of a type."""
    return Node(list(parts), type=type)


def shrink(
    tree: Node,
    still_differs: Callable[[Node], bool],
    *,
    trials: int = 300,
    null: Callable[[str], str] = lambda type: f"NULL::{type}",
) -> None:
    """Make `tree` smaller in place as long as `still_differs`; `null` writes a NULL of a type."""
    shrunk = True
    while shrunk and trials > 0:
        shrunk = False
        for node in list(tree.nodes()):
            for smaller in _smaller(node, null):
                before = node.parts, node.value
                if trials <= 0 or smaller == before[0]:
                    continue
                node.parts, node.value = smaller, None
                trials -= 1
                if still_differs(tree):
                    shrunk = True
                    break
                node.parts, node.value = before


def _smaller(node: Node, null: Callable[[str], str]) -> Iterator[list[Part]]:
    if node.optional and node.parts:
        yield []
    if node.joined and len(node.parts) > 1:
        yield node.parts[:1]
    if node.least is not None and len(node.parts) > node.least:
        for index in range(len(node.parts)):
            yield node.parts[:index] + node.parts[index + 1 :]
    if node.type and node.value is None and len(node.parts) > 1:
        yield [null(node.type)]
        for below in node.nodes():
            if below is not node and below.type == node.type:
                yield [below]
