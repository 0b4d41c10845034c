"""Runs, comparisons and sweeps: what they give, and how they are refused and stopped."""

import csv
import datetime
import json
import math
import os
import pathlib
import signal
import threading
import time

import gridweave
import numpy as np
import pytest

DAY = {"until": "1d"}
"""The settings of a run that is over at once."""

LONG = dict(scheduler="criteria", workload={"source": "grid5000-like"})
"""A run that takes minutes."""


@pytest.fixture(scope="module")
def easy() -> gridweave.Result:
    return gridweave.run()


def test_a_result_has_what_the_files_of_the_program_have(easy, tmp_path):
    easy.write(tmp_path / "out")
    assert easy.summary == json.loads((tmp_path / "out/summary.json").read_text())
    assert (tmp_path / "out/report.html").stat().st_size > 10_000
    for table, name in ((easy.jobs, "jobs.csv"), (easy.series, "series.csv")):
        with open(tmp_path / "out" / name, newline="") as file:
            rows = list(csv.DictReader(file))
        assert set(table) <= set(rows[0])
        for column in table:
            values = table[column]
            assert len(values) == len(rows)
            for ours, written in zip(values, (row[column] for row in rows), strict=True):
                if isinstance(ours, str):
                    assert ours == written
                elif written == "":
                    assert math.isnan(ours)
                else:
                    assert float(ours) == pytest.approx(float(written), abs=1e-6)
    again = gridweave.run(config=tmp_path / "out/config.toml")
    assert again.summary == easy.summary


def test_the_waits_of_jobs_are_those_of_the_summary(easy):
    waits = easy.jobs["waiting_time"]
    assert waits.dtype == np.float64 and easy.jobs["waiting_time"] is waits
    assert waits.mean() == pytest.approx(easy.summary["wait"]["mean"])
    assert easy.mean_wait == easy.summary["wait"]["mean"]
    assert set(easy.jobs["final_state"]) == {"COMPLETED_SUCCESSFULLY"}
    with pytest.raises(KeyError, match="no column 'wait'; there are job_id"):
        easy.jobs["wait"]


def test_columns_are_given_to_numpy_without_a_copy(easy):
    column = easy.jobs["starting_time"]
    assert not column.flags.owndata and column.flags.writeable
    assert type(column.base).__name__ == "PySliceContainer"


def test_jobs_and_series_become_data_frames_of_pandas(easy):
    pandas = pytest.importorskip("pandas")
    frame = easy.jobs.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 1984
    assert frame["waiting_time"].mean() == pytest.approx(easy.mean_wait)
    assert list(easy.series.to_pandas()) == list(easy.series)


def columns(result: gridweave.Result) -> dict[str, np.ndarray]:
    """The jobs of a run, as they were before it."""
    jobs = result.jobs
    return {
        "submit": jobs["submission_time"],
        "run": jobs["execution_time"],
        "nodes": jobs["requested_number_of_resources"],
        "job": jobs["job_id"],
    }


def test_jobs_of_columns_run_as_those_of_the_trace(easy):
    given = columns(easy)
    run = gridweave.run(given, nodes=2004)
    assert run.summary["wait"] == easy.summary["wait"]
    assert (run.jobs["starting_time"] == easy.jobs["starting_time"]).all()
    assert (run.jobs["job_id"] == easy.jobs["job_id"]).all()
    # Any kind of table, in any order, with times as such.
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(given).sample(frac=1, random_state=1)
    frame["submit"] = pandas.Timestamp("2014-02-01") + pandas.to_timedelta(frame["submit"], unit="s")
    frame["run"] = pandas.to_timedelta(frame["run"], unit="s")
    shuffled = gridweave.run(frame, nodes=2004)
    assert shuffled.jobs["waiting_time"].sum() == pytest.approx(easy.jobs["waiting_time"].sum(), rel=0.2)
    assert sorted(shuffled.jobs["job_id"]) == sorted(easy.jobs["job_id"])
    structured = np.zeros(2, dtype=[("submit", "i4"), ("run", "f4"), ("nodes", "u2")])
    structured["run"], structured["nodes"] = 60, 3
    assert gridweave.run(structured, nodes=4).jobs["waiting_time"].tolist() == [0.0, 60.0]
    packed = np.zeros(3, dtype=[("submit", "i8"), ("run", "i8"), ("nodes", "i4")])
    packed["submit"], packed["run"], packed["nodes"] = [0, 5, 7], 60, 3
    assert gridweave.run(packed, nodes=4).jobs["waiting_time"].tolist() == [0.0, 55.0, 113.0]


