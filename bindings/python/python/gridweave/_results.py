"""Results of runs, as columns."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _gridweave

if TYPE_CHECKING:
    import pandas

Array = np.ndarray[Any, np.dtype[Any]]


class Table(Mapping[str, Array]):
    """Columns by name, as NumPy arrays. A column is made when it is asked for first.

    It is a mapping, so `pandas.DataFrame(dict(table))`, `polars.DataFrame(dict(table))` and `pyarrow.table(dict(table))`
    take it.
    """

    def __init__(self, names: tuple[str, ...], make: Callable[[str], Array]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._names)}")
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Table of {', '.join(self._names)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """All columns as a data frame of pandas, which must be installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("pandas is not installed; install it, or take columns one by one as NumPy arrays") from None
        return pandas.DataFrame(dict(self))


JOBS = (
    "job_id",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
)

SERIES = (
    "time",
    "requested_utilization",
    "effective_utilization",
    "queue_length",
    "idle_nodes",
    "messages",
)

_STATES = np.array(_gridweave.FINAL_STATES, dtype=object)


class Result:
    """A finished run: its summary, its jobs, and the run over time.

    >>> import gridweave
    >>> result = gridweave.run(workload={"until": "12h"})
    >>> result
    <Result of central-easy on unilu-gaia-7d: 149 jobs, mean wait 0 s>
    >>> list(result.jobs)[:4]
    ['job_id', 'submission_time', 'requested_number_of_resources', 'requested_time']
    >>> result.series["time"][:3]
    array([   0., 3600., 7200.])
    """

    def __init__(self, run: _gridweave.Run) -> None:
        self._run = run
        self._summary: dict[str, Any] | None = None
        self._jobs = Table(JOBS, self._job_column)
        self._series = Table(SERIES, run.series_column)

    def _job_column(self, name: str) -> Array:
        column = self._run.job_column(name)
        if name == "final_state":
            return _STATES[column]
        if name == "allocated_resources":
            return np.array(column, dtype=object)
        assert isinstance(column, np.ndarray)
        return column

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` has: counts, waits, slowdowns, utilisation, messages, and the digest of the run."""
        if self._summary is None:
            self._summary = json.loads(self._run.summary())
        return self._summary

    @property
    def jobs(self) -> Table:
        """A row for each job, in the columns of `jobs.csv`. Times are seconds, and NaN is what did not happen."""
        return self._jobs

    @property
    def series(self) -> Table:
        """A row for each window of time (`report={"window": "1h"}`), in the columns of `series.csv`."""
        return self._series

    @property
    def scheduler(self) -> str:
        """The name of the scheduler."""
        return str(self.summary["scheduler"])

    @property
    def seed(self) -> int:
        """The seed of everything that is random."""
        return int(self.summary["seed"])

    @property
    def mean_wait(self) -> float:
        """How many seconds jobs waited on average; NaN if none ran."""
        wait = self.summary["wait"]
        return float(wait["mean"]) if wait else float("nan")

    @property
    def cost(self) -> dict[str, Any]:
        """The time and memory that the simulation took, as in `engine.json`."""
        cost: dict[str, Any] = json.loads(self._run.cost())
        return cost

    @property
    def config(self) -> str:
        """Everything that the run depends on, as TOML. `run(config=...)` with a file of it repeats the run, unless the jobs
        came from a data frame: those it names by a digest."""
        return self._run.config()

    @property
    def notes(self) -> list[str]:
        """Notes about the workload: acknowledgements, and what was left out."""
        return self._run.notes()

    def write(self, out: str | os.PathLike[str]) -> None:
        """Writes the files of `gridweave run --out`, with a report for the browser, into a folder.

        The folder appears whole or not at all, and replaces only an earlier result.
        """
        self._run.write(out)

    def wait_difference(self, other: Result) -> float:
        """By how many seconds jobs waited longer than in another run of these jobs, on average over the jobs that both ran;
        NaN if there is none.

        >>> import gridweave
        >>> easy, fcfs = (gridweave.run(scheduler=f"central-{name}") for name in ("easy", "fcfs"))
        >>> round(easy.wait_difference(fcfs))
        -139
        """
        self._same_jobs(other)
        difference = self._run.wait_difference(other._run)
        return math.nan if difference is None else difference

    def wait_ratio(self, other: Result) -> float | None:
        """The total wait divided by that of another run of these jobs, over the jobs that both ran; `None` if it is zero."""
        self._same_jobs(other)
        return self._run.wait_ratio(other._run)

    def _same_jobs(self, other: Result) -> None:
        if len(self._run) != len(other._run):
            raise ValueError(
                f"these runs have {len(self._run)} and {len(other._run)} jobs; compare runs of the same workload"
            )

    def __repr__(self) -> str:
        about = self.summary
        jobs, wait = about["jobs"]["submitted"], about["wait"]
        waited = f"mean wait {wait['mean']:,.0f} s" if wait else "none ran"
        return f"<Result of {about['scheduler']} on {about['workload']}: {jobs:,} jobs, {waited}>"
