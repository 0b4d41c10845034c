"""What the two levels of custody have in common: the home of a job, and what is claimed of it.

What depends on moves, which only the lower level has, stands in custody.py and custody_two.py.
"""

from logic import And, Implies, Not, Or, at_most_one

PHASES = ("open", "giving", "kept", "leaving", "over")

# `open`: no node has the job; `giving`: a node is asked; `kept`: a node has it; `leaving`: cancelled; `over`: the outcome
# is on disk. `given` says that the disk names the node that is or was asked.
STATE = {phase: ("Bool",) for phase in PHASES} | {
    "given": ("Bool",),
    "attempt": ("Int",),
    "holder": ("Node",),
    "claim": ("Int",),
    "until": ("Int",),
    "outcome": ("Int",),
}

# What was told, and whether the job was accepted and done.
GHOSTS = {"told": ("Int", "Bool"), "accepted": ("Bool",), "was_done": ("Bool",)}

WORDS = {
    "clock": "the clock of {0} says {value}",
    "skew": "clocks differ by at most {value}",
    "lease": "a lease is {value} long",
    "home": "the home is {value}",
    "giving": "the home has asked a node",
    "over": "the job has an outcome",
    "attempt": "the home gives the job away for the time {value}",
    "holder": "the home has noted {value}",
    "claim": "the home has noted claim {value}",
    "until": "the home waits until {value}",
    "has": "{0} has a record of the job",
    "t_attempt": "{0} has attempt {value}",
    "t_claim": "{0} has claim {value}",
    "ends": "the lease of {0} ends at {value}",
}


def lapsed(s, until):
    """A lease is over by every clock."""
    return until + (s.skew() if s.theory.keeps("LeaseWithoutSkew") else 0) < s.clock(s.home())


def phases(s):
    return [getattr(s, phase)() for phase in PHASES]


def settle(t, phase):
    for name in PHASES:
        t.put(name, (), name == phase)


# --------------------------------------------------------------------- actions


def accept(s, t):
    """The home answers for the job: on disk before the user is told. It does so once."""
    t.assume(Not(s.accepted()))
    t.need(And(*[Not(phase) for phase in phases(s)]))
    settle(t, "open")
    t.put("given", (), False)
    t.put("attempt", (), 0)
    t.put("accepted", (), True)


def pause(s, t):
    """The node that was asked does not take the job, as far as is known."""
    t.need(s.giving())
    settle(t, "open")


def place_again(s, t):
    """The lease is over by every clock: another node is sought."""
    t.need(s.kept())
    if s.theory.keeps("PlacedAtOnce"):
        t.need(lapsed(s, s.until()))
    settle(t, "open")
    t.put("given", (), False)


def tell(s, t):
    t.need(s.over())
    t.put("told", (s.outcome(),), True)


def resume(s, t, n):
    """A part of `restart`: a home that may have granted the job takes it for kept. Returns whether this is so."""
    again = And(n == s.home(), Or(s.giving(), s.kept(), And(s.open(), s.given())))
    t.where("kept", lambda: again, lambda: True)
    t.where("open", lambda: again, lambda: False)
    t.where("giving", lambda: again, lambda: False)
    t.where("claim", lambda: And(again, Not(s.kept())), lambda: 0)
    return again


# ------------------------------------------------------------------ invariants


def a_job_without_an_outcome_is_on_the_disk_of_its_home(s):
    return Implies(s.accepted(), Or(*phases(s)))


def one_outcome_is_told(s, k, l):
    return Implies(And(s.told(k), s.told(l)), k == l)


def a_job_that_is_finished_was_done(s):
    return Implies(s.told(0), s.was_done())


def is_in_order(s):
    """A part of `a_home_is_in_one_phase`."""
    return And(at_most_one(*phases(s)), Implies(Or(*phases(s)), s.accepted()), s.claim() >= 0, s.attempt() >= 0)


def what_is_told_is_the_outcome(s, k):
    return And(Implies(s.told(k), And(s.over(), s.outcome() == k)), Implies(And(s.over(), s.outcome() == 0), s.was_done()))
