"""Settings and jobs of users, as Rust takes them."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _gridweave

NEEDED = ("submit", "run", "nodes")
KNOWN = (*NEEDED, "requested", "job", "user", "group", "site", "memory")
"""The columns of a data frame of jobs."""

TIMES = ("submit", "run", "requested")


def is_frame(trace: object) -> bool:
    """Whether a trace is a table of jobs, and no file."""
    return trace is not None and not isinstance(trace, (str, os.PathLike))


def jobs_of(frame: Any, name: str = "jobs") -> _gridweave.Jobs:
    """The jobs of a data frame, a dict of arrays, a structured array or an Arrow table."""
    columns = {name: as_column(name, frame[name]) for name in KNOWN if name in _names(frame)}
    for needed in NEEDED:
        if needed not in columns:
            known = ", ".join(sorted(map(str, _names(frame)))[:20]) or "none"
            raise ValueError(
                f"trace: there is no column '{needed}' (there are {known}); "
                f"name the columns {', '.join(NEEDED)} and, if there are, {', '.join(KNOWN[3:])}"
            )
    return _gridweave.Jobs(name, **columns)


def _names(frame: Any) -> Iterable[str]:
    """The names of the columns of a table of any kind."""
    if isinstance(frame, np.ndarray):
        return frame.dtype.names or ()
    for names in ("column_names", "columns"):
        found = getattr(frame, names, None)
        if found is not None:
            return list(found)
    if isinstance(frame, Mapping):
        return list(frame)
    raise TypeError(
        f"trace is of type {type(frame).__name__}; give the name of a file, a data frame, or a dict of arrays"
    )


def as_column(name: str, values: Any) -> np.ndarray[Any, Any]:
    """A column as an array of 64-bit integers or reals: the array itself if it is an aligned one."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"{name}: has {column.ndim} dimensions; give one number for each job")
    kind = column.dtype.kind
    if kind in "mM" and name in TIMES:
        if kind == "M":
            if np.isnat(column).any():
                raise ValueError(f"{name}: row {int(np.argmax(np.isnat(column)))} is no time; leave the row out")
            column = column - column.min() if len(column) else column.astype("m8[s]")
        return np.asarray(column / np.timedelta64(1, "s"), dtype=np.float64)
    if column.dtype in (np.int64, np.float64):
        # Those of a packed structured array are not aligned.
        return np.require(column, requirements=["ALIGNED"])
    if kind in "iub":
        return column.astype(np.int64)
    if kind == "f":
        return column.astype(np.float64)
    if kind == "O":
        # pandas has such columns where values are missing.
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise ValueError(f"{name}: is a column of {column.dtype}; give numbers")


def plain(key: str, value: Any) -> Any:
    """A setting as JSON has it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{key} is {value}; give a finite number")
        return value
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return plain(key, value.item())
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        micros = int(np.timedelta64(value) / np.timedelta64(1, "us"))
        return f"{micros}us"
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        # What is None is left out.
        return {str(k): plain(f"{key}.{k}", v) for k, v in value.items() if v is not None}
    if isinstance(value, Iterable):
        return [plain(key, one) for one in value]
    raise TypeError(f"{key} is of type {type(value).__name__}; give a number, a text, a list or a dict")


def request(
    trace: Any,
    nodes: int | None,
    config: str | os.PathLike[str] | None,
    workload: str | Mapping[str, Any] | None,
    settings: Mapping[str, Any],
    **simple: Any,
) -> tuple[str, _gridweave.Jobs | None]:
    """What Rust is asked for, and the jobs if they come as a table."""
    given = {key: plain(key, value) for key, value in settings.items() if value is not None}
    for key, value in simple.items():
        if value is not None:
            given[key.replace("__", ".")] = plain(key, value)
    if isinstance(workload, Mapping):
        given["workload"] = plain("workload", workload)
        workload = None
    elif isinstance(workload, str) and trace is not None:
        raise ValueError(f"workload is '{workload}', and a trace is given, too; leave one of them out")
    elif workload is not None and not isinstance(workload, str):
        raise TypeError(f"workload is {workload!r}; give the name of a generator, or a dict of settings")
    asked = {
        "config": None if config is None else os.fsdecode(config),
        "trace": os.fsdecode(trace) if isinstance(trace, (str, os.PathLike)) else None,
        "workload": workload,
        "nodes": plain("nodes", nodes),
        "settings": given,
    }
    return json.dumps(asked), jobs_of(trace) if is_frame(trace) else None
