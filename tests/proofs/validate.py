"""Evaluates the proved actions on recorded steps of the code.

    python tests/proofs/validate.py STEPS…

Prints how many steps of each file were explained by which actions, and each step that no action allows. With `--save`,
what comes of FILE.jsonl is kept in FILE.counts, which may be named instead of it later. With `--canary`, the steps are of
a core with a planted mistake: then some step must be one that no action allows.
"""

import argparse
import pathlib
import sys
import time
from ast import literal_eval as literal
from collections import Counter
from multiprocessing import Pool

import backfill
import backfill_steps
import commit
import commit_steps
import custody
import custody_steps
from steps import Judge, read


class Commit:
    """Both sides of a node of the commit protocol."""

    name = "commit"

    def __init__(self):
        self.theory = commit.theory()
        self.sides = {
            "Participant": Judge(self.theory, commit_steps.Participant()),
            "Coordinator": Judge(self.theory, commit_steps.Coordinator()),
        }

    def takes(self, state):
        return state["#"] in self.sides

    def judge(self, now, config, event, before, after, effects):
        """For each part of the step: its name, the step, the actions, and how many jobs are touched."""
        judge = self.sides[before["#"]]
        step = judge.mapping.step(now, config, event, before, after, effects)
        if step == "outside":
            yield before["#"], step, step, 0
        elif step is not None and step != "trusted":
            yield before["#"], step, judge.explain(step), len(step.tries)


class Custody:
    name = "custody"

    def __init__(self):
        self.theory = custody.theory()
        self.jobs = custody_steps.Jobs()
        self.search = Judge(self.theory, custody_steps.Parts())

    def takes(self, state):
        return state["#"] == "Custody"

    def judge(self, *step):
        for of_job in self.jobs.steps(*step):
            if of_job == "outside":
                yield "node", of_job, of_job, 0
            else:
                yield "node", of_job, self.search.explain(of_job), 1


class Queue:
    name = "backfilling"

    def __init__(self):
        self.theory = backfill.theory()
        self.calls = backfill_steps.Calls(self.theory)

    def takes(self, state):
        return state["#"] == "BackfillQueue"

    def judge(self, now, config, event, before, after, effects):
        found = self.calls.explain(event, before, after)
        if found != []:
            yield "queue", (before, after), found, 1


SUBJECTS = [Commit, Custody, Queue]

# Of a core with a mistake, so many steps that no action allows are counted.
ENOUGH = 10


def judged(job):
    """All steps of a file: counts, actions that were taken, and the first steps that no action allows."""
    path, most, show, enough, save = job
    source = pathlib.Path(path).stem
    if path.endswith(".counts"):
        return literal(pathlib.Path(path).read_text())
    subjects = [subject() for subject in SUBJECTS]
    counts, taken, shown = Counter(), Counter(), []
    for now, config, event, before, after, effects in read(path, most):
        subject = next((subject for subject in subjects if subject.takes(before)), None)
        if subject is None:
            continue
        row = subject.name, source
        counts[*row, "steps"] += 1
        if before is after and not effects:
            # Nothing to explain.
            continue
        what = None
        for side, step, found, jobs in subject.judge(now, config, event, before, after, effects):
            if found == "outside":
                what = what or "outside"
                continue
            if found is None:
                what = "forbidden"
                if len(shown) < show:
                    shown.append(f"NO ACTION ALLOWS THIS STEP of a {side} ({source}, at {now}):\n  event  {event}\n{tell(step)}")
                continue
            what = what or "changed"
            taken.update((subject.name, action) for action in found)
        counts[*row, what] += 1
        if what == "forbidden" and counts[*row, what] == enough:
            break
    if save:
        pathlib.Path(path).with_suffix(".counts").write_text(repr((dict(counts), dict(taken), shown)))
    return counts, taken, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--most", type=int, help="the most steps of each file")
    parser.add_argument("--show", type=int, default=3, help="how many steps to show that no action allows")
    parser.add_argument("--save", action="store_true", help="keep what comes of each file beside it")
    parser.add_argument("--processes", type=int, default=4, help="how many files to judge at once")
    parser.add_argument("--canary", help="the mistake that was planted; prints a row of a table")
    parser.add_argument("--checks", default="", help="with --canary: what the other checks of the same run said")
    options = parser.parse_args()
    files = sorted(options.files, key=lambda path: -pathlib.Path(path).stat().st_size)
    counts, taken, shown = Counter(), Counter(), []
    began = time.monotonic()
    show, enough = (0, ENOUGH) if options.canary else (options.show, None)
    with Pool(options.processes) as pool:
        for part in pool.imap_unordered(judged, [(path, options.most, show, enough, options.save) for path in files]):
            counts.update(part[0])
            taken.update(part[1])
            shown += part[2]
    forbidden = sum(count for (*_, what), count in counts.items() if what == "forbidden")
    if options.canary:
        steps = sum(count for (*_, what), count in counts.items() if what == "steps")
        print(f"| `{options.canary}` | {steps:,} | {forbidden:,} | {options.checks} |", flush=True)
        sys.exit(0 if forbidden else 1)
    print("\n".join(shown))
    rows = sorted({(name, source) for name, source, _ in counts})
    kinds = ("steps", "changed", "outside", "forbidden")
    print("| theorem | steps of | steps | that change something | outside | that no action allows |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " | " + " | ".join(f"{counts[*row, kind]:,}" for kind in kinds) + " |")
    total = [sum(counts[*row, kind] for row in rows) for kind in kinds]
    print("| all | – | " + " | ".join(f"{count:,}" for count in total) + " |")
    print(f"note: in {time.monotonic() - began:.0f} s")
    print("\n| theorem | action | taken |")
    print("|---|---|---|")
    never = []
    for subject in SUBJECTS:
        if any(name == subject.name for name, _ in rows):
            for action in subject().theory.actions:
                print(f"| {subject.name} | `{action}` | {taken[subject.name, action]:,} |")
                if not taken[subject.name, action] and action != "time_passes":
                    never.append(action)
    print("note: never taken:", ", ".join(never) or "none")
    sys.exit(1 if forbidden else 0)


def tell(step):
    """A step: what changes, the effects, and all that was before."""
    if isinstance(step, tuple):
        return f"  before {step[0]}\n  after  {step[1]}"
    changed = sorted(set(step.before.items()) ^ set(step.after.items()), key=str)
    lines = [" ".join(map(str, ("   ", "-" if fact in step.before.items() else "+", *fact))) for fact in changed]
    lines += [" ".join(map(str, ("  effect", *effect))) for effect in step.effects]
    lines += [" ".join(map(str, ("  first ", *fact))) for fact in step.first]
    lines += [" ".join(map(str, ("  read  ", *fact))) for fact in sorted(step.readable, key=str)]
    return "\n".join(lines + [" ".join(map(str, ("  before", *fact))) for fact in sorted(step.before.items(), key=str)])


if __name__ == "__main__":
    main()
