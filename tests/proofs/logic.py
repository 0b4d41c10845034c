"""What all theorems share: a transition system that is written once, proved with a solver, and evaluated on values.

An action is a Python function of the state before (`s`), the state after (`t`) and its parameters. It says what it
`need`s and what it changes. Given symbols, `s` and `t` build formulas for the solver; given values, they compute.
"""

import itertools
import time

import z3


class Disabled(Exception):
    """A guard is false in a concrete state."""


def is_term(value):
    return isinstance(value, z3.ExprRef)


def And(*parts):
    terms = [part for part in parts if is_term(part)]
    if not all(part for part in parts if not is_term(part)):
        return False
    return z3.And(*terms) if terms else True


def Or(*parts):
    terms = [part for part in parts if is_term(part)]
    if any(part for part in parts if not is_term(part)):
        return True
    return z3.Or(*terms) if terms else False


def Not(part):
    return z3.Not(part) if is_term(part) else not part


def Implies(condition, part):
    return Or(Not(condition), part)


def If(condition, then, other):
    if is_term(condition):
        return z3.If(condition, then, other)
    return then if condition else other


def at_most_one(*facts):
    return And(*[Not(And(one, other)) for index, one in enumerate(facts) for other in facts[:index]])


def Max(one, other):
    return If(one >= other, one, other)


def Min(one, other):
    return If(one <= other, one, other)


class Theory:
    """Sorts, constants that never change (`static`), state (`vars`), actions, invariants and properties.

    A signature is a tuple of sorts and the sort of the result: "Bool", "Int", or the name of a sort.
    """

    def __init__(self, name, sorts):
        self.name, self.sorts = name, sorts
        self.static, self.vars, self.ghosts = {}, {}, set()
        self.axioms, self.actions, self.invariants, self.bugs, self.words = [], {}, {}, {}, {}
        self.init = None
        self.planted = None
        # How many elements of each sort a counterexample may have; the first that is enough is taken.
        self.scopes = [{sort: most for sort in sorts} for most in (2, 3, 4)]
        # If facts are about numbers: these numbers stand for all in a counterexample, and those constants are among them.
        self.numbers, self.counted = None, set()

    def action(self, *params, bugs=()):
        """Declares an action; `bugs` are the planted bugs that change it."""

        def declare(function):
            self.actions[function.__name__] = (params, function)
            return function

        return declare

    def invariant(self, *params, claim=False):
        """Declares what holds in every state. A `claim` is part of the theorem; the others only carry the proof."""

        def declare(function):
            self.invariants[function.__name__] = (params, function, claim)
            return function

        return declare

    def nothing_holds(self, s):
        """All that is true or false is false: a part of the first state."""
        facts = ((name, domain) for name, (*domain, result) in self.vars.items() if result == "Bool")
        return And(*[holds(self, s, tuple(domain), lambda s, *xs, name=name: Not(getattr(s, name)(*xs))) for name, domain in facts])

    def sent(self):
        """What it takes for a message of each kind to be read: that it was sent."""
        kinds = (name.removeprefix("m_") for name in self.vars if name.startswith("m_"))
        return {kind: lambda s, *args, kind=kind: getattr(s, f"m_{kind}")(*args) for kind in kinds}

    def keeps(self, safeguard):
        """Whether a safeguard is in place, which it is unless its absence is planted."""
        assert safeguard in self.bugs, safeguard
        return self.planted != safeguard


