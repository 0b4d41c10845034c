"""What recorded calls of a `BackfillQueue` mean in the theory of backfill.py.

A call is one action. `push` of a job that does not wait behind all others, or that brings a counter, is outside the
theorem.
"""

from logic import Disabled
from steps import Values, ValuesNext


def look(state):
    """The waiting jobs in their order, each with its counter."""
    facts = {}
    for index, waiting in enumerate(state["waiting"]):
        job = waiting["job"]
        facts["waits", (job,)] = True
        facts["index", (job,)] = index
        facts["passed", (job,)] = int(waiting["passed"])
    facts["length", ()] = len(state["waiting"])
    return facts


def actions(event, before, after):
    """The action that a call may have been, with its arguments; "outside" if the theorem has none."""
    was = {waiting["job"] for waiting in before["waiting"]}
    now = {waiting["job"] for waiting in after["waiting"]}
    name = event[0]
    if name == "Push":
        for job in now - was:
            (waiting,) = [waiting for waiting in after["waiting"] if waiting["job"] == job]
            if after["waiting"][-1] is not waiting or waiting["passed"] != "0":
                return "outside"
            return [("push", (job, 0))]
    if name == "Remove":
        return [("remove", (job,)) for job in was - now]
    if name == "StartNext":
        head = before["waiting"][0]["job"] if was else None
        return [("start_head", (job,)) if job == head else ("start_behind", (job, head)) for job in was - now]
    if name == "StartMigrant":
        return [("start_migrant", (int(event[1]["passed"]),))]
    return []


class Calls:
    """Explains each call by one action, or none that changes anything."""

    def __init__(self, theory):
        self.theory = theory

    def explain(self, event, before, after):
        first, second = look(before), look(after)
        if first == second:
            return []
        tried = actions(event, before, after)
        if tried == "outside":
            return "outside"
        domain = {"Job": sorted({args[0] for name, args in [*first, *second] if name == "waits"})}
        for action, args in tried:
            state = Values(self.theory, {}, domain, first)
            later = ValuesNext(state, set(), None)
            try:
                self.theory.actions[action][1](state, later, *args)
            except Disabled:
                continue
            waits = {job for (name, of), value in later.facts.items() if name == "waits" and value for job in of}
            facts = {(name, of): value for (name, of), value in later.facts.items() if value is not False and (not of or of[0] in waits)}
            if facts == second:
                return [action]
        return None
