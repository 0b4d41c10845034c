"""Evaluates the proved actions on recorded steps of the code.

    python tests/proofs/validate.py STEPS…

Prints how many steps were explained by which actions, and each step that no action allows. With `--canary`, the steps are
of a core with a planted mistake: then some step must be one that no action allows.
"""

import argparse
import sys
import time
from collections import Counter

import backfill
import backfill_steps
import commit
import commit_steps
from steps import Judge, read


class Commit:
    """Both sides of a node of the commit protocol."""

    name = "commit"

    def __init__(self):
        self.theory = commit.theory()
        self.sides = {
            "participant": Judge(self.theory, commit_steps.Participant()),
            "coordinator": Judge(self.theory, commit_steps.Coordinator()),
        }

    def takes(self, state):
        return state["#"] == "Node" and "coordinator" in state

    def judge(self, now, config, event, before, after, effects):
        """For each side that has a part in the step: its name, the step, the actions, and how many jobs are touched."""
        for name, judge in self.sides.items():
            step = judge.mapping.step(now, config, event, before, after, effects)
            if step == "outside":
                yield name, step, step, 0
            elif step is not None and step != "trusted":
                yield name, step, judge.explain(step), len(step.tries)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--most", type=int, help="the most steps of each file")
    parser.add_argument("--show", type=int, default=3, help="how many steps to show that no action allows")
    parser.add_argument("--canary", help="the mistake that was planted; prints a row of a table")
    options = parser.parse_args()
    if options.canary:
        options.show = 0
    subjects = [Commit(), Queue()]
    counts, taken, lengths = Counter(), Counter(), Counter()
    shown, began = 0, time.monotonic()
    for path in options.files:
        for source, now, config, event, before, after, effects in read(path, options.most):
            subject = next((subject for subject in subjects if subject.takes(before)), None)
            if subject is None:
                continue
            row = subject.name, source
            counts[*row, "steps"] += 1
            changed = False
            for side, step, found, jobs in subject.judge(now, config, event, before, after, effects):
                if found == "outside":
                    counts[*row, "outside"] += 1
                    continue
                changed = True
                if found is None:
                    counts[*row, "forbidden"] += 1
                    shown += 1
                    if shown <= options.show:
                        print(f"NO ACTION ALLOWS THIS STEP of a {side} ({source}, at {now}):")
                        print("  event ", event)
                        tell(step)
                    continue
                taken.update((subject.name, action) for action in found)
                # Messages of one kind to several nodes count once.
                lengths[-(-len(set(found)) // max(jobs, 1))] += 1
            counts[*row, "changed"] += changed
    if options.canary:
        total = Counter()
        for (*_, what), count in counts.items():
            total[what] += count
        print(f"| `{options.canary}` | {total['steps']:,} | {total['forbidden']:,} |", flush=True)
        sys.exit(0 if total["forbidden"] else 1)
    rows = sorted({(name, source) for name, source, _ in counts})
    print("| theorem | steps of | steps | that change something | outside | that no action allows |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " | " + " | ".join(f"{counts[*row, what]:,}" for what in ("steps", "changed", "outside", "forbidden")) + " |")
    print(f"note: in {time.monotonic() - began:.0f} s; kinds of actions for each job of a step: {dict(sorted(lengths.items()))}")
    print("\n| theorem | action | taken |")
    print("|---|---|---|")
    never = []
    for subject in subjects:
        if any(name == subject.name for name, _ in rows):
            for action in subject.theory.actions:
                print(f"| {subject.name} | `{action}` | {taken[subject.name, action]:,} |")
                if not taken[subject.name, action] and action != "time_passes":
                    never.append(action)
    print("note: never taken:", ", ".join(never) or "none")
    sys.exit(1 if any(count for (*_, what), count in counts.items() if what == "forbidden") else 0)


def tell(step):
    """A step: what changes, the effects, and all that was before."""
    if isinstance(step, tuple):
        print("  before", step[0], "\n  after ", step[1])
        return
    for key in sorted(set(step.before.items()) ^ set(step.after.items()), key=str):
        print("   ", "-" if key in step.before.items() else "+", *key)
    for effect in step.effects:
        print("  effect", *effect)
    for fact in sorted(step.before.items(), key=str):
        print("  before", *fact)


if __name__ == "__main__":
    main()
