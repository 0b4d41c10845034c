"""How far simulations are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """How far the runs of one call are together."""

    jobs: int
    """How many jobs are done."""
    all_jobs: int | None
    """How many jobs there are, if that is known before the end."""
    runs: int
    """How many runs are done."""
    all_runs: int
    """How many runs there are."""
    time: float
    """The latest simulated time, in seconds."""
    events: int
    """How many events there were."""


Watch = bool | Callable[[Progress], object] | None
"""Whether to show progress: yes, no, a function that is told, or only on terminals and in notebooks (`None`)."""


class _Line:
    """A line on a terminal or in a notebook that is written over and over, from the second second on."""

    def __init__(self, wait: float) -> None:
        self.began = time.monotonic()
        self.wait = wait
        self.width = 0

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self.began < self.wait:
            return
        jobs = f"{now.jobs:,} jobs" if now.all_jobs is None else f"{now.jobs:,} of {now.all_jobs:,} jobs"
        runs = "" if now.all_runs == 1 else f", {now.runs} of {now.all_runs} runs"
        text = f"gridweave: {jobs}{runs}, day {now.time / 86400:.1f}, {time.monotonic() - self.began:.0f} s"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def end(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def _is_seen() -> bool:
    """Whether standard error is a terminal or the output of a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")


class Watcher:
    """What Rust calls while simulations run; `with` ends the line."""

    def __init__(self, progress: Watch) -> None:
        self.line: _Line | None = None
        self.tell: Callable[[Progress], object] | None = None
        if progress is True or (progress is None and _is_seen()):
            self.line = _Line(0.0 if progress else 1.0)
            self.tell = self.line
        elif callable(progress):
            self.tell = progress
        elif progress not in (None, False):
            raise TypeError(f"progress is {progress!r}; give True, False or a function")

    @property
    def callback(self) -> Callable[..., None] | None:
        tell = self.tell
        if tell is None:
            return None

        def called(*numbers: int) -> None:
            tell(Progress(*numbers))

        return called

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.end()