class Symbols:
    """A state as terms. A `scope` (elements of each sort) replaces each quantifier by its instances."""

    def __init__(self, theory, scope=None):
        self.theory, self.scope = theory, scope
        self.sorts = {name: z3.DeclareSort(name) for name in theory.sorts}
        self.elements = {
            name: [z3.Const(f"{name}{index}", sort) for index in range((scope or {}).get(name, 0))]
            for name, sort in self.sorts.items()
        }
        self.functions = {}
        for name, signature in itertools.chain(theory.static.items(), theory.vars.items()):
            self.functions[name] = self.declare(name, signature)
        self.current = dict(self.functions)
        self.read, self.fresh = set(), itertools.count()

    def sort(self, name):
        return {"Bool": z3.BoolSort(), "Int": z3.IntSort()}.get(name, self.sorts.get(name))

    def declare(self, name, signature):
        *domain, result = signature
        if not domain:
            constant = z3.Const(name, self.sort(result))
            return lambda: constant
        return z3.Function(name, *[self.sort(part) for part in domain], self.sort(result))

    def __getattr__(self, name):
        self.read.add(name)
        return self.current[name]

    def constants(self, params, prefix):
        return [z3.Const(f"{prefix}{index}_{sort}", self.sort(sort)) for index, sort in enumerate(params)]

    def choices(self, sort):
        """In a scope: the values that stand for all."""
        return self.elements[sort] if sort in self.sorts else [z3.IntVal(number) for number in self.theory.numbers]

    def forall(self, params, body):
        if self.scope and self.theory.numbers:
            return And(*[body(*choice) for choice in itertools.product(*[self.choices(sort) for sort in params])])
        if self.scope and all(sort in self.sorts for sort in params):
            return And(*[body(*choice) for choice in itertools.product(*[self.elements[sort] for sort in params])])
        if self.scope:
            finite = [sort for sort in params if sort in self.sorts]
            inner = [sort for sort in params if sort not in self.sorts]
            places = [sort in self.sorts for sort in params]

            def mixed(*choice):
                bound = self.constants(inner, f"i{next(self.fresh)}_")

                def filled():
                    chosen, others = iter(choice), iter(bound)
                    return [next(chosen) if place else next(others) for place in places]

                formula = body(*filled())
                return z3.ForAll(bound, formula) if is_term(formula) else formula

            return And(*[mixed(*choice) for choice in itertools.product(*[self.elements[sort] for sort in finite])])
        bound = self.constants(params, f"q{next(self.fresh)}_")
        formula = body(*bound)
        return z3.ForAll(bound, formula) if is_term(formula) else formula

    def closed(self):
        """In a scope: elements differ, and functions stay inside."""
        if not self.scope:
            return []
        facts = [z3.Distinct(*elements) for elements in self.elements.values() if len(elements) > 1]
        for name in self.theory.counted:
            for choice in itertools.product(*[self.elements[sort] for sort in self.theory.vars[name][:-1]]):
                value = self.functions[name](*choice)
                facts += [value > min(self.theory.numbers), value < max(self.theory.numbers)]
        for name, signature in itertools.chain(self.theory.static.items(), self.theory.vars.items()):
            *domain, result = signature
            if result in self.sorts:
                for choice in itertools.product(*[self.choices(sort) for sort in domain]):
                    facts.append(self.inside(self.functions[name](*choice), result))
        return facts

    def inside(self, term, sort):
        return z3.Or(*[term == element for element in self.elements[sort]])


class Next:
    """The state after an action, as terms over the state before."""

    def __init__(self, before):
        self.before, self.guards, self.changed = before, [], set()
        self.current = dict(before.current)

    def __getattr__(self, name):
        return self.current[name]

    def need(self, guard):
        self.guards.append(guard)

    # What a model assumes of the rest of the world is needed as well, but steps of the code cannot show it.
    assume = need

    def put(self, name, args, value):
        self.where(name, lambda *xs: And(*[x == arg for x, arg in zip(xs, args)]), lambda *_: value)

    def where(self, name, condition, value):
        earlier = self.current[name]
        self.changed.add(name)
        self.current[name] = lambda *xs: If(condition(*xs), self.term(name, value(*xs)), earlier(*xs))

    def term(self, name, value):
        if is_term(value):
            return value
        return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(value)

    def havoc(self, name):
        """Any values; the action constrains them."""
        self.changed.add(name)
        self.current[name] = self.before.declare(f"{name}'", self.before.theory.vars[name])
        return self.current[name]

    # A message that is read was sent: `seen` says what that means. One that is sent is marked as sent.
    def reads(self, kind, *args):
        self.need(self.before.theory.messages[kind](self.before, *args))

    def sends(self, kind, *args):
        if f"m_{kind}" in self.current:
            self.put(f"m_{kind}", args, True)

    def state(self):
        after = Symbols.__new__(Symbols)
        after.__dict__.update(self.before.__dict__)
        after.current, after.read = self.current, set()
        return after