def test_requested_times_are_known_or_not():
    jobs = {"submit": [0, 0, 0], "run": [60, 60, 60], "nodes": [1, 1, 1], "requested": [90.0, float("nan"), 30]}
    run = gridweave.run(jobs, nodes=3, estimates="kill")
    assert run.jobs["requested_time"].tolist() == [90.0, 60.0, 30.0]
    assert run.jobs["execution_time"].tolist() == [60.0, 60.0, 30.0]
    assert run.summary["jobs"]["killed"] == 1


def test_settings_are_tables_keys_with_dots_or_both():
    plain = gridweave.run(workload={**DAY, "load": 0.5})
    dotted = gridweave.run(workload=DAY, **{"workload.load": np.float32(0.5)})
    assert plain.summary == dotted.summary
    lasting = gridweave.run(
        workload={"until": datetime.timedelta(days=1), "load": 0.5}, report={"window": np.timedelta64(30, "m")}
    )
    assert lasting.summary["wait"] == plain.summary["wait"]
    assert lasting.series["time"][1] == 1800
    assert "load = 0.5" in plain.config


def test_a_generator_brings_its_nodes():
    run = gridweave.run(workload="grid5000-like", nodes=6000, seed=3, **{"workload.grid5000_like.jobs": 50})
    assert (run.summary["nodes"], run.seed) == (6000, 3)
    assert run.summary["jobs"]["submitted"] == 50


def test_a_comparison_has_the_tables_of_the_program():
    names = ["central-fcfs", "central-easy"]
    compared = gridweave.compare(names, requested=True, workload={"until": "3d"})
    assert list(compared) == ["gangs", "serial", "requested"]
    assert list(compared["gangs"]) == names
    summary = compared.summary
    assert [row["scheduler"] for row in summary["gangs"]] == names and not summary["partial"]
    assert summary["gangs"][1] == compared["gangs"]["central-easy"][0].summary
    rows = compared["gangs"].rows()
    assert rows[1]["wait_ratio"] == 1.0 and rows[0]["wait_ratio"] >= 1.0
    pytest.importorskip("pandas")
    assert len(compared.to_pandas()) == 6


def test_several_seeds_give_intervals():
    compared = gridweave.compare(["random"], runs=3, seed=5, workload={"until": "12h", "shape": "serial"})
    runs = compared["serial"]["random"]
    assert [one.seed for one in runs] == [5, 6, 7]
    waits = [one.mean_wait for one in runs]
    row = compared["serial"].rows()[0]
    assert (row["mean_wait"], row["mean_wait_ci95"]) == pytest.approx(gridweave.mean_interval(waits))
    assert compared["serial"].summary("random")["wait"]["mean"]["mean"] == pytest.approx(np.mean(waits))


def test_a_sweep_makes_every_combination():
    swept = gridweave.sweep({"grid.nodes": [1500, 2004], "workload.load": [0.3, 0.4, 0.5]}, keep=True, workload=DAY)
    assert [one.values for one in swept][1] == {"grid.nodes": "1500", "workload.load": "0.4"}
    assert swept[1].summary == swept[1].result.summary
    assert swept[0].summary["nodes"] == 1500 and len(swept[:2]) == 2
    alone = gridweave.run(nodes=1500, workload={**DAY, "load": 0.4})
    assert swept[1].summary == alone.summary
    jobs = {"submit": [0, 1], "run": [60, 60], "nodes": [1, 1]}
    pair = gridweave.sweep({"grid.nodes": [1, 2]}, jobs)
    assert [row["mean_wait"] for row in pair.rows()] == [29.5, 0.0]
    assert pair[0].result is None


