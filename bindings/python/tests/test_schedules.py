"""Searches for time, against slow and obvious ones."""

import random

import numpy as np
import pytest
from gridweave import Availability, CommonSearch, Schedule


def slow_fit(machine: Availability, count: int, length: float, after: float) -> float:
    """The earliest fit, tried at every step."""
    times, free = (column.tolist() for column in machine.steps())
    for start in sorted({after, *(at for at in times if at > after)}):
        inside = [f for at, f, end in zip(times, free, [*times[1:], np.inf]) if at < start + length and end > start]
        if min(inside) >= count:
            return start
    raise AssertionError("the last step never ends")


def test_availability_finds_the_earliest_fit():
    rng = random.Random(1)
    machine = Availability(64)
    for _ in range(50):
        count, length, after = rng.randint(1, 64), rng.randint(1, 900), rng.randint(0, 5000)
        start = machine.earliest_fit(count, length, after)
        assert start == slow_fit(machine, count, length, after)
        machine.reserve(start, length, count)
    assert machine.least_free(start, length) >= 0
    copy = machine.copy()
    machine.release(start, length, count)
    assert machine != copy
    machine.reserve(start, length, count)
    assert machine == copy


def test_arrays_do_what_calls_do_one_by_one():
    rng = np.random.default_rng(2)
    counts, lengths, after = rng.integers(1, 33, 200), rng.uniform(1, 500, 200), rng.uniform(0, 900, 200)
    one, all_at_once = Availability(32), Availability(32)
    starts = []
    for count, length, earliest in zip(counts, lengths, after):
        starts.append(one.earliest_fit(count, length, earliest))
        one.reserve(starts[-1], length, count)
    assert all_at_once.place(counts, lengths, after).tolist() == starts
    assert one == all_at_once
    assert one.earliest_fits(counts, 60, after).tolist() == [one.earliest_fit(c, 60, a) for c, a in zip(counts, after)]
    third = Availability(32)
    third.reserve_all(starts, lengths, counts)
    assert third == one
    for start, length, count in zip(starts, lengths, counts):
        third.release(start, length, count)
    assert third == Availability(32)


def test_bookings_move_up_when_a_job_ends_early():
    machine = Availability(8)
    machine.reserve(0, 3600, 8)
    starts = machine.place([8, 4], 600)
    assert starts.tolist() == [3600, 4200]
    machine.advance(600)
    machine.release(600, 3000, 8)
    assert machine.compress(600, starts, 600, [8, 4]).tolist() == [600, 1200]
    assert (machine.origin, machine.free_at(0), machine.free_at(600)) == (600, 0, 0)