def holds(theory, state, params, body):
    return state.forall(params, lambda *xs: body(state, *xs)) if params else body(state)


def everything(theory, state):
    """Axioms and invariants of a state, as formulas."""
    facts = [fact(state) for fact in theory.axioms] + state.closed()
    return facts + [holds(theory, state, params, body) for params, body, _ in theory.invariants.values()]


def apply(theory, name, before, prefix="p"):
    params, function = theory.actions[name]
    args = before.constants(params, prefix)
    after = Next(before)
    function(before, after, *args)
    facts = list(after.guards)
    if before.scope:
        facts += [before.inside(arg, sort) for arg, sort in zip(args, params) if sort in before.sorts]
        if theory.numbers:
            facts += [Or(*[arg == number for number in theory.numbers]) for arg, sort in zip(args, params) if sort == "Int"]
    return args, after, [fact for fact in facts if fact is not True]


def goal(theory, state, name):
    """The negation of an invariant, for elements that are named."""
    params, body, _ = theory.invariants[name]
    args = state.constants(params, "w")
    formula = body(state, *args)
    facts = [Not(formula)]
    if state.scope:
        facts += [state.inside(arg, sort) for arg, sort in zip(args, params) if sort in state.sorts]
        if theory.numbers:
            facts += [Or(*[arg == number for number in theory.numbers]) for arg, sort in zip(args, params) if sort == "Int"]
    return args, facts


class Failed(Exception):
    pass


def prove(theory, timeout=20_000, only=None, verbose=False):
    """Proves that the first states have the invariants, and that each action keeps them. Returns counts and times."""
    began, checks, slowest = time.process_time(), 0, (0, "")
    failed = []
    state = Symbols(theory)
    first = z3.Solver()
    first.set("timeout", timeout)
    first.add(*[fact(state) for fact in theory.axioms], theory.init(state))
    for name in theory.invariants:
        first.push()
        _, facts = goal(theory, state, name)
        first.add(*facts)
        checks += 1
        if (answer := first.check()) != z3.unsat:
            failed.append(("init", name, answer))
        first.pop()
    facts = everything(theory, state)
    for action in theory.actions:
        if only and action not in only:
            continue
        args, after, guards = apply(theory, action, state)
        solver = z3.Solver()
        solver.set("timeout", timeout)
        solver.add(*[fact for fact in facts if fact is not True], *guards)
        later = after.state()
        for name in theory.invariants:
            later.read.clear()
            _, negated = goal(theory, later, name)
            if not later.read & after.changed:
                continue
            solver.push()
            solver.add(*negated)
            at = time.monotonic()
            answer = solver.check()
            took = time.monotonic() - at
            checks += 1
            slowest = max(slowest, (took, f"{action} / {name}"))
            if answer != z3.unsat:
                failed.append((action, name, answer))
            if verbose and took > 2:
                print(f"    {took:.1f} s {action} / {name}: {answer}")
            solver.pop()
    return {"seconds": time.process_time() - began, "checks": checks, "slowest": slowest, "failed": failed}


def small(theory, state):
    for name, (*domain, result) in {**theory.static, **theory.vars}.items():
        if result == "Int" and all(sort in state.sorts for sort in domain):
            for choice in itertools.product(*[state.elements[sort] for sort in domain]):
                term = state.functions[name](*choice)
                yield And(term >= -1, term <= 20)


