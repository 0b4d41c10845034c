"""Evaluates proved actions on recorded steps of the code.

A mapping says what a recorded state and a recorded step mean. Here is the search: from the state before, the effects of
the step in their order must be effects of proved actions, and the state after must be what these actions leave. What is
on disk must be written before a message about it is sent. Nothing of an action is written a second time: the functions
that the solver proved are called with values.
"""

import itertools
import json
from collections import Counter

from logic import Disabled

# So many actions that change something are tried for each job that a step touches.
MOST = 4


class Values:
    """A state as values; facts that are false, or of no meaning, are left out."""

    def __init__(self, theory, static, domain, facts):
        self.theory, self.static, self.domain, self.facts = theory, static, domain, facts

    def __getattr__(self, name):
        facts = self.facts
        if name in self.theory.vars:
            missing = False if self.theory.vars[name][-1] == "Bool" else -1
            function = lambda *args: facts.get((name, args), missing)
        else:
            function = self.static[name]
        self.__dict__[name] = function
        return function

    def forall(self, sorts, body):
        return all(body(*choice) for choice in itertools.product(*[self.domain[sort] for sort in sorts]))


class ValuesNext:
    """The state after an action, as values."""

    def __init__(self, before, readable):
        self.before, self.readable = before, readable
        self.facts, self.sent, self.changed = dict(before.facts), [], False

    def need(self, guard):
        if not guard:
            raise Disabled

    def assume(self, guard):
        """Of the rest of the world: nothing that a step could show."""

    def put(self, name, args, value):
        theory = self.before.theory
        if name not in theory.ghosts and not name.startswith("m_"):
            self.facts[name, args] = value

    def where(self, name, condition, value):
        theory = self.before.theory
        if name in theory.ghosts or name.startswith("m_"):
            return
        for args in itertools.product(*[self.before.domain[sort] for sort in theory.vars[name][:-1]]):
            if condition(*args):
                self.facts[name, args] = value(*args)

    def reads(self, kind, *args):
        self.need((kind, args) in self.readable)

    def sends(self, kind, *args):
        self.sent.append((kind, args))


class Step:
    """One step in the words of a theory, as a mapping makes it.

    `effects` is a list of (job, kind, what): kind "send" with a message, "do" with an action and its arguments, "write"
    with the facts that are on disk now. `tries` lists for each job the silent actions that may have been taken.
    """

    def __init__(self, static, domain, before, after, readable, effects, tries, first=()):
        self.static, self.domain, self.before, self.after = static, domain, before, after
        self.readable, self.effects, self.tries, self.first = readable, effects, tries, first


class Judge:
    """Looks for proved actions that explain a step, and counts them."""

    def __init__(self, theory, mapping):
        self.theory, self.mapping = theory, mapping
        self.taken, self.lengths = Counter(), Counter()

    def act(self, step, facts, action, args):
        before = Values(self.theory, step.static, step.domain, facts)
        after = ValuesNext(before, step.readable)
        try:
            self.theory.actions[action][1](before, after, *args)
        except Disabled:
            return None
        return self.mapping.tidy(after.facts), after.sent

    def explain(self, step):
        """The actions that explain a step, or `None`."""
        target = step.after
        jobs = list(step.tries)
        limit = MOST * max(1, len(jobs))
        begin = step.before
        path = []
        for action, args in step.first:
            acted = self.act(step, begin, action, args)
            if acted is None:
                return None
            begin, _ = acted
            path.append(action)
        def follow(index, facts, dirty, left, path):
            """`dirty` are the jobs whose facts changed since they were written."""
            while index < len(step.effects):
                job, kind, what = step.effects[index]
                if kind == "send":
                    found = None
                    if job not in dirty or not self.mapping.waits_for_disk(what):
                        for action, args in self.mapping.senders(what):
                            acted = self.act(step, facts, action, args)
                            if acted is not None and what in acted[1]:
                                found = action, acted[0]
                                break
                    if found is None:
                        break
                    path = path + [found[0]]
                    facts = found[1]
                elif kind == "do":
                    action, args = what
                    acted = self.act(step, facts, action, args)
                    if acted is None:
                        break
                    path = path + [action]
                    if self.mapping.disk(acted[0], job) != self.mapping.disk(facts, job):
                        dirty = dirty | {job}
                    facts = acted[0]
                else:
                    if self.mapping.disk(facts, job) != what:
                        break
                    dirty = dirty - {job}
                index += 1
            else:
                if facts == target and not dirty:
                    return path
            if left == 0:
                return None
            key = (index, frozenset(facts.items()), dirty)
            if dead_before.get(key, -1) >= left:
                return None
            now = [step.effects[index][0]] if index < len(step.effects) else jobs
            for job in now:
                for action, args in step.tries.get(job, ()):
                    acted = self.act(step, facts, action, args)
                    if acted is None or acted[0] == facts:
                        continue
                    soiled = self.mapping.soils(facts, acted[0], job)
                    found = follow(index, acted[0], dirty | {job} if soiled else dirty, left - 1, path + [action])
                    if found is not None:
                        return found
            dead_before[key] = left
            return None

        for left in range(limit + 1):
            dead_before = {}
            found = follow(0, begin, frozenset(), left, path)
            if found is not None:
                return found
        return None


def read(path, most=None):
    """The recorded steps of a file: configuration, states and steps."""
    configs, states = [], []
    count = 0
    with open(path) as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                # The last line, if the process was ended.
                continue
            if entry[0] == "config":
                configs.append(entry[1])
            elif entry[0] == "state":
                states.append(entry[1])
            else:
                _, source, now, config, event, before, after, effects = entry
                yield source, now, configs[config], event, states[before], states[after], effects
                count += 1
                if count == most:
                    return