def test_what_is_refused_changes_nothing():
    machine = Availability(4)
    machine.reserve(100, 50, 3)
    before = machine.copy()
    for call, message in (
        (lambda: Availability(0), "count is 0"),
        (lambda: Availability(2.5), "count is 2.5"),
        (lambda: machine.reserve(100, 10, 2), "too few processors are free"),
        (lambda: machine.reserve(-1, 10, 2), "start is -1"),
        (lambda: machine.reserve(0, 0, 2), "length is 0"),
        (lambda: machine.reserve(0, float("nan"), 2), "length is NaN"),
        (lambda: machine.release(0, 10, 1), "too few processors are reserved"),
        (lambda: machine.earliest_fit(5, 10), "a job of 5 processors never fits on a machine of 4"),
        (lambda: machine.place([1, 1, 5], 10), "row 2: a job of 5 processors"),
        (lambda: machine.place([1, 1], [10]), "different lengths"),
        (lambda: machine.reserve_all([0, 110], 20, 2), "row 1: too few processors are free"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
        assert machine == before
    with pytest.raises(TypeError):
        machine.reserve("now", 10, 2)
    with pytest.raises(TypeError):
        hash(machine)


def test_a_schedule_reserves_holds_and_swaps():
    node = Schedule([[0, 60], [120, 180]])
    assert (len(node), node.earliest_fit(60), node.earliest_fit(61, after=30)) == (2, 60, 180)
    assert node.is_free(60, 60) and not node.is_free(59, 2)
    node.hold(7, start=60, length=30, lease=5)
    with pytest.raises(ValueError, match="another job has some of that time"):
        node.reserve(8, start=80, length=20)
    node.commit(7)
    # A newer attempt may overlap the older one, and takes its place.
    node.hold(7, start=70, length=30, lease=5, attempt=1)
    node.commit(7, attempt=1)
    assert node.busy().tolist() == [[0, 60], [70, 100], [120, 180]]
    with pytest.raises(ValueError, match="a newer attempt"):
        node.reserve(7, start=200, length=5)
    with pytest.raises(ValueError, match="holds no time"):
        node.commit(9)
    assert node.release(7, attempt=1) and not node.release(7, attempt=1)
    assert node.prune(60) == 1 and node.busy(after=130).tolist() == [[130, 180]]
    with pytest.raises(ValueError, match="row 1: another job"):
        Schedule([[0, 60], [30, 90]])
    with pytest.raises(ValueError, match="busy has 3 columns"):
        Schedule([[0, 60, 90]])


def slow_common(nodes: list[list[list[float]]], count: int, length: float, after: float) -> float:
    """The earliest common slot, tried at every end of a window."""
    for start in sorted({after, *(end for node in nodes for _, end in node if end > after)}):
        free = [all(end <= start or begin >= start + length for begin, end in node) for node in nodes]
        if sum(free) >= count:
            return start
    raise AssertionError("all windows end")


def test_common_slots_are_the_earliest():
    rng = np.random.default_rng(3)
    nodes = [np.cumsum(rng.integers(1, 60, 20)).astype(float).reshape(10, 2) for _ in range(12)]
    plain = [node.tolist() for node in nodes]
    search = CommonSearch(nodes)
    same = CommonSearch([Schedule(node) for node in nodes])
    for _ in range(40):
        count, length, after = int(rng.integers(1, 13)), int(rng.integers(1, 90)), int(rng.integers(0, 600))
        start, chosen = search.earliest(count, length, after)
        assert start == slow_common(plain, count, length, after)
        assert same.earliest(count, length, after)[0] == start
        for pick in ("in-order", "best-fit", "random"):
            again, chosen = search.earliest(count, length, after, pick, seed=7)
            assert again == start and len(set(chosen.tolist())) == count
            assert all(Schedule(nodes[index]).is_free(start, length) for index in chosen)
    for call, message in (
        (lambda: search.earliest(13, 10), "only 12 schedules"),
        (lambda: search.earliest(1, 10, pick="first"), "pick is 'first'"),
        (lambda: CommonSearch([[[0, 10], [5, 20]]]), "node 0: row 1 begins before the row above it ends"),
        (lambda: CommonSearch([[], [[10, 5]]]), "node 1: row 0"),
        (lambda: CommonSearch([[], 7]), "node 1: is neither a schedule nor rows"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_arrays_that_cannot_be_read_where_they_are_are_refused():
    packed = np.zeros(3, dtype=[("start", "f8"), ("end", "f8"), ("node", "i4")])
    packed["start"], packed["end"] = [0, 10, 20], [5, 15, 25]
    machine = Availability(4)
    with pytest.raises(ValueError, match="copy it with numpy.array"):
        machine.place(packed["start"], 1, 1)
    with pytest.raises(ValueError, match="copy it with numpy.array"):
        machine.place([1, 1, 1], packed["end"], 1)
    assert machine == Availability(4)
    machine.place(np.array(packed["start"]) / 10 + 1, 1, 1)


def test_rows_without_columns_are_refused():
    for busy in ([[]], np.empty((3, 0)), [[1, 2, 3]]):
        with pytest.raises(ValueError, match="give two, start and end"):
            Schedule(busy)
        with pytest.raises(ValueError, match="give two, start and end"):
            CommonSearch([busy])
    assert len(Schedule(np.empty((0, 2)))) == 0
    assert len(CommonSearch([[]])) == 1
