"""Theorem 2 on two levels: the home of a job gives it to an owner, and the owner, as a home itself, to the node that runs it.

The code is `desktop`. Of the level below, what custody.py proves is assumed, for each tenure: at most one node runs the job
in it, and none when its outcome is told. An owner never gives a job away that it owns.
"""

import clocks
import custody_home as home
from logic import And, If, Implies, Max, Not, Or, Theory

NONE = -1


def theory():
    T = Theory("custody on two levels", ["Node"])
    T.scopes = [{"Node": 2}, {"Node": 3}]
    T.numbers = range(-1, 3)
    T.counted = {"attempt", "claim", "t_attempt", "t_claim", "last", "outcome"}
    T.static = {"home": ("Node",), "lease": ("Int",), "skew": ("Int",)}
    T.vars = {
        "clock": ("Node", "Int"),
        # The job does not move between nodes, so a home knows no more.
        **home.STATE,
        # An owner.
        "has": ("Node", "Bool"),
        "waits": ("Node", "Bool"),
        "ended": ("Node", "Bool"),
        "done": ("Node", "Bool"),
        "t_attempt": ("Node", "Int"),
        "t_claim": ("Node", "Int"),
        "ends": ("Node", "Int"),
        "last": ("Node", "Int"),
        # Below, for each attempt of the home, which is the tenure there: whether the owner answers for the job, until when
        # it may grant it, whether the job has an outcome there, and the programs.
        "answers": ("Node", "Int", "Bool"),
        "bound": ("Node", "Int", "Int"),
        "over_below": ("Node", "Int", "Bool"),
        "done_below": ("Node", "Int", "Bool"),
        "prog": ("Node", "Node", "Int", "Bool"),
        "stops": ("Node", "Node", "Int", "Int"),
        # Messages.
        "m_give": ("Node", "Int", "Bool"),
        "m_report": ("Node", "Int", "Int", "Bool"),
        "m_ended": ("Node", "Int", "Int", "Bool"),
        "m_done": ("Node", "Int", "Int", "Bool"),
        "m_grant": ("Node", "Int", "Int", "Int", "Bool"),
        "m_withdraw": ("Node", "Int", "Int", "Bool"),
        # Ghosts.
        "granted": ("Int", "Bool"),
        "g_node": ("Int", "Node"),
        "g_claim": ("Int", "Int"),
        "g_until": ("Int", "Int"),
        **home.GHOSTS,
    }
    T.ghosts = {"granted", "g_node", "g_claim", "g_until", *home.GHOSTS}
    T.bugs = {
        "Unbounded": "an owner grants the job for longer than its own lease",
        "EndedTooSoon": "an owner tells that the job has ended before it has an outcome below",
        "KeptWithoutALease": "an owner answers for a job that its home has not granted",
        "LeaseWithoutSkew": "a home takes a lease for ended that has ended by its own clock alone",
        "PlacedAtOnce": "a home gives the job to another owner before the lease is over",
        "OldEndBelieved": "a home believes the end of an earlier holding",
        "OutcomeForgotten": "an owner that answers again in one tenure forgets the outcome",
        "FailedWhileHeld": "a home tells that a job has failed though a node may still run it",
    }
    keeps = T.keeps

    T.axioms = [lambda s: And(s.lease() >= 0, s.skew() >= 0)]

    def init(s):
        return And(
            s.forall(("Node",), lambda n: And(s.clock(n) == 0, s.last(n) == 0, s.ends(n) == NONE)),
            s.attempt() == 0,
            s.claim() == 0,
            T.nothing_holds(s),
            s.forall(("Node", "Int"), lambda n, at: s.bound(n, at) == NONE),
        )

    T.init = init
    T.messages = T.sent()
    action = T.action

    action()(clocks.time_passes)

    action()(home.accept)

    @action("Node")
    def choose(s, t, n):
        t.need(Or(s.open(), s.giving()))
        home.settle(t, "giving")
        t.put("given", (), True)
        t.put("attempt", (), s.attempt() + 1)
        t.put("holder", (), n)
        t.put("claim", (), 0)

    action()(home.pause)

    @action("Node")
    def ask(s, t, n):
        t.need(And(s.giving(), s.holder() == n))
        t.sends("give", n, s.attempt())

    @action("Node", "Int", "Int")
    def admit(s, t, n, at, cl):
        t.reads("report", n, at, cl)
        t.need(And(s.holder() == n, s.attempt() == at, Or(s.giving(), And(s.kept(), s.claim() == 0)), cl > 0))
        home.settle(t, "kept")
        t.put("given", (), True)
        t.put("claim", (), cl)
        t.put("until", (), If(s.kept(), s.until(), s.clock(s.home())))

    @action("Node", "Int")
    def grant(s, t, n, u):
        t.need(And(s.kept(), s.holder() == n, s.claim() > 0))
        t.need(And(u >= 0, u <= s.clock(s.home()) + s.lease()))
        at = s.attempt()
        t.put("until", (), Max(s.until(), u))
        t.sends("grant", n, at, s.claim(), u)
        t.put("g_until", (at,), If(s.granted(at), Max(s.g_until(at), u), u))
        t.put("g_node", (at,), n)
        t.put("g_claim", (at,), s.claim())
        t.put("granted", (at,), True)

    action()(home.place_again)

    def of_present(s, n, at, cl):
        same = Or(s.giving(), s.claim() == 0, s.claim() == cl)
        return And(Or(s.giving(), s.kept(), s.leaving()), s.holder() == n, s.attempt() == at, same)

    @action("Node", "Int", "Int")
    def place_after_end(s, t, n, at, cl):
        t.reads("ended", n, at, cl)
        t.need(Or(s.kept(), s.giving()))
        if keeps("OldEndBelieved"):
            t.need(of_present(s, n, at, cl))
        home.settle(t, "open")
        t.put("given", (), False)

    @action()
    def cancel(s, t):
        t.need(s.kept())
        home.settle(t, "leaving")

    @action("Node")
    def withdraw(s, t, n):
        t.need(And(s.leaving(), s.holder() == n))
        t.sends("withdraw", n, s.attempt(), s.claim())

    @action("Int")
    def close(s, t, k):
        """The job has an outcome: 0 for finished, 1 for cancelled, others for failed."""
        free = Or(s.open(), s.giving(), And(Or(s.kept(), s.leaving()), home.lapsed(s, s.until())))
        t.need(And(free if keeps("FailedWhileHeld") else Or(s.open(), s.giving(), s.kept()), k > 0, Implies(s.leaving(), k == 1)))
        home.settle(t, "over")
        t.put("outcome", (), k)

    @action("Node", "Int", "Int", "Int")
    def close_after_end(s, t, n, at, cl, k):
        t.reads("ended", n, at, cl)
        t.need(And(of_present(s, n, at, cl), k > 0, Implies(s.leaving(), k == 1)))
        home.settle(t, "over")
        t.put("outcome", (), k)

    @action("Node", "Int", "Int")
    def close_done(s, t, n, at, cl):
        t.reads("done", n, at, cl)
        t.need(of_present(s, n, at, cl))
        home.settle(t, "over")
        t.put("outcome", (), 0)

    action()(home.tell)

    # ----------------------------------------------------------------- owner

    def clear(t, n):
        for name in ("waits", "ended", "done"):
            t.put(name, (n,), False)
        t.put("ends", (n,), NONE)

    @action("Node", "Int", "Int")
    def take(s, t, n, at, cl):
        t.reads("give", n, at)
        t.need(Implies(s.has(n), And(s.t_attempt(n) < at, Not(s.waits(n)))))
        t.need(cl > s.last(n))
        clear(t, n)
        t.put("has", (n,), True)
        t.put("t_attempt", (n,), at)
        t.put("t_claim", (n,), cl)
        t.put("last", (n,), cl)

    @action("Node")
    def report(s, t, n):
        t.need(And(s.has(n), Not(s.ended(n))))
        t.sends("report", n, s.t_attempt(n), s.t_claim(n))

    @action("Node", "Int", "Int", "Int")
    def note_grant(s, t, n, at, cl, u):
        """The owner may stay owner for longer, and so may the job below."""
        t.reads("grant", n, at, cl, u)
        t.need(And(s.has(n), Not(s.ended(n)), s.t_attempt(n) == at, s.t_claim(n) == cl, u > s.clock(n)))
        t.put("ends", (n,), Max(s.ends(n), u))
        t.put("waits", (n,), True)

    @action("Node")
    def keep_below(s, t, n):
        """The owner answers for the job below, within its own lease. What is over below stays over."""
        at = s.t_attempt(n)
        t.need(s.has(n))
        if keeps("KeptWithoutALease"):
            t.need(s.waits(n))
        t.put("answers", (n, at), True)
        t.put("bound", (n, at), Max(s.bound(n, at), s.ends(n)))
        if not keeps("OutcomeForgotten"):
            t.put("over_below", (n, at), False)

    @action("Node", "Node", "Int", "Int")
    def start(s, t, r, n, at, u):
        """A node starts the job below. By the theorem on one level, no other node runs it there."""
        t.need(And(s.answers(n, at), Not(s.over_below(n, at)), s.clock(r) <= u))
        if keeps("Unbounded"):
            t.need(u <= s.bound(n, at))
        t.assume(s.forall(("Node",), lambda m: Not(s.prog(m, n, at))))
        t.put("prog", (r, n, at), True)
        t.put("stops", (r, n, at), u)

    @action("Node", "Node", "Int", "Int")
    def extend(s, t, r, n, at, u):
        t.need(And(s.prog(r, n, at), s.clock(r) <= u))
        if keeps("Unbounded"):
            t.need(u <= s.bound(n, at))
        t.put("stops", (r, n, at), u)

    @action("Node", "Node", "Int")
    def program_ends(s, t, r, n, at):
        """The program ends by itself, is stopped, or goes down with its computer."""
        t.put("prog", (r, n, at), False)

    @action("Node", "Int", "Bool")
    def outcome_below(s, t, n, at, done):
        """The job has an outcome below. By the theorem on one level, no node runs it there then."""
        t.need(s.answers(n, at))
        t.assume(s.forall(("Node",), lambda m: Not(s.prog(m, n, at))))
        t.put("over_below", (n, at), True)
        t.put("done_below", (n, at), done)
        t.where("was_done", lambda: done, lambda: True)

    @action("Node")
    def end(s, t, n):
        """The owner passes the outcome on, or cannot answer for the job below."""
        at = s.t_attempt(n)
        t.need(And(s.has(n), Not(s.ended(n))))
        if keeps("EndedTooSoon"):
            t.need(Or(s.over_below(n, at), And(s.waits(n), Not(s.answers(n, at)))))
        clear(t, n)
        t.put("ended", (n,), True)
        t.put("done", (n,), And(s.over_below(n, at), s.done_below(n, at)))

    @action("Node")
    def say_ended(s, t, n):
        t.need(And(s.has(n), s.ended(n)))
        t.sends("ended", n, s.t_attempt(n), s.t_claim(n))

    @action("Node")
    def say_done(s, t, n):
        t.need(And(s.has(n), s.ended(n), s.done(n)))
        t.sends("done", n, s.t_attempt(n), s.t_claim(n))

    @action("Node")
    def let_go(s, t, n):
        """The owner forgets the job, in any state. The job below may run until its lease is over."""
        t.need(s.has(n))
        clear(t, n)
        t.put("has", (n,), False)

    @action("Node", "Int", "Int")
    def say_withdrawn(s, t, n, at, cl):
        """The job was withdrawn, and is not owned here. It may still run below for a while."""
        t.reads("withdraw", n, at, cl)
        t.need(Implies(s.has(n), s.t_attempt(n) > at))
        t.sends("ended", n, at, cl)

    @action("Node")
    def restart(s, t, n):
        """A node crashed and comes back from its disk. Programs go on, or end."""
        t.put("waits", (n,), False)
        t.put("ends", (n,), NONE)
        again = home.resume(s, t, n)
        t.where("until", lambda: Or(again, And(n == s.home(), s.leaving())), lambda: s.clock(s.home()) + s.lease())

    # ------------------------------------------------------------ invariants

    inv = T.invariant

    def quits(s, n, at, cl):
        """An owner will never answer for the job below under this claim and attempt."""
        return And(cl <= s.last(n), Implies(And(s.has(n), s.t_claim(n) == cl), And(s.t_attempt(n) == at, s.ended(n))))

    def is_done_with(s, n, at, cl):
        """What an owner was granted has an outcome below, or was never kept there."""
        return Or(s.over_below(n, at), And(s.granted(at), s.g_node(at) == n, s.g_claim(at) == cl, Not(s.answers(n, at))))

    def gone(s, at):
        """What was granted is lost for good: the job has an outcome below, or was never kept there."""
        n = s.g_node(at)
        return And(quits(s, n, at, s.g_claim(at)), Implies(s.answers(n, at), s.over_below(n, at)))

    @inv("Node", "Node", "Int", "Node", "Node", "Int", claim=True)
    def at_most_one_node_runs_the_job(s, r, n, at, q, m, bt):
        return Implies(And(s.prog(r, n, at), s.prog(q, m, bt)), r == q)

    @inv("Node", "Node", "Int", claim=True)
    def no_node_runs_the_job_after_the_lease_of_its_owner(s, r, n, at):
        granted = And(s.granted(at), s.g_node(at) == n, s.bound(n, at) <= s.g_until(at))
        return Implies(s.prog(r, n, at), And(granted, s.clock(r) <= s.stops(r, n, at), s.stops(r, n, at) <= s.bound(n, at)))

    inv(claim=True)(home.a_job_without_an_outcome_is_on_the_disk_of_its_home)

    inv("Int", "Int", claim=True)(home.one_outcome_is_told)

    @inv("Node", "Node", "Int", "Int", claim=True)
    def no_node_runs_a_job_that_was_told_to_be_finished_or_failed(s, r, n, at, k):
        """One that was cancelled may run for a while."""
        return Implies(And(s.told(k), k != 1), Not(s.prog(r, n, at)))

    inv(claim=True)(home.a_job_that_is_finished_was_done)

    inv("Node", "Node")(clocks.clocks_agree)

    @inv()
    def a_home_is_in_one_phase(s):
        return And(
            home.is_in_order(s),
            Implies(Or(s.giving(), s.kept(), s.leaving()), s.given()),
            Implies(And(Or(s.giving(), s.open()), s.given()), s.claim() == 0),
        )

    inv("Int")(home.what_is_told_is_the_outcome)

    @inv("Node")
    def an_owner_is_in_order(s, n):
        return And(
            Not(And(s.waits(n), s.ended(n))),
            Implies(Or(s.waits(n), s.ended(n)), s.has(n)),
            Implies(s.has(n), And(s.t_claim(n) <= s.last(n), s.t_claim(n) > 0)),
            Implies(And(s.has(n), s.ended(n)), is_done_with(s, n, s.t_attempt(n), s.t_claim(n))),
            Implies(And(s.has(n), s.ended(n), s.done(n)), s.over_below(n, s.t_attempt(n))),
            Implies(And(s.ended(n), s.done(n)), s.was_done()),
            Implies(Not(s.has(n)), s.ends(n) < 0),
            s.last(n) >= 0,
        )

    @inv("Node", "Int")
    def below_is_in_order(s, n, at):
        return And(
            Implies(s.over_below(n, at), s.answers(n, at)),
            Implies(And(s.over_below(n, at), s.done_below(n, at)), s.was_done()),
            Implies(s.answers(n, at), And(s.granted(at), s.g_node(at) == n, s.bound(n, at) <= s.g_until(at))),
            Implies(Not(s.answers(n, at)), s.bound(n, at) == NONE),
        )

    @inv("Node", "Node", "Int")
    def what_is_over_below_runs_nowhere(s, r, n, at):
        return Implies(s.prog(r, n, at), And(s.answers(n, at), Not(s.over_below(n, at))))

    @inv("Node", "Node", "Node", "Int")
    def one_node_runs_the_job_below(s, r, q, n, at):
        return Implies(And(s.prog(r, n, at), s.prog(q, n, at)), r == q)

    @inv("Node")
    def an_owner_with_a_lease_was_granted_the_job(s, n):
        at = s.t_attempt(n)
        mine = And(s.granted(at), s.g_node(at) == n, s.g_claim(at) == s.t_claim(n))
        return And(
            Implies(And(s.has(n), s.waits(n)), And(mine, s.ends(n) >= 0)),
            Implies(And(s.has(n), s.ends(n) >= 0), And(mine, s.ends(n) <= s.g_until(at))),
        )

    @inv("Node", "Int", "Int")
    def a_report_is_of_what_a_node_had(s, n, at, cl):
        return Implies(s.m_report(n, at, cl), And(cl <= s.last(n), cl > 0, Implies(And(s.has(n), s.t_claim(n) == cl), s.t_attempt(n) == at)))

    @inv("Node", "Int", "Int", "Int")
    def a_grant_is_of_a_report(s, n, at, cl, u):
        return Implies(s.m_grant(n, at, cl, u), And(s.granted(at), s.g_node(at) == n, s.g_claim(at) == cl, u <= s.g_until(at), u >= 0))

    @inv("Node", "Int", "Int")
    def an_end_is_for_good(s, n, at, cl):
        return And(
            Implies(Or(s.m_ended(n, at, cl), s.m_done(n, at, cl)), quits(s, n, at, cl)),
            Implies(s.m_done(n, at, cl), s.was_done()),
        )

    @inv("Node", "Int", "Int")
    def a_withdrawal_is_of_a_report(s, n, at, cl):
        known = And(Or(s.m_report(n, at, cl), cl <= 0), Implies(s.granted(at), And(s.g_node(at) == n, s.g_claim(at) == cl)))
        return Implies(s.m_withdraw(n, at, cl), And(Or(s.leaving(), s.over()), cl <= s.last(n), known))

    @inv("Node", "Int", "Int")
    def an_end_follows_one_below_or_a_withdrawal(s, n, at, cl):
        ended = Implies(s.m_ended(n, at, cl), Or(is_done_with(s, n, at, cl), s.m_withdraw(n, at, cl)))
        return And(ended, Implies(s.m_done(n, at, cl), s.over_below(n, at)))

    @inv("Int")
    def what_was_granted_is_over_or_of_the_present_owner(s, at):
        present = And(s.attempt() == at, s.g_claim(at) == s.claim(), s.claim() > 0, s.g_node(at) == s.holder())
        return Implies(
            s.granted(at),
            And(
                Or(
                    s.g_until(at) + s.skew() < s.clock(s.home()),
                    gone(s, at),
                    And(Or(s.kept(), s.leaving(), And(s.over(), s.outcome() == 1)), present, Or(s.over(), s.g_until(at) <= s.until())),
                ),
                at <= s.attempt(),
                Implies(And(at == s.attempt(), s.given(), Not(s.over())), present),
                s.g_until(at) <= s.clock(s.home()) + s.lease(),
                s.g_claim(at) <= s.last(s.g_node(at)),
                s.g_claim(at) > 0,
                s.accepted(),
            ),
        )

    @inv("Node", "Int")
    def what_was_granted_was_had(s, n, at):
        cl = s.g_claim(at)
        return Implies(And(s.granted(at), s.g_node(at) == n, s.has(n), s.t_claim(n) == cl), s.t_attempt(n) == at)

    @inv("Node")
    def the_claim_of_the_present_owner_was_reported(s, n):
        return Implies(And(Or(s.kept(), s.leaving()), s.claim() > 0), s.m_report(s.holder(), s.attempt(), s.claim()))

    level = "the upper custody, as on one level"
    T.code = {name: level for name in T.actions} | {
        "time_passes": "no code: the world",
        "keep_below": "`Desktop::own`: `Command::Keep` and `Bound` to the lower custody",
        "start": "the lower custody",
        "extend": "the lower custody",
        "program_ends": "the lower custody; its host",
        "outcome_below": "the lower custody",
        "end": "`Desktop::pass_on`, `own`: `Command::Ended` to the upper custody",
    }
    T.labels = {"Node": lambda i: f"node {'ABCDEF'[i]}"}
    T.words = home.WORDS | {
        "open": "the home seeks an owner",
        "kept": "a node owns the job, as far as its home knows",
        "leaving": "the job is cancelled, and a node may own it",
        "waits": "{0} owns the job under a lease",
        "ended": "the job has ended for {0}",
    }
    T.shown = {name: lambda s, f, n: f["has"](n) for name in ("t_attempt", "t_claim")}
    T.shown |= {"ends": lambda s, f, n: f["ends"](n) >= 0}
    return T
