"""What calls of Availability cost from Python, and a data frame of ten million rows.

Usage: costs.py [ROWS]
"""

import resource
import sys
import time

import gridweave
import numpy as np

rng = np.random.default_rng(1)
CALLS = 20_000
ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000


def per_call(work, calls: int = CALLS) -> float:
    """Microseconds of processor time for a call, the best of five tries."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best / calls * 1e6


def availability() -> None:
    machine = gridweave.Availability(1024)
    machine.place(rng.integers(1, 1025, 10_000), rng.uniform(60, 36_000, 10_000))
    counts = rng.integers(1, 1025, CALLS).tolist()
    columns = np.array(counts)

    class Nothing:
        def earliest_fit(self, count: int, length: float) -> float:
            return 0.0

    nothing = Nothing()
    empty = gridweave.Availability(1024)
    rows = {
        "a method of Python that does nothing": lambda: [nothing.earliest_fit(count, 600) for count in counts],
        "earliest_fit on an empty machine": lambda: [empty.earliest_fit(count, 600) for count in counts],
        "earliest_fit among 10,000 reservations": lambda: [machine.earliest_fit(count, 600) for count in counts],
        "the same in one call of earliest_fits": lambda: machine.earliest_fits(columns, 600),
    }
    took = {what: per_call(work) for what, work in rows.items()}
    print("\n| of 1,024 processors | µs of processor time for a call |\n|---|---|")
    for what, micros in took.items():
        print(f"| {what} | {micros:.3f} |")
    overhead = took["earliest_fit among 10,000 reservations"] - took["the same in one call of earliest_fits"]
    print(f"| so a call costs | {overhead:.3f} |")

    def churn() -> None:
        for count in counts:
            start = machine.earliest_fit(count, 600)
            machine.reserve(start, 600, count)
            machine.release(start, 600, count)

    print(f"| earliest_fit, reserve and release | {per_call(churn):.3f} |")


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def many_rows() -> None:
    try:
        from pandas import DataFrame
    except ImportError:
        DataFrame = dict
    run = rng.lognormal(5, 1.5, ROWS).clip(1, 86_400)
    nodes = rng.choice([1, 2, 4, 8, 16], ROWS)
    # 80 % of a thousand nodes.
    gap = (run * nodes).mean() / 800
    frame = DataFrame({"submit": np.cumsum(rng.exponential(gap, ROWS)), "run": run, "nodes": nodes})
    before = peak()
    print(f"note: {ROWS:,} rows of a {DataFrame.__name__}; {before:.2f} GB before the run")
    began = time.perf_counter()
    result = gridweave.run(frame, "central-easy", nodes=1_000, progress=False)
    took, cost = time.perf_counter() - began, result.cost["wall_s"]
    print(f"note: run of them: {took:.1f} s, of which {cost:.1f} s are the simulation; {ROWS / took:,.0f} rows/s; at most {peak():.2f} GB")
    began = time.perf_counter()
    waits = result.jobs["waiting_time"]
    print(f"note: a column of results: {time.perf_counter() - began:.2f} s; mean wait {waits.mean():,.1f} s; at most {peak():.2f} GB")
    assert len(waits) == ROWS and result.summary["jobs"]["completed"] == ROWS


availability()
many_rows()
