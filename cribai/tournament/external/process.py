"""A bot's process, and lines to and from it, none of them without a time limit.

One selector serves all three streams, so that whatever a bot does to one of them (reads nothing,
writes without end, falls silent) neither blocks the others nor outlives the limit.
"""

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

MAX_LINE: Final = 1 << 20
"""Bytes that a bot may write where one line is due."""

GRACE: Final = 0.5
"""Seconds that a bot has to end by itself when its input does."""

_CHUNK: Final = 1 << 16
_MAX_ERRORS: Final = 4096  # what is kept of the error stream's end
_MAX_WORDS: Final = 300  # what is shown of it
_MAX_DRAINED: Final = 32  # chunks read of a dead bot's error stream, more than a pipe holds
_DYING: Final = 0.2  # seconds that a bot without output has to exit, for its status
_KILLED: Final = 5.0  # seconds in which a killed process is gone, if the system can do it at all

CRASH: Final = "crash"
TIMEOUT: Final = "timeout"
GARBLED: Final = "garbled"


class BotError(Exception):
    """What a bot did wrong; for the message, the rest of a sentence that begins with the bot.

    Attributes:
        reason: CRASH, TIMEOUT or GARBLED.
        mend: What to do about it, if that is known.
        words: What the bot wrote last on its error stream.
    """

    def __init__(self, reason: str, what: str, mend: str = "") -> None:
        super().__init__(what)
        self.reason = reason
        self.mend = mend
        self.words = ""

    def __str__(self) -> str:
        """Returns what happened, and the bot's last words."""
        return f"{self.args[0]}{f' ({self.words})' if self.words else ''}"


class BotProcess:
    """A program that runs until it is stopped or the object is gone.

    It leads a process group of its own, which ends with it.

    Args:
        words: The program and its arguments.

    Raises:
        BotError: It cannot be started.
    """

    def __init__(self, words: Sequence[str]) -> None:
        if os.name != "posix":
            raise BotError(CRASH, "needs pipes that can be waited for", "use a POSIX system")
        self._process = _start(words)
        self._owner = os.getpid()
        self._selector = selectors.DefaultSelector()
        # Ends what was not stopped, at the latest when Python ends.
        self._finalizer = weakref.finalize(self, _end, self._process, self._selector, self._owner)
        self._stdin, self._stdout, self._stderr = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._unsent = memoryview(b"")
        self._received = bytearray()
        self._errors = bytearray()
        self._is_open = True  # the bot's output

    @property
    def pid(self) -> int:
        """The number of the process, and of its group."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it was started by this process, not by one that this is a fork of, and runs."""
        return self._finalizer.alive and self._owner == os.getpid()

    @property
    def last_words(self) -> str:
        """The line that tells most of what the bot last wrote on its error stream."""
        text = self._errors.decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # Node prints its version after the error, others print advice.
        telling = [line for line in lines if "error" in line.lower()] or lines
        shown = telling[-1][:_MAX_WORDS] if telling else ""
        return "".join(letter if letter.isprintable() else "?" for letter in shown)

    def exchange(self, line: bytes, limit: float) -> bytes:
        """Sends a line and returns the next one that the bot writes.

        Args:
            line: What to send, with its end.
            limit: Seconds for both.

        Raises:
            BotError: The bot died, was too slow or wrote too much.
        """
        deadline = time.monotonic() + limit
        self._send(line, deadline, limit)
        self._wait(self._has_line, deadline, f"did not answer within {limit:g} s")
        answer, _, rest = self._received.partition(b"\n")
        self._received = rest
        return bytes(answer)

    def send(self, line: bytes, limit: float) -> None:
        """Sends a line that has no answer.

        Args:
            line: What to send, with its end.
            limit: Seconds for it.

        Raises:
            BotError: The bot died, does not read or wrote too much.
        """
        self._send(line, time.monotonic() + limit, limit)

    def stop(self, grace: float = 0.0) -> None:
        """Ends the process and its group; once is enough.

        Args:
            grace: Seconds that the bot has to end by itself; none by default.
        """
        if self._finalizer.detach() is None:
            return
        _kill(self._process, self._owner, grace)
        with suppress(OSError):  # Nothing more is there.
            for _ in range(_MAX_DRAINED):
                if not self._read_errors():
                    break
        _close(self._process, self._selector)

    def _send(self, line: bytes, deadline: float, limit: float) -> None:
        self._unsent = memoryview(line)
        if self._flush():
            return
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._wait(self._flush, deadline, f"did not read what it was sent within {limit:g} s")
        self._selector.unregister(self._stdin)

    def _flush(self) -> bool:
        """Writes what the pipe takes; returns whether all is written."""
        if not self._is_open:
            raise self._death()
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            raise self._death() from None
        return not self._unsent

    def _has_line(self) -> bool:
        if b"\n" in self._received:
            return True
        if not self._is_open:
            raise self._death()
        return False

    def _wait(self, is_done: Callable[[], bool], deadline: float, failure: str) -> None:
        while not is_done():
            left = deadline - time.monotonic()
            self._read(max(left, 0.0))
            # What was there in time counts, even if this process was held up.
            if left <= 0 and not is_done():
                raise BotError(TIMEOUT, failure)

    def _read(self, timeout: float) -> None:
        """Reads what there is, and waits for something if there is nothing."""
        for key, _ in self._selector.select(timeout):
            if key.fd == self._stdout:
                self._is_open = self._read_output()
            elif key.fd == self._stderr and not self._read_errors():
                self._selector.unregister(self._stderr)

    def _read_output(self) -> bool:
        chunk = os.read(self._stdout, _CHUNK)
        self._received += chunk
        if len(self._received) > MAX_LINE:
            raise BotError(GARBLED, f"wrote more than {MAX_LINE} bytes where one line was due")
        if not chunk:
            self._selector.unregister(self._stdout)
        return bool(chunk)

    def _read_errors(self) -> bool:
        chunk = os.read(self._stderr, _CHUNK)
        self._errors += chunk
        del self._errors[:-_MAX_ERRORS]
        return bool(chunk)

    def _death(self) -> BotError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING)
        status = self._process.returncode
        if status is None:
            return BotError(CRASH, "closed its input or output")
        if status < 0:
            return BotError(CRASH, f"was killed by signal {-status}")
        return BotError(CRASH, f"exited with status {status}")


def _start(words: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise BotError(
            CRASH,
            f"cannot be started, for the program {words[0]!r} is not found",
            "install it, or write its path",
        ) from None
    except (OSError, ValueError) as error:
        raise BotError(CRASH, f"cannot be started: {error}", "mend the command") from None


def _end(process: subprocess.Popen[bytes], selector: selectors.BaseSelector, owner: int) -> None:
    _kill(process, owner, GRACE)
    _close(process, selector)


def _kill(process: subprocess.Popen[bytes], owner: int, grace: float) -> None:
    if owner != os.getpid():
        process.returncode = 0  # A fork has no such child, so there is nothing to wait for.
        return
    if process.stdin is not None:
        process.stdin.close()
    if grace > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    # Also when the bot has ended: it may have left children behind.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILLED)


def _close(process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> None:
    selector.close()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
