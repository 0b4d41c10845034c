"""Evaluates proved actions on recorded steps of the code.

A mapping says what a recorded state and a recorded step mean. Here is the search: from the state before, the effects of
the step in their order must be effects of proved actions, and the state after must be what these actions leave. What is
on disk must be written before a message about it is sent. Nothing of an action is written a second time: the functions
that the solver proved are called with values.
"""

import functools
import itertools
import json

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

    def __init__(self, before, readable, own):
        self.before, self.readable, self.own = before, readable, own
        self.facts, self.sent = dict(before.facts), []

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
        self.need((kind, args) in self.readable or ("own", (kind, args)) in self.facts)

    def sends(self, kind, *args):
        self.sent.append((kind, args))
        # What a node tells itself is read within the step.
        if self.own and self.own(kind, args):
            self.facts["own", (kind, args)] = True


class Step:
    """One step in the words of a theory, as a mapping makes it.

    `effects` is a list of (job, kind, what): kind "send" with a message, "do" with an action and its arguments, "write"
    with what is on disk now, "told" with facts that must be true and on disk, "gone" with facts that must not. `tries`
    lists for each job the silent actions that may have been taken. `own` says which messages go to the node itself, and
    equal keys have equal answers.
    """

    own = key = None

    def __init__(self, static, domain, before, after, readable, effects, tries, first=()):
        self.static, self.domain, self.before, self.after = static, domain, before, after
        self.readable, self.effects, self.tries, self.first = readable, effects, tries, first


class Judge:
    """Looks for proved actions that explain a step. Steps that are equal but for names are judged once."""

    def __init__(self, theory, mapping):
        self.theory, self.mapping = theory, mapping
        self.known, self.acted = {}, {}

    def act(self, step, facts, action, args):
        # The search asks again and again. What it has from here, it keeps, so that no two facts have one number.
        key = id(facts), action, args
        if key not in self.acted:
            self.acted[key] = self.act_once(step, facts, action, args)
        return self.acted[key]

    def act_once(self, step, facts, action, args):
        before = Values(self.theory, step.static, step.domain, facts)
        after = ValuesNext(before, step.readable, step.own)
        try:
            self.theory.actions[action][1](before, after, *args)
        except Disabled:
            return None
        return self.mapping.tidy(after.facts), after.sent

    def explain(self, step):
        """The actions that explain a step, or `None`."""
        if step.key is None:
            return self.search(step)
        if step.key not in self.known:
            self.known[step.key] = self.search(step)
        return self.known[step.key]

    def search(self, step):
        mapping, target = self.mapping, self.mapping.visible(step.after)
        self.acted = {}
        jobs = list(step.tries)
        limit = MOST * max(1, len(jobs)) + mapping.more(step)
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
                    if job not in dirty or not mapping.waits_for_disk(what):
                        for action, args in mapping.senders(what):
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
                    if mapping.disk(acted[0], job) != mapping.disk(facts, job):
                        dirty = dirty | {job}
                    facts = acted[0]
                elif kind == "told":
                    if job in dirty or any(facts.get((name, args)) != value for name, args, value in what):
                        break
                elif kind == "gone":
                    if any(facts.get((name, ())) for name in what):
                        break
                else:
                    if mapping.disk(facts, job) != what:
                        break
                    dirty = dirty - {job}
                index += 1
            else:
                if not dirty and mapping.visible(facts) == target:
                    return path
            if left == 0:
                return None
            key = (index, frozenset(facts.items()), dirty)
            if dead_before.get(key, -1) >= left:
                return None
            now = [step.effects[index][0]] if index < len(step.effects) else jobs
            tried = set()
            for job in now:
                for action, args in step.tries.get(job, ()):
                    if (action, args) in tried:
                        continue
                    tried.add((action, args))
                    acted = self.act(step, facts, action, args)
                    if acted is None or acted[0] == facts:
                        continue
                    if acted[1] and dirty:
                        # A message to the node itself, before what it rests on is on disk.
                        continue
                    soiled = mapping.soiled(facts, acted[0], job)
                    found = follow(index, acted[0], dirty | soiled, left - 1, path + [action])
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
    """The recorded steps of a file: time, configuration, event, states and effects."""
    configs, states = [], []
    state = functools.lru_cache(10_000)(lambda index: json.loads(states[index]))
    count = 0
    with open(path) as lines:
        for line in lines:
            if not line.endswith("]\n"):
                # The last line, if the process was ended.
                continue
            if line.startswith('["state",'):
                states.append(line[9:-2])
            elif line.startswith('["config",'):
                configs.append(json.loads(line[10:-2]))
            else:
                _, now, config, event, before, after, effects = json.loads(line)
                yield now, configs[config], event, state(before), state(after), effects
                count += 1
                if count == most:
                    return
