"""What users call: runs, comparisons, sweeps, reproductions."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _columns, _gridweave
from ._progress import Watch, Watcher
from ._results import Result, Table

if TYPE_CHECKING:
    import pandas

Path = str | os.PathLike[str]


def run(
    trace: Any = None,
    scheduler: str | None = None,
    nodes: int | None = None,
    seed: int | None = None,
    estimates: str | None = None,
    *,
    workload: str | Mapping[str, Any] | None = None,
    config: Path | None = None,
    progress: Watch = None,
    **settings: Any,
) -> Result:
    """Replays a workload under one scheduler.

    `trace` is a file in SWF or GWF, also compressed with gzip; or jobs in a data frame, a dict of arrays or the like, with
    the columns

    - `submit`: when each job is submitted, in seconds or as times; the first job comes at time zero
    - `run`: how long it runs, in seconds or as time differences
    - `nodes`: how many nodes it takes at once
    - `requested`, if there: how long its user said it would run
    - `job`, `user`, `group`, `site`, `memory`, if there: whole numbers, as in SWF; `job` is the row's number from 0 on if
      it is left out

    Without a trace it is a bundled week of a real cluster.

    `scheduler` is one of `SCHEDULERS`, else `central-easy`. `nodes` is how many nodes there are, if the trace does not say
    it or to change it. `seed` decides everything that is random. `estimates` is what schedulers are told about run times:
    `exact`, or the requested times with `kill`, `extend` or `overrun`.

    `workload` is the name of a generator (`aria`, `desktop`, `grid5000-like`), or a dict with the settings of the table
    `[workload]`. Other `settings` are tables of a configuration (docs/reference/configuration.md), such as
    `network={"delay": {"kind": "constant", "delay": "50ms"}}`, or dotted keys, as in `**{"workload.load": 0.9}`. `config`
    is a file with a configuration to begin with.

    `progress` is a function that is called with a `Progress` about ten times a second, `True` to print a line, or `False`.
    If left out, a line is printed on terminals and in notebooks.

    >>> import gridweave
    >>> jobs = {"submit": [0, 10, 20], "run": [100, 50, 30], "nodes": [2, 4, 2]}
    >>> result = gridweave.run(jobs, scheduler="central-easy", nodes=4)
    >>> result.jobs["starting_time"]
    array([  0., 100.,  20.])
    >>> gridweave.run(jobs, nodes=4, scheduler="easy")
    Traceback (most recent call last):
    ValueError: scheduler: there is no scheduler 'easy'; choose one of central-fcfs, ...
    """
    asked, jobs = _columns.request(
        trace, nodes, config, workload, settings, scheduler=scheduler, seed=seed, workload__estimates=estimates
    )
    with Watcher(progress) as watcher:
        return Result(_gridweave.run(asked, jobs, watcher.callback))


class Contest(Mapping[str, list[Result]]):
    """A table of a comparison: by scheduler, its runs, one for each seed."""

    def __init__(self, name: str, title: str, reference: str, runs: Mapping[str, list[Result]]) -> None:
        self.name = name
        """`gangs`, `serial`, `requested` or `jobs`."""
        self.title = title
        """What it shows."""
        self.reference = reference
        """The scheduler that others are compared with."""
        self._runs = dict(runs)

    def __getitem__(self, scheduler: str) -> list[Result]:
        return self._runs[scheduler]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def summary(self, scheduler: str) -> dict[str, Any]:
        """The summary of a scheduler: of several seeds, each number as `{"mean": ..., "ci95": ...}`."""
        joined: dict[str, Any] = json.loads(_gridweave.joined([one._run for one in self._runs[scheduler]]))
        return joined

    def rows(self) -> list[dict[str, Any]]:
        """A row for each scheduler. The columns that end in `_ci95` are half-widths of 95 % confidence intervals over the
        seeds; of a single run they are NaN."""
        reference = self._runs[self.reference]
        rows = []
        for scheduler, runs in self._runs.items():
            row: dict[str, Any] = {"table": self.name, "scheduler": scheduler, "runs": len(runs)}
            figures: dict[str, list[float | None]] = {
                "completed": [one.summary["jobs"]["completed"] for one in runs],
                "rejected": [one.summary["jobs"]["rejected"] for one in runs],
                "mean_wait": [_figure(one.summary, "wait", "mean") for one in runs],
                "p95_wait": [_figure(one.summary, "wait", "p95") for one in runs],
                "mean_slowdown": [_figure(one.summary, "bounded_slowdown", "mean") for one in runs],
                "utilization": [_figure(one.summary, "utilization", "effective") for one in runs],
                "messages_per_job": [_figure(one.summary, "messages", "per_job") for one in runs],
                "wait_ratio": [one.wait_ratio(other) for one, other in zip(runs, reference, strict=True)],
            }
            for name, values in figures.items():
                row[name], half = _over([value for value in values if value is not None])
                if name not in ("completed", "rejected"):
                    row[f"{name}_ci95"] = half
            rows.append(row)
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas, which must be installed."""
        return _frame(self.rows())

    def __repr__(self) -> str:
        lines = [self.title, f"  {'scheduler':<22}{'completed':>10}{'mean wait s':>14}{'/ ' + self.reference:>20}"]
        for row in self.rows():
            lines.append(
                f"  {row['scheduler']:<22}{row['completed']:>10,.0f}{row['mean_wait']:>14,.1f}{row['wait_ratio']:>20.3f}"
            )
        return "\n".join(lines)


