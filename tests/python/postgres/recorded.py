"""Conversations that were recorded from a PostgreSQL 15.18, message by message, and how they are held again."""

from __future__ import annotations

from .wire import Wire, bind, describe, execute, parse

#: What is sent at once, and what came back, without reports of settings.
Conversation = list[tuple[tuple[bytes, ...], str]]


def one(sql: str, *values: bytes | None, portal: str = "", limit: int = 0, results: tuple[int, ...] = ()) -> bytes:
    """A statement through the extended protocol."""
    bound = bind(*values, portal=portal, results=results)
    return parse(sql) + bound + describe("P", portal) + execute(portal, limit)


def converse(session: Wire, conversation: Conversation) -> None:
    for messages, answers in conversation:
        session.send(*messages)
        assert " ".join(str(answer) for answer in session.ready() if answer.tag != "S") == answers
