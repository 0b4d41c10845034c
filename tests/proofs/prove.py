"""Proves the theorems, and shows that the proof fails when a safeguard is left out.

    python tests/proofs/prove.py [THEOREM…] [--stories] [--slow]

Prints a table of theorems, a table of planted bugs, and with `--stories` each counterexample in words. Exit code 1 if a
theorem is not proved, an action can never be taken, or a planted bug is not noticed.
"""

import argparse
import sys
import time

import z3

import backfill
import commit
import custody
import logic

THEOREMS = {
    "commit without skew": lambda: commit.theory(skew=False),
    "commit": lambda: commit.theory(skew=True),
    "backfilling": backfill.theory,
    "custody": custody.theory,
}
# A theorem that is a special case of another has the same planted bugs.
PLANTED = ["commit", "backfilling", "custody"]


def planted(make, bug, timeout):
    """The step that breaks the proof when a safeguard is left out, with a small counterexample."""
    theory = make()
    theory.planted = bug
    # What is proved is proved fast; a check that fails may never end.
    failed = logic.prove(theory, min(timeout, 3_000))["failed"]
    # A counterexample to the theorem itself says more than one to what carries it.
    failed.sort(key=lambda failure: not theory.invariants[failure[1]][2])
    for scope in theory.scopes:
        for action, name, _ in failed:
            if action != "init":
                found = logic.counterexample(theory, action, name, scope)
                if isinstance(found, tuple):
                    return action, name, logic.told(theory, action, name, found)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("theorems", nargs="*", help=f"some of: {', '.join(THEOREMS)}")
    parser.add_argument("--stories", action="store_true", help="show each counterexample in words")
    parser.add_argument("--no-bugs", action="store_true", help="plant no bugs")
    parser.add_argument("--timeout", type=int, default=30_000, help="milliseconds for each check")
    options = parser.parse_args()
    chosen = options.theorems or list(THEOREMS)
    if unknown := [name for name in chosen if name not in THEOREMS]:
        sys.exit(f"no theorem is called {unknown[0]}; there are: {', '.join(THEOREMS)}")
    sound = True
    rows = []
    for name in chosen:
        theory = THEOREMS[name]()
        result = logic.prove(theory, options.timeout)
        idle = []
        for action in theory.actions:
            if not any(logic.possible(theory, action, scope) == z3.sat for scope in theory.scopes):
                idle.append(action)
        for action, invariant, answer in result["failed"]:
            print(f"NOT PROVED: {name}: {action} / {invariant}: {answer}")
        for action in idle:
            print(f"NEVER POSSIBLE: {name}: {action}")
        sound &= not result["failed"] and not idle
        claims = sum(claim for _, _, claim in theory.invariants.values())
        rows.append((name, len(theory.actions), claims, len(theory.invariants), result["checks"], f"{result['seconds']:.1f}"))
    print(f"z3 {z3.get_version_string()}\n")
    print("| theorem | actions | claims | invariants | checks | seconds |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    if options.no_bugs:
        sys.exit(0 if sound else 1)
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
    for name in (name for name in chosen if name in PLANTED):
        for bug, words in THEOREMS[name]().bugs.items():
            found = planted(THEOREMS[name], bug, options.timeout)
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
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