class Comparison(Mapping[str, Contest]):
    """Tables by name: `gangs`, jobs as they are; `serial`, each parallel job split; and with `requested=True` also
    `requested`, gangs with the times that users requested. Where nodes differ there is one table, `jobs`.

    >>> import gridweave
    >>> compared = gridweave.compare(["central-fcfs", "central-easy"], workload={"until": "2d"})
    >>> list(compared)
    ['gangs', 'serial']
    >>> compared["gangs"]["central-easy"][0]
    <Result of central-easy on unilu-gaia-7d: 800 jobs, mean wait 210 s>
    """

    def __init__(self, contests: Iterable[Contest]) -> None:
        self._contests = {contest.name: contest for contest in contests}

    def __getitem__(self, name: str) -> Contest:
        return self._contests[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._contests)

    def __len__(self) -> int:
        return len(self._contests)

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` of `gridweave compare` has: by table, a list with the summary of each scheduler."""
        tables: dict[str, Any] = {
            name: [contest.summary(scheduler) for scheduler in contest] for name, contest in self._contests.items()
        }
        runs = (one for contest in self._contests.values() for own in contest.values() for one in own)
        return {**tables, "partial": any(one.summary["partial"] for one in runs)}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows of all tables as a data frame of pandas, which must be installed."""
        return _frame([row for contest in self._contests.values() for row in contest.rows()])

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self._contests.values()))


def compare(
    schedulers: Iterable[str] = (),
    trace: Any = None,
    nodes: int | None = None,
    seed: int | None = None,
    estimates: str | None = None,
    *,
    requested: bool = False,
    runs: int = 1,
    workload: str | Mapping[str, Any] | None = None,
    config: Path | None = None,
    threads: int | None = None,
    progress: Watch = None,
    **settings: Any,
) -> Comparison:
    """Replays a workload under several schedulers, on all cores.

    `schedulers` are names; without any, all that can run the workload. `runs` is the number of seeds, from `seed` on. With
    `requested=True` gangs run a second time, with the times that users requested. `threads` is how many runs are made at
    once. All else is as in `run`.

    >>> import gridweave
    >>> compared = gridweave.compare(["central-fcfs", "central-easy"])
    >>> print(compared["gangs"])
    gangs, jobs as they are: unilu-gaia-7d, 1984 jobs on 2004 nodes
      scheduler              completed   mean wait s      / central-easy
      central-fcfs               1,984         250.2               2.253
      central-easy               1,984         111.1               1.000
    """
    names = _names("schedulers", schedulers)
    if not 1 <= _whole("runs", runs) <= 10_000:
        raise ValueError(f"runs is {runs}; give a number of seeds from 1 to 10000")
    asked, jobs = _columns.request(
        trace, nodes, config, workload, settings, seed=seed, workload__estimates=estimates
    )
    with Watcher(progress) as watcher:
        made = _gridweave.compare(asked, jobs, names, requested, runs, _threads(threads), watcher.callback)
    return Comparison(
        Contest(name, title, reference, {scheduler: [Result(one) for one in own] for scheduler, own in rows})
        for name, title, reference, rows in made
    )


class SweepRun:
    """A run of a sweep."""

    def __init__(self, name: str, values: dict[str, str], summary: dict[str, Any], result: Result | None) -> None:
        self.name = name
        """The varied keys with their values, as text."""
        self.values = values
        """The varied keys with their values; of keys that change together, only the first."""
        self.summary = summary
        """What `summary.json` has."""
        self.result = result
        """The whole result, if `keep=True` was given."""

    def __repr__(self) -> str:
        return f"<SweepRun {self.name}>"


class Sweep(Sequence[SweepRun]):
    """The runs of a sweep, in the order of keys and their values; the last key changes fastest."""

    def __init__(self, runs: Iterable[SweepRun]) -> None:
        self._runs = list(runs)

    def __getitem__(self, index: Any) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each run: the varied keys, and the figures of `table.csv`."""
        return [
            {
                **one.values,
                "submitted": one.summary["jobs"]["submitted"],
                "completed": one.summary["jobs"]["completed"],
                "killed": one.summary["jobs"]["killed"],
                "rejected": one.summary["jobs"]["rejected"],
                "mean_wait": _figure(one.summary, "wait", "mean"),
                "p95_wait": _figure(one.summary, "wait", "p95"),
                "mean_bounded_slowdown": _figure(one.summary, "bounded_slowdown", "mean"),
                "effective_utilization": _figure(one.summary, "utilization", "effective"),
                "messages": one.summary["messages"]["total"],
                "violations": one.summary["violations"],
            }
            for one in self._runs
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas, which must be installed."""
        return _frame(self.rows())

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} runs>"


def sweep(
    vary: Mapping[str, Iterable[Any]],
    trace: Any = None,
    scheduler: str | None = None,
    nodes: int | None = None,
    seed: int | None = None,
    estimates: str | None = None,
    *,
    keep: bool = False,
    workload: str | Mapping[str, Any] | None = None,
    config: Path | None = None,
    threads: int | None = None,
    progress: Watch = None,
    **settings: Any,
) -> Sweep:
    """Makes a run with every combination of the values of some keys, on all cores.

    `vary` has a list of values for each key of a configuration. Keys with a comma between them change together, and each
    item of the list has a value for each of them. All else is as in `run`. Only summaries are kept, unless `keep=True`.

    >>> import gridweave
    >>> swept = gridweave.sweep(
    ...     {"scheduler": ["central-fcfs", "central-easy"], "grid.nodes": [600, 2004]}, workload={"until": "3d"}
    ... )
    >>> [(one.name, round(one.summary["wait"]["mean"])) for one in swept]  # doctest: +NORMALIZE_WHITESPACE
    [('grid.nodes=600,scheduler=central-fcfs', 392743), ('grid.nodes=600,scheduler=central-easy', 193878),
     ('grid.nodes=2004,scheduler=central-fcfs', 223), ('grid.nodes=2004,scheduler=central-easy', 139)]
    """
    varied = {key: _columns.plain(key, list(values)) for key, values in vary.items()}
    asked, jobs = _columns.request(
        trace, nodes, config, workload, settings, scheduler=scheduler, seed=seed, workload__estimates=estimates
    )
    with Watcher(progress) as watcher:
        made = _gridweave.sweep(asked, json.dumps(varied), jobs, keep, _threads(threads), watcher.callback)
    return Sweep(
        SweepRun(name, dict(values), json.loads(summary), Result(one) if one else None)
        for name, values, summary, one in made
    )


class Reproduction:
    """Tables and figures of a paper, published beside measured."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        """What `p1.json` and so on have: all numbers, verdicts, notes, and the digests of runs."""

    @property
    def parts(self) -> list[str]:
        """The names of the parts that were made."""
        return list(self.report["parts"])

    def tables(self, part: str) -> dict[str, Table]:
        """The tables of a part, by name."""
        return {table["name"]: _table(table) for table in self.report["parts"][part]["tables"]}

    def verdicts(self) -> list[dict[str, Any]]:
        """A row for each published number or sentence, with what was measured and whether it agrees."""
        return [
            {"part": name, **verdict} for name, part in self.report["parts"].items() for verdict in part["verdicts"]
        ]

    def __repr__(self) -> str:
        return f"<Reproduction of {self.report['paper']['key']}: {', '.join(self.parts)}>"


def reproduce(
    paper: str,
    only: str | Iterable[str] = (),
    *,
    quick: bool = False,
    runs: int = 1,
    seed: int = 0,
    trace: Path | None = None,
    nodes: int | None = None,
    out: Path | None = None,
    kept: Path | None = None,
    progress: Watch = None,
) -> Reproduction:
    """Makes tables and figures of a paper, `p1` to `p4`, with the runs that they need, on all cores.

    `only` names parts. With `quick=True` grids are small: that shows that all works, and nothing about the paper. `runs` is
    the number of seeds. `out` is a folder for all files; without it none stay. Finished runs are kept in the folder `kept`,
    so that a call that was stopped goes on from there; without it they are made again.

    >>> import gridweave
    >>> made = gridweave.reproduce("p1", only="fig5", quick=True)
    >>> made
    <Reproduction of p1: fig5>
    """
    arguments = ["reproduce", str(paper), "--seed", str(_whole("seed", seed)), "--runs", str(_whole("runs", runs))]
    names = _names("only", only)
    if names:
        arguments += ["--only", ",".join(names)]
    if quick:
        arguments.append("--quick")
    if trace is not None:
        arguments += ["--trace", os.fsdecode(trace)]
    if nodes is not None:
        arguments += ["--nodes", str(_whole("nodes", nodes))]
    # Two folders: the results must be alone in theirs.
    with tempfile.TemporaryDirectory(prefix="gridweave-") as home, Watcher(progress) as watcher:
        folders = {"--out": out or os.path.join(home, "out"), "--kept": kept or os.path.join(home, "kept")}
        for option, folder in folders.items():
            arguments += [option, os.fsdecode(folder)]
        report = _gridweave.command(arguments, _gridweave.__file__, watcher.callback)
    return Reproduction(json.loads(report))


def trace_info(trace: Any, nodes: int | None = None) -> dict[str, Any]:
    """What is in a trace or a table of jobs: how many jobs, days, users and sites, sizes and run times, and the load on
    `nodes`, if these are known.

    >>> import gridweave
    >>> info = gridweave.trace_info({"submit": [0, 50], "run": [100, 50], "nodes": [2, 4]}, nodes=4)
    >>> info["jobs"], info["run_time"], info["load"]["by_run_time"]
    (2, {'mean': 75.0, 'max': 100.0}, 2.0)
    """
    if nodes is not None and _whole("nodes", nodes) < 1:
        raise ValueError(f"nodes is {nodes}; give at least 1")
    if _columns.is_frame(trace):
        text = _gridweave.jobs_info(_columns.jobs_of(trace), nodes)
    elif trace is None:
        raise ValueError("trace is None; give the name of a file, or a table of jobs")
    else:
        text = _gridweave.trace_info(trace, nodes)
    info: dict[str, Any] = json.loads(text)
    return info


def mean_interval(values: Iterable[float]) -> tuple[float, float]:
    """The mean of some values, and the half-width of its 95 % confidence interval by Student's t: with values that are
    independent of each other, such as those of different seeds, the true mean is within it 95 times of 100. NaN for a
    single value.

    >>> import gridweave
    >>> mean, half = gridweave.mean_interval([29, 30, 31])
    >>> print(f"{mean} +- {half:.2f}")
    30.0 +- 2.48
    """
    numbers = [float(value) for value in values]
    if not numbers:
        raise ValueError("values is empty; give at least one")
    return _over(numbers)


def _over(values: list[float]) -> tuple[float, float]:
    """The mean over runs and the half-width of its interval; NaN where there is none."""
    if not values:
        return float("nan"), float("nan")
    mean, half = _gridweave.mean_and_interval(values)
    return mean, half if len(values) > 1 else float("nan")


def _figure(summary: Mapping[str, Any], group: str, name: str) -> float | None:
    """A number of a summary; `None` if no job ran."""
    figures = summary[group]
    return None if figures is None else figures[name]


def _frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    names = tuple(rows[0]) if rows else ()
    return Table(names, lambda name: np.array([row[name] for row in rows])).to_pandas()


def _table(table: Mapping[str, Any]) -> Table:
    def column(name: str) -> np.ndarray[Any, Any]:
        index = table["columns"].index(name)
        values = [row[name] if isinstance(row, dict) else row[index] for row in table["rows"]]
        is_plain = all(isinstance(value, (int, float)) for value in values)
        return np.array(values) if is_plain else np.array(values, dtype=object)

    return Table(tuple(table["columns"]), column)


def _names(what: str, names: str | Iterable[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    for index, name in enumerate(listed):
        if not isinstance(name, str):
            raise TypeError(f"{what} has {name!r}, which is no name; give texts")
        if name in listed[:index]:
            raise ValueError(f"{what} has {name} twice; name it once")
    return listed


def _whole(name: str, number: Any) -> int:
    try:
        return int(number.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{name} is {number!r}; give a whole number") from None


def _threads(threads: int | None) -> int | None:
    if threads is not None and _whole("threads", threads) < 1:
        raise ValueError(f"threads is {threads}; give at least 1, or leave it out for one per core")
    return threads
