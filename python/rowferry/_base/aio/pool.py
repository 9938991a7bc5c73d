"""A pool of connections, whatever they are: the drivers' pools say how to make, check, clean and close one."""

from __future__ import annotations

import abc
import asyncio
import logging
import os
import random
import time
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from ... import exceptions as err
from .waiting import AsyncAlarm, AsyncErrand, AsyncHolder, AsyncWaiter, Mutex

__all__ = ["AsyncBasePool", "PoolStatistics"]

C = TypeVar("C")

_log = logging.getLogger("rowferry.pool")


@dataclass(frozen=True)
class PoolStatistics:
    """What a pool has, and what it has done since it was made."""

    #: Connections that there are: idle, lent, being opened, checked or cleaned.
    size: int
    #: Connections that wait to be lent.
    idle: int
    #: Connections that are lent.
    lent: int
    #: Those who wait for a connection.
    waiting: int
    #: Connections that were opened.
    opened: int
    #: How often a connection was lent.
    acquired: int
    #: How often whoever wanted a connection had to wait.
    waited: int
    #: How often somebody waited too long.
    timed_out: int
    #: Connections that were found broken, or could not be cleaned.
    broken: int
    #: Connections that were closed for their age, or for being idle.
    retired: int


class _Member(Generic[C]):
    """A connection of the pool."""

    __slots__ = ("connection", "expires", "generation", "holder", "idle_since")

    def __init__(self, connection: C, expires: float | None, generation: int) -> None:
        self.connection = connection
        self.expires = expires
        self.generation = generation
        self.idle_since = time.monotonic()
        self.holder: AsyncHolder | None = None


