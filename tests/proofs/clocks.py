"""Clocks that differ by at most `skew`, and programs that their hosts stop in time: an action, and an invariant."""

from logic import And, Implies


def time_passes(s, t):
    """Clocks go on. The host of a program has stopped it when its time is over."""
    clock = t.havoc("clock")
    t.assume(s.forall(("Node",), lambda n: clock(n) >= s.clock(n)))
    t.assume(s.forall(("Node", "Node"), lambda n, m: clock(n) <= clock(m) + s.skew()))
    *program, _ = s.theory.vars["prog"]
    t.assume(s.forall(tuple(program), lambda n, *of: Implies(s.prog(n, *of), clock(n) <= s.stops(n, *of))))


def clocks_agree(s, n, m):
    return And(s.clock(n) <= s.clock(m) + s.skew(), s.clock(n) >= 0)
