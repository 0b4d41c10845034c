"""Proves the theorems, and shows that the proof fails when a safeguard is left out.

    python tests/proofs/prove.py [THEOREM…] [--stories] [--no-bugs]

Prints a table of theorems, a table of planted bugs, and with `--stories` each counterexample in words. Exit code 1 if a
theorem is not proved, an action can never be taken, or a planted bug is not noticed.
"""

import argparse
import sys
import time
from multiprocessing import Pool

import z3

import backfill
import commit
import custody
import custody_two
import logic
import zones

THEOREMS = {
    "commit without skew": lambda: commit.theory(skew=False),
    "commit": lambda: commit.theory(skew=True),
    "backfilling": backfill.theory,
    "custody": custody.theory,
    "custody on two levels": custody_two.theory,
    "zones": zones.theory,
}
# A theorem that is a special case of another has the same planted bugs.
PLANTED = ["commit", "backfilling", "custody", "custody on two levels", "zones"]


def proved(job):
    """The proof of a theorem, and the actions that can never be taken."""
    name, timeout = job
    theory = THEOREMS[name]()
    result = logic.prove(theory, timeout)
    idle = [
        action
        for action in theory.actions
        if not any(logic.possible(theory, action, scope) == z3.sat for scope in theory.scopes)
    ]
    return name, result, idle


def planted(job):
    """The step that breaks the proof when a safeguard is left out, with a small counterexample."""
    name, bug, timeout = job
    theory = THEOREMS[name]()
    theory.planted = bug
    # What is proved is proved fast; a check that fails may never end.
    failed = logic.prove(theory, min(timeout, 3_000))["failed"]
    # A counterexample to the theorem itself says more than one to what carries it.
    failed.sort(key=lambda failure: not theory.invariants[failure[1]][2])
    for scope in theory.scopes:
        for action, invariant, _ in failed:
            if action != "init":
                found = logic.counterexample(theory, action, invariant, scope)
                if isinstance(found, tuple):
                    return name, bug, (action, invariant, logic.told(theory, action, invariant, found))
    return name, bug, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("theorems", nargs="*", help=f"some of: {', '.join(THEOREMS)}")
    parser.add_argument("--stories", action="store_true", help="show each counterexample in words")
    parser.add_argument("--no-bugs", action="store_true", help="plant no bugs")
    parser.add_argument("--timeout", type=int, default=30_000, help="milliseconds for each check")
    parser.add_argument("--processes", type=int, default=4, help="how many checks at once")
    options = parser.parse_args()
    chosen = options.theorems or list(THEOREMS)
    if unknown := [name for name in chosen if name not in THEOREMS]:
        sys.exit(f"no theorem is called {unknown[0]}; there are: {', '.join(THEOREMS)}")
    bugs = [(name, bug, options.timeout) for name in chosen if name in PLANTED for bug in THEOREMS[name]().bugs]
    with Pool(options.processes) as pool:
        results = pool.imap(proved, [(name, options.timeout) for name in chosen], 1)
        counterexamples = pool.imap(planted, [] if options.no_bugs else bugs, 1)
        sys.exit(0 if report(chosen, results, counterexamples, options) else 1)


def report(chosen, results, counterexamples, options):
    """Prints what comes of it. Whether all is as it should be."""
    sound, rows = True, []
    for name, result, idle in results:
        for action, invariant, answer in result["failed"]:
            print(f"NOT PROVED: {name}: {action} / {invariant}: {answer}")
        for action in idle:
            print(f"NEVER POSSIBLE: {name}: {action}")
        sound &= not result["failed"] and not idle
        theory = THEOREMS[name]()
        claims = sum(claim for _, _, claim in theory.invariants.values())
        rows.append((name, len(theory.actions), claims, len(theory.invariants), result["checks"], f"{result['seconds']:.1f}"))
    print(f"z3 {z3.get_version_string()}\n")
    print("| theorem | actions | claims | invariants | checks | CPU-seconds |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    if options.no_bugs:
        return sound
    print("\n| theorem | action | taken by |")
    print("|---|---|---|")
    for name in (name for name in chosen if name in PLANTED):
        theory = THEOREMS[name]()
        assert list(theory.actions) == list(theory.code), "each action stands beside the code that takes it"
        for action, code in theory.code.items():
            print(f"| {name} | `{action}` | {code} |")
    print("\n| theorem | planted bug | what goes wrong | step | what breaks |")
    print("|---|---|---|---|---|")
    stories, began = [], time.monotonic()
    for name, bug, found in counterexamples:
        words = THEOREMS[name]().bugs[bug]
        if found is None:
            sound = False
            print(f"| {name} | {bug} | {words} | – | NOT NOTICED |")
            continue
        action, invariant, story = found
        print(f"| {name} | {bug} | {words} | `{action}` | {invariant.replace('_', ' ')} |", flush=True)
        stories.append(f"{name}: {bug}: {words}\n{story}\n")
    print(f"\nnote: {len(stories)} planted bugs, each with a counterexample, in {time.monotonic() - began:.0f} s")
    if options.stories:
        print("\n" + "\n".join(stories))
    return sound


if __name__ == "__main__":
    main()