class AsyncBasePool(abc.ABC, Generic[C]):
    """Connections that are lent and given back.

    Whoever waits longest is served first. The state changes under a mutex that is never held while waiting, so that
    what follows holds for tasks and for threads alike: a connection is idle, lent, or in the hands of one method here,
    and in each case counted in `size` once.
    """

    def __init__(
        self,
        *,
        min_size: int,
        max_size: int,
        acquire_timeout: float | None,
        max_lifetime: float | None,
        idle_timeout: float | None,
        check_after: float | None,
    ) -> None:
        if min_size < 0 or max_size < 1 or min_size > max_size:
            raise ValueError(
                f"invalid pool sizing: min_size={min_size}, max_size={max_size}; 0 <= min <= max, 1 <= max"
            )
        self._min_size = min_size
        self._max_size = max_size
        self._timeout = acquire_timeout
        self._max_lifetime = max_lifetime
        self._idle_timeout = idle_timeout
        self._check_after = check_after
        self._mutex = Mutex(self._settle)
        self._members: deque[_Member[C]] = deque()
        self._lent: dict[C, _Member[C]] = {}
        # Taken away from their borrowers, who will still give them back.
        self._severed: weakref.WeakSet[C] = weakref.WeakSet()
        # Given back by a finalizer that ran while the mutex was held.
        self._stray: deque[C] = deque()
        # In the order of their arrival; who gives up leaves from the middle.
        self._waiters: OrderedDict[AsyncWaiter[_Member[C]], None] = OrderedDict()
        self._size = 0
        self._generation = 0
        self._closing = False
        self._emptied: list[AsyncWaiter[None]] = []
        self._alarm = AsyncAlarm(self._retire)
        self._restocking = AsyncErrand(self._restock)
        #: `_before_lending` does something.
        self._has_rites = False
        if True:  # ASYNC
            # One timer for all who wait: to set one for each costs more than all the rest of lending.
            self._patience = AsyncAlarm(self._lose_patience)
        self._opened = self._acquired = self._waited = self._timed_out = self._broken = self._retired = 0
        if True:  # ASYNC
            self._loop: asyncio.AbstractEventLoop | None = None
        else:
            self._process = os.getpid()

    # -- what a driver says ------------------------------------------------------------------------------------------

    @abc.abstractmethod
    async def _connect(self) -> C:
        """Open a connection."""

    @abc.abstractmethod
    def _is_open(self, connection: C) -> bool:
        """False when the connection is known to be lost; asks nobody."""

    @abc.abstractmethod
    async def _check(self, connection: C) -> None:
        """Ask the server whether it is there; an `Error` when it is not. Does not wait for ever."""

    @abc.abstractmethod
    async def _clean(self, connection: C) -> None:
        """Make a connection as good as new after its use; an `Error` when that fails. Does not wait for ever."""

    async def _before_lending(self, connection: C) -> None:
        """What is done to a connection each time that it is lent. An error goes to whoever wanted it."""

    if True:  # ASYNC

        def _is_spotless(self, connection: C) -> bool:
            """True when `_clean` would find nothing to do; asks nobody."""
            return False

    @abc.abstractmethod
    def _part(self, connection: C) -> None:
        """Close a connection in good order, without waiting for it."""

    @abc.abstractmethod
    def _cut(self, connection: C) -> None:
        """Close a connection without a word."""

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def min_size(self) -> int:
        """How many connections are opened at the start, and kept however long they are idle."""
        return self._min_size

    @property
    def max_size(self) -> int:
        """The most connections at a time."""
        return self._max_size

    @property
    def size(self) -> int:
        """How many connections there are, the ones being opened included."""
        return self._size

    @property
    def idle_count(self) -> int:
        """How many connections wait to be lent."""
        return len(self._members)

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closing

    def statistics(self) -> PoolStatistics:
        """What the pool has, and what it has done so far."""
        with self._mutex:
            return PoolStatistics(
                size=self._size,
                idle=len(self._members),
                lent=len(self._lent),
                waiting=len(self._waiters),
                opened=self._opened,
                acquired=self._acquired,
                waited=self._waited,
                timed_out=self._timed_out,
                broken=self._broken,
                retired=self._retired,
            )

    def holders(self) -> list[str]:
        """Who holds a connection, for how long, and where it was asked for; the longest first."""
        with self._mutex:
            holders = [member.holder for member in self._lent.values() if member.holder is not None]
        return [str(holder) for holder in sorted(holders, key=lambda holder: holder.since)]

    def __repr__(self) -> str:
        state = "closed" if self._closing else "open"
        return f"<{type(self).__name__} {state}: {len(self._lent)} lent, {len(self._members)} idle of {self._max_size}>"

    # -- lending -----------------------------------------------------------------------------------------------------

    async def _open_first(self) -> None:
        """Open the connections that there shall be from the start."""
        self._enter()
        try:
            await self._open_missing()
        except BaseException:
            self._shut()
            raise

    async def _open_missing(self) -> None:
        """Open connections until there are as many as there shall be at least."""
        while True:
            with self._mutex:
                if self._closing or self._size >= self._min_size:
                    return
                self._size += 1
            member = None
            try:
                member = await self._open()
            finally:
                with self._mutex:
                    self._pass_on(member)

    async def _restock(self) -> None:
        """In the background: open what is missing after connections were lost, if the server lets us."""
        try:
            await self._open_missing()
        except err.Error as error:
            # Whoever needs a connection will try again, and is told.
            _log.warning("a lost connection could not be replaced yet: %s", error)

    def _enter(self) -> None:
        """Check that the pool may be used here."""
        if True:  # ASYNC
            loop = asyncio.get_running_loop()
            if self._loop is not loop:
                if self._loop is not None and not self._loop.is_closed():
                    raise err.InterfaceError("the pool is used by another event loop")
                # The connections died with their loop.
                with self._mutex:
                    self._alarm.cancel()
                    self._patience.cancel()
                    for connection in [member.connection for member in self._members] + list(self._lent):
                        self._cut(connection)
                    self._severed.update(self._lent)
                    self._members.clear()
                    self._lent.clear()
                    self._waiters.clear()
                    self._size = 0
                self._loop = loop
        else:
            if self._process != os.getpid():
                # A forked child: what there is belongs to the parent, also the mutex, if another thread had it.
                self._process = os.getpid()
                self._mutex = Mutex(self._settle)
                self._alarm.cancel()
                self._severed.update(self._lent)
                self._members.clear()
                self._lent.clear()
                self._waiters.clear()
                self._size = 0

    if True:  # ASYNC

        def _take_now(self) -> C | None:
            """Lend an idle connection when that takes no asking, waiting or opening: the common case, in few steps.

            None when `_acquire` has to see to it. There are no threads here, and what a finalizer may do between two
            steps leaves each of them right.
            """
            if (
                not self._members
                or self._waiters
                or self._closing
                or self._has_rites
                or self._loop is not asyncio.get_running_loop()
            ):
                return None
            member = self._members.pop()
            connection = member.connection
            # Makes the clock's only call, too.
            holder = AsyncHolder(3)
            idle = holder.since - member.idle_since
            if (
                (member.expires is not None and holder.since >= member.expires)
                or member.generation != self._generation
                or (self._check_after is not None and idle >= self._check_after)
                or (self._idle_timeout is not None and idle >= self._idle_timeout > 0)
                or not self._is_open(connection)
            ):
                self._members.append(member)
                return None
            member.holder = holder
            self._lent[connection] = member
            self._acquired += 1
            return connection

        def _give_back_now(self, connection: C) -> bool:
            """Take a connection back that needs no care, in few steps. False when `release` has to see to it."""
            member = self._lent.get(connection)
            if (
                member is None
                or self._closing
                or (self._idle_timeout is not None and not self._alarm.is_set)
                or self._mutex.is_mine()
                or not self._is_spotless(connection)
            ):
                return False
            now = time.monotonic()
            if (member.expires is not None and now >= member.expires) or member.generation != self._generation:
                return False
            del self._lent[connection]
            member.holder = None
            member.idle_since = now
            if self._waiters:
                with self._mutex:
                    self._pass_on(member)
            else:
                self._members.append(member)
            return True

    async def _acquire(self, timeout: float | None) -> C:
        self._enter()
        member: _Member[C] | None = None
        with self._mutex:
            if self._closing:
                raise err.PoolClosed("the pool is closed")
            waiter: AsyncWaiter[_Member[C]] | None = None
            # Nobody overtakes those who wait.
            if not self._waiters:
                member = self._take()
            if member is None:
                if not self._waiters and self._size < self._max_size:
                    self._size += 1
                else:
                    waiter = AsyncWaiter()
                    self._waiters[waiter] = None
                    self._waited += 1
        if waiter is not None:
            member = await self._wait(waiter, timeout)
        return await self._lend(member)

    def _take(self) -> _Member[C] | None:
        """An idle connection that is fit. The one used last is the least likely to have been dropped by the server."""
        while self._members:
            member = self._members.pop()
            if self._is_fit(member):
                return member
            self._size -= 1
        return None

    def _is_fit(self, member: _Member[C]) -> bool:
        """True when the connection may be lent; otherwise it is closed."""
        if not self._is_open(member.connection):
            self._broken += 1
            self._cut(member.connection)
            return False
        now = time.monotonic()
        old = member.expires is not None and now >= member.expires
        if old or member.generation != self._generation or self._is_stale(member, now):
            self._retired += 1
            self._part(member.connection)
            return False
        return True

    def _is_stale(self, member: _Member[C], now: float) -> bool:
        return self._idle_timeout is not None and now - member.idle_since >= self._idle_timeout > 0

    async def _wait(self, waiter: AsyncWaiter[_Member[C]], timeout: float | None) -> _Member[C] | None:
        """What the waiter is given: a connection, or the place for one."""
        try:
            if True:  # ASYNC
                self._watch(waiter, timeout)
                if await waiter.answered():
                    return waiter.result()
            else:
                waiter.wait(timeout)
        except BaseException:
            # What was given at the same moment goes on to the next.
            with self._mutex:
                if not waiter.done:
                    del self._waiters[waiter]
                elif waiter.failure is None:
                    self._pass_on(waiter.value)
            raise
        with self._mutex:
            if waiter.done:
                return waiter.result()
            del self._waiters[waiter]
            self._timed_out += 1
            others = len(self._waiters)
        holders = self.holders()
        held = f"; held longest by {', '.join(holders[:3])}" if holders else ""
        raise err.PoolTimeout(
            f"no connection became free within {timeout} s: {len(holders)} are lent (max_size={self._max_size}), "
            f"{others} more wait{held}"
        )

    if True:  # ASYNC

        def _watch(self, waiter: AsyncWaiter[_Member[C]], timeout: float | None) -> None:
            """Have the waiter give up in time."""
            if timeout is not None:
                waiter.deadline = asyncio.get_running_loop().time() + timeout
                due = self._patience.due
                if due is None or waiter.deadline < due:
                    self._patience.cancel()
                    self._patience.set(timeout)

        def _lose_patience(self) -> None:
            """Whoever has waited for long enough gives up. Called by the alarm."""
            # Loops ring up to their clock's resolution early.
            now = asyncio.get_running_loop().time() + 0.001
            with self._mutex:
                left = []
                for waiter in self._waiters:
                    if waiter.deadline is not None:
                        if waiter.deadline <= now:
                            waiter.give_up()
                        else:
                            left.append(waiter.deadline)
                if left:
                    self._patience.set(min(left) - now)

    async def _lend(self, member: _Member[C] | None) -> C:
        """Lend this connection, or a new one in its place; whatever fails, the place goes on to the next."""
        if True:  # ASYNC
            if member is not None and not (self._closing or self._has_rites or self._wants_check(member)):
                # Handed on by somebody else, who has just looked at it.
                member.holder = AsyncHolder(3)
                self._lent[member.connection] = member
                self._acquired += 1
                return member.connection
        try:
            if member is not None and self._wants_check(member):
                try:
                    await self._check(member.connection)
                except err.Error as error:
                    _log.info("a pooled connection did not answer, and is replaced: %s", error)
                    self._broken += 1
                    self._cut(member.connection)
                    member = None
            if member is None:
                member = await self._open()
            if self._has_rites:
                await self._before_lending(member.connection)
        except BaseException:
            with self._mutex:
                if member is not None:
                    self._cut(member.connection)
                self._pass_on(None)
            raise
        with self._mutex:
            if self._closing:
                self._part(member.connection)
                self._pass_on(None)
                raise err.PoolClosed("the pool was closed")
            member.holder = AsyncHolder()
            self._lent[member.connection] = member
            self._acquired += 1
        return member.connection

    def _wants_check(self, member: _Member[C]) -> bool:
        return self._check_after is not None and time.monotonic() - member.idle_since >= self._check_after

    async def _open(self) -> _Member[C]:
        """A new connection; its place is counted already."""
        generation = self._generation
        connection = await self._connect()
        expires = None
        if self._max_lifetime is not None:
            # Those opened together do not all expire together.
            expires = time.monotonic() + self._max_lifetime * random.uniform(0.9, 1.0)
        with self._mutex:
            self._opened += 1
        return _Member(connection, expires, generation)

    async def release(self, connection: C, *, broken: bool = False) -> None:
        """Take a connection back: cleaned it is lent again; closed when it is `broken` or does not come clean."""
        if self._mutex.is_mine():
            self._stray.append(connection)
            return
        with self._mutex:
            member = self._lent.pop(connection, None)
            if member is None:
                if connection in self._severed:
                    # It was taken from its borrower, who is not to blame, and may be on the way out with an exception.
                    self._severed.discard(connection)
                    return
                raise err.InterfaceError("the connection is not lent by this pool")
            member.holder = None
        clean = False
        try:
            if not broken and not self._closing and self._is_open(connection):
                await self._clean(connection)
                clean = self._is_open(connection)
        except err.Error as error:
            _log.warning("a connection could not be cleaned, and is replaced: %s", error)
        finally:
            with self._mutex:
                member.idle_since = time.monotonic()
                if self._closing:
                    self._part(connection)
                elif not clean:
                    self._broken += 1
                    self._cut(connection)
                elif not self._is_fit(member):
                    clean = False
                self._pass_on(member if clean and not self._closing else None)
                if self._size < self._min_size and not self._closing:
                    self._restocking.start()

    def _settle(self) -> None:
        while self._stray:
            connection = self._stray.popleft()
            if self._lent.pop(connection, None) is not None:
                self._cut(connection)
                self._pass_on(None)

    def _pass_on(self, member: _Member[C] | None) -> None:
        """A connection, or the place for one, goes to whoever waits longest. The mutex is held."""
        if self._closing and member is not None:
            self._part(member.connection)
            member = None
        if self._waiters:
            waiter, _ = self._waiters.popitem(last=False)
            waiter.grant(member)
        elif member is not None:
            self._members.append(member)
            if self._idle_timeout is not None and not self._alarm.is_set and self._size > self._min_size:
                self._alarm.set(max(self._idle_timeout, 0.01))
        else:
            self._size -= 1
            if self._closing and self._size == 0:
                for emptied in self._emptied:
                    if not emptied.done:
                        emptied.grant(None)

    def _retire(self) -> None:
        """Close what was idle for too long, down to the least size. Called by the alarm."""
        if self._idle_timeout is None:
            return
        with self._mutex:
            now = time.monotonic()
            # The one used longest ago is at the left end.
            while self._members and self._size > self._min_size and self._is_stale(self._members[0], now):
                member = self._members.popleft()
                self._size -= 1
                self._retired += 1
                self._part(member.connection)
            if self._members and self._size > self._min_size and not self._closing:
                self._alarm.set(max(self._idle_timeout - (now - self._members[0].idle_since), 0.01))

    # -- end ---------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Close the connections that are idle; those lent are closed when they come back. New ones take their place."""
        self._enter()
        with self._mutex:
            self._generation += 1
            while self._members:
                self._size -= 1
                self._part(self._members.pop().connection)

    def _shut(self) -> None:
        with self._mutex:
            self._closing = True
            self._alarm.cancel()
            if True:  # ASYNC
                self._patience.cancel()
            idle = [member.connection for member in self._members]
            self._members.clear()
            while self._waiters:
                waiter, _ = self._waiters.popitem(last=False)
                waiter.fail(err.PoolClosed("the pool was closed"))
            for connection in idle:
                self._part(connection)
            self._size -= len(idle)

    async def close(self) -> None:
        """Lend nothing any more: who waits gets `PoolClosed`, what is idle is closed.

        What is lent stays with whoever has it, and is closed when it comes back; `wait_closed` waits for that.
        """
        self._enter()
        self._shut()
        if True:  # ASYNC
            # Closed transports take a turn of the event loop to go.
            await asyncio.sleep(0)

    async def terminate(self) -> None:
        """Close, and cut the connections that are lent, too."""
        await self.close()
        with self._mutex:
            lent = list(self._lent)
        for connection in lent:
            self._cut(connection)

    async def wait_closed(self, timeout: float | None = None) -> None:
        """Wait until every connection is back and closed, at most `timeout` seconds; then `PoolTimeout` says who
        holds them. Call `close` first.
        """
        with self._mutex:
            if not self._closing:
                raise err.PoolOpen("wait_closed() should be called after close()")
            if self._size == 0:
                return
            waiter = AsyncWaiter[None]()
            self._emptied.append(waiter)
        try:
            if not await waiter.wait(timeout):
                raise err.PoolTimeout(f"not all connections came back within {timeout} s: {', '.join(self.holders())}")
        finally:
            with self._mutex:
                self._emptied.remove(waiter)