def test_parts_of_a_paper_are_made_by_name(tmp_path):
    made = gridweave.reproduce("p1", ["fig5"], quick=True, kept=tmp_path / "kept", out=tmp_path / "out")
    assert made.parts == ["fig5"]
    tables = made.tables("fig5")
    assert tables and all(len(table[name]) > 0 for table in tables.values() for name in table)
    assert made.verdicts() and {"part", "published", "measured", "verdict"} <= set(made.verdicts()[0])
    assert json.loads((tmp_path / "out/p1.json").read_text()) == made.report
    # Finished runs are found again.
    began = time.monotonic()
    again = gridweave.reproduce("p1", "fig5", quick=True, kept=tmp_path / "kept")
    assert again.report == made.report
    assert len(list((tmp_path / "kept").iterdir())) == 1 and time.monotonic() - began < 60
    with pytest.raises(ValueError, match="p1 has no such part; choose from fig4"):
        gridweave.reproduce("p1", "fig55", quick=True)
    with pytest.raises(ValueError, match="p9"):
        gridweave.reproduce("p9")


def test_a_trace_is_described(tmp_path):
    trace = tmp_path / "two.swf"
    trace.write_text("; MaxProcs: 8\n1 5 -1 60 4\n2 65 -1 30 8\n")
    info = gridweave.trace_info(trace)
    assert (info["jobs"], info["format"], info["load"]["nodes"]) == (2, "swf", 8)
    assert gridweave.run(trace).jobs["starting_time"].tolist() == [0.0, 60.0]
    assert gridweave.run(str(trace), nodes=12).summary["nodes"] == 12


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(scheduler="easy"), ValueError, "scheduler: there is no scheduler 'easy'; choose one of central-fcfs"),
        (dict(scheduler=3), ValueError, "scheduler: 3 is not"),
        (dict(nodes=0), ValueError, "grid.nodes is 0"),
        (dict(nodes=-5), ValueError, "grid.nodes: -5"),
        (dict(nodes="many"), ValueError, "grid.nodes|nodes"),
        (dict(seed=-1), ValueError, "seed: -1"),
        (dict(seed=1 << 70), ValueError, "seed|settings"),
        (dict(estimates="none"), ValueError, "workload.estimates.*kill, extend, exact"),
        (dict(nodez=3), ValueError, "nodez: no such key; there are"),
        (dict(workload={"untill": "1d"}), ValueError, "workload.untill: no such key"),
        (dict(workload="bundle"), ValueError, "workload.source"),
        (dict(workload={"load": float("nan")}), ValueError, "workload.load is nan; give a finite number"),
        (dict(workload={"load": object()}), TypeError, "workload.load is of type object"),
        (dict(trace="no-such-file.swf"), FileNotFoundError, "no-such-file.swf: cannot be read"),
        (dict(config="no-such-file.toml"), FileNotFoundError, "no-such-file.toml: cannot be read"),
        (dict(trace=b"."), TypeError, "trace is of type bytes"),
        (dict(trace="."), OSError, "cannot be read"),
        (dict(trace=__file__), ValueError, "neither a comment nor a record of SWF or GWF"),
        (dict(trace=3), TypeError, "trace is of type int"),
        (dict(trace=__file__, workload="aria"), ValueError, "leave one of them out"),
        (dict(trace={}), ValueError, "no column 'submit'"),
        (dict(trace={"submit": [0], "run": [1]}), ValueError, "no column 'nodes' .there are run, submit."),
        (dict(progress=3), TypeError, "progress is 3"),
        (dict(**{"grid..nodes": 3}), ValueError, "'grid..nodes' is no key"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, error, message):
    with pytest.raises(error, match=message) as told:
        gridweave.run(**arguments)
    assert "\n" not in str(told.value) and "--" not in str(told.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"submit": [0, -1]}, "submit: row 1 is -1, which is no time"),
        ({"submit": [0, float("nan")]}, "submit: row 1 is NaN"),
        ({"submit": [0, "later"]}, "submit: is a column of"),
        ({"submit": [0]}, "columns have different lengths"),
        ({"submit": [[0, 1]]}, "submit: has 2 dimensions"),
        ({"submit": [0, 4e9]}, "more than 100 years"),
        ({"run": [1, 0]}, "run: row 1 is 0, which is no run time"),
        ({"run": [1, 1e9]}, "job 1 runs for longer than 365 days"),
        ({"nodes": [1, 2.5]}, "nodes: row 1 is 2.5, which is no number of nodes"),
        ({"nodes": [1, 1 << 40]}, "nodes: row 1 is"),
        ({"nodes": [1, 1], "job": [1, -7]}, "job: row 1 is -7"),
        ({"submit": [], "run": [], "nodes": []}, "there are no jobs"),
    ],
)
def test_rows_that_cannot_run_are_named(changes, message):
    jobs = {"submit": [0, 1], "run": [60, 60], "nodes": [1, 1], **changes}
    with pytest.raises(ValueError, match=message):
        gridweave.run(jobs, nodes=4)