def counterexample(theory, action, name, scope, timeout=15_000):
    """A smallest state with all invariants, and a step after which one does not hold. None if there is none."""
    state = Symbols(theory, scope)
    args, after, guards = apply(theory, action, state)
    later = after.state()
    witness, negated = goal(theory, later, name)
    solver = z3.Solver()
    solver.set("timeout", timeout)
    facts = everything(theory, state) + guards + negated
    solver.add(*[fact for fact in facts if fact is not True])
    # Small numbers, if there is such a counterexample.
    solver.push()
    solver.add(*small(theory, state), *[And(arg >= -1, arg <= 20) for arg, sort in zip(args, theory.actions[action][0]) if sort == "Int"])
    answer = solver.check()
    if answer != z3.sat:
        solver.pop()
        answer = solver.check()
    if answer != z3.sat:
        return answer
    # Prefer a quiet state: as few true facts as a few tries give.
    model = solver.model()
    solver.set("timeout", 1_000)
    for variable, signature in theory.vars.items():
        *domain, result = signature
        if result != "Bool" or any(sort not in state.sorts for sort in domain):
            continue
        for choice in itertools.product(*[state.elements[sort] for sort in domain]):
            term = state.functions[variable](*choice)
            solver.push()
            solver.add(z3.Not(term))
            if solver.check() == z3.sat:
                model = solver.model()
            else:
                solver.pop()
    return model, state, args, later, witness


def possible(theory, action, scope, timeout=60_000):
    """Whether an action can be taken in some state with all invariants: else a proof about it says nothing."""
    state = Symbols(theory, scope)
    _, _, guards = apply(theory, action, state)
    solver = z3.Solver()
    solver.set("timeout", timeout)
    solver.add(*[fact for fact in everything(theory, state) + guards if fact is not True])
    return solver.check()


def told(theory, action, name, found):
    """A counterexample in words: which elements there are, what holds before, the step, what it changes, and what breaks."""
    model, state, args, later, witness = found
    names = {}
    for sort, elements in state.elements.items():
        for index, element in enumerate(elements):
            label = theory.labels[sort](index)
            names[str(model.eval(element, model_completion=True))] = label

    def show(term):
        text = str(model.eval(term, model_completion=True))
        return names.get(text, text)

    lines = []

    def value(functions, variable, choice):
        return model.eval(functions[variable](*choice), model_completion=True)

    def sentences(functions, variables):
        found = {}
        for variable, signature in variables.items():
            *domain, result = signature
            if any(sort not in state.sorts for sort in domain):
                continue
            for choice in itertools.product(*[state.elements[sort] for sort in domain]):
                here = value(functions, variable, choice)
                if result == "Bool" and not z3.is_true(here):
                    continue
                if result == "Int" and variable in theory.shown and not z3.is_true(
                    model.eval(theory.shown[variable](state, functions, *choice), model_completion=True)
                ):
                    continue
                words = theory.words.get(variable)
                if words is None:
                    continue
                found[variable, tuple(map(str, choice))] = words.format(*[show(part) for part in choice], value=names.get(str(here), here))
        return found

    before = sentences(state.functions, {**theory.static, **theory.vars})
    after = sentences(later.current, theory.vars)
    lines.append("  before:")
    lines += [f"    {line}" for line in before.values()]
    lines.append(f"  step: {action}({', '.join(show(arg) for arg in args)})")
    changed = [line for key, line in after.items() if before.get(key) != line]
    gone = [line for key, line in before.items() if key[0] in theory.vars and key not in after]
    lines += [f"    now {line}" for line in changed] + [f"    no longer {line}" for line in gone]
    lines.append(f"  broken: {name.replace('_', ' ')}" + (f" ({', '.join(show(arg) for arg in witness)})" if witness else ""))
    return "\n".join(lines)
