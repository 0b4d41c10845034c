"""Gridweave from Python: replays workloads under decentralised and centralised schedulers.

>>> import gridweave
>>> result = gridweave.run(scheduler="central-easy", workload={"until": "1d"})
>>> result.summary["jobs"]["completed"]
359
>>> float(result.jobs["waiting_time"].mean()) == result.mean_wait
True

`run` replays a workload under one scheduler, `compare` under several, and `sweep` with every combination of some settings.
`reproduce` makes tables of the papers. `trace_info` says what is in a trace, and `mean_interval` gives intervals.
`Availability`, `Schedule` and `CommonSearch` are searches for time, on arrays.

All of them release the GIL, and Ctrl-C stops them. Errors are `ValueError` for what is wrong with an argument, a setting or
a file, and `OSError` for what the system refuses; each says in one line what is wrong, where, and what to do.
"""

from ._experiments import (
    Comparison,
    Contest,
    Reproduction,
    Sweep,
    SweepRun,
    compare,
    mean_interval,
    reproduce,
    run,
    sweep,
    trace_info,
)
from ._gridweave import SCHEDULERS, Availability, CommonSearch, Schedule
from ._gridweave import VERSION as __version__
from ._progress import Progress
from ._results import Result, Table

__all__ = [
    "SCHEDULERS",
    "Availability",
    "CommonSearch",
    "Comparison",
    "Contest",
    "Progress",
    "Reproduction",
    "Result",
    "Schedule",
    "Sweep",
    "SweepRun",
    "Table",
    "__version__",
    "compare",
    "mean_interval",
    "reproduce",
    "run",
    "sweep",
    "trace_info",
]