def test_what_columns_do_not_say_must_be_given():
    jobs = {"submit": [0], "run": [60], "nodes": [1]}
    with pytest.raises(ValueError, match="does not say how many processors there are; give nodes="):
        gridweave.run(jobs)
    with pytest.raises(ValueError, match="workload.source"):
        gridweave.run(jobs, workload={"source": "aria"})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gridweave.compare(["central-easy", "central-easy"]), "schedulers has central-easy twice"),
        (lambda: gridweave.compare(["asp"]), "there is no scheduler 'asp'"),
        (lambda: gridweave.compare("central-easy", runs=0), "runs is 0"),
        (lambda: gridweave.compare("central-easy", threads=0), "threads is 0"),
        (lambda: gridweave.sweep({}), "vary is empty"),
        (lambda: gridweave.sweep({"grid.nodes": []}), "vary.grid.nodes"),
        (lambda: gridweave.sweep({"grid.nodes": [0]}), "grid.nodes is 0"),
        (lambda: gridweave.mean_interval([]), "values is empty"),
        (lambda: gridweave.trace_info(None), "trace is None"),
    ],
)
def test_mistakes_in_other_calls_are_told_too(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_results_do_not_replace_what_is_not_theirs(easy, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="no output of gridweave"):
        easy.write(tmp_path)
    with pytest.raises(OSError, match="cannot be written"):
        easy.write("/proc/none")
    short = gridweave.run(workload=DAY)
    with pytest.raises(ValueError, match="359 and 1984 jobs"):
        short.wait_ratio(easy)


def test_ctrl_c_in_the_middle_of_a_run_is_a_keyboard_interrupt():
    seen = []

    def press(progress: gridweave.Progress) -> None:
        seen.append(progress)
        if progress.time > 0:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    pressed: list[float] = []
    with pytest.raises(KeyboardInterrupt):
        gridweave.run(**LONG, progress=press)
    assert time.monotonic() - pressed[0] < 3
    assert 0 <= seen[-1].jobs < seen[-1].all_jobs and seen[-1].time > 0
    # Nothing is left behind that keeps the next run from being made.
    assert gridweave.run(workload=DAY).summary["jobs"]["completed"] == 359


def test_ctrl_c_stops_comparisons_and_reproductions(tmp_path):
    for call in (
        lambda watch: gridweave.compare(["criteria", "asap"], workload="grid5000-like", progress=watch),
        lambda watch: gridweave.reproduce("p2", "fig1", kept=tmp_path / "kept", out=tmp_path / "out", progress=watch),
    ):
        timer = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call(False)
        assert time.monotonic() - began < 20
    assert not (tmp_path / "out").exists()


def test_an_exception_of_the_callback_stops_the_run():
    def full(_: gridweave.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gridweave.run(**LONG, progress=full)


def test_other_threads_go_on_during_a_run():
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    gridweave.run(scheduler="asap", workload={"until": "6h"})
    took = time.monotonic() - began
    over.set()
    thread.join()
    # Without the GIL being released, there would be none.
    assert counted > 5 * took


def test_progress_ends_with_all_that_there_is(capsys):
    seen: list[gridweave.Progress] = []
    compared = gridweave.compare(["central-fcfs", "central-easy"], workload=DAY, progress=seen.append)
    jobs = sum(one.summary["jobs"]["submitted"] for table in compared.values() for own in table.values() for one in own)
    assert (seen[-1].runs, seen[-1].all_runs, seen[-1].jobs, seen[-1].all_jobs) == (4, 4, jobs, jobs)
    gridweave.run(workload=DAY)
    assert capsys.readouterr().err == ""
    gridweave.run(workload=DAY, progress=True)
    assert "359 of 359 jobs" in capsys.readouterr().err


def test_the_same_seed_gives_the_same_history_on_any_number_of_threads():
    names = ["asap", "flood"]
    one, two = (gridweave.compare(names, workload={"until": "3h"}, threads=threads) for threads in (1, 3))
    assert one.summary == two.summary
    assert pathlib.Path(gridweave.__file__).with_name("py.typed").exists()
