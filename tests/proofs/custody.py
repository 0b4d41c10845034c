"""Theorem 2: custody on one level, for any number of nodes, moves, messages and crashes.

The code is core/src/custody. Jobs do not touch each other, so there is one job here, with its home. A term is an attempt
of the home and a number of moves; a claim is a number that a node uses for one taking only.
"""

import clocks
import custody_home as home
from logic import And, If, Implies, Max, Not, Or, Theory, at_most_one

NONE = -1


def theory():
    T = Theory("custody", ["Node"])
    T.scopes = [{"Node": 2}, {"Node": 3}]
    T.numbers = range(-1, 3)
    T.counted = {"attempt", "moves", "claim", "c_moves", "c_claim", "t_attempt", "t_moves", "t_claim", "last", "outcome"}
    T.static = {"home": ("Node",), "lease": ("Int",), "skew": ("Int",)}
    T.vars = {
        "clock": ("Node", "Int"),
        **home.STATE,
        "moves": ("Int",),
        # The holder that the record of a cancellation names. One to which the job moved since is known in memory alone.
        "c_moves": ("Int",),
        "c_holder": ("Node",),
        "c_claim": ("Int",),
        # A holder. All but the lease is on its disk; that it waits is forgotten in a crash.
        "has": ("Node", "Bool"),
        "waits": ("Node", "Bool"),
        "gives": ("Node", "Bool"),
        "runs": ("Node", "Bool"),
        "ended": ("Node", "Bool"),
        "done": ("Node", "Bool"),
        "t_attempt": ("Node", "Int"),
        "t_moves": ("Node", "Int"),
        "t_claim": ("Node", "Int"),
        "ends": ("Node", "Int"),
        "last": ("Node", "Int"),
        # Its host.
        "prog": ("Node", "Bool"),
        "stops": ("Node", "Int"),
        # Messages.
        "m_give": ("Node", "Int", "Int", "Bool"),
        "m_report": ("Node", "Int", "Int", "Int", "Bool"),
        "m_ended": ("Node", "Int", "Int", "Int", "Bool"),
        "m_done": ("Node", "Int", "Int", "Int", "Bool"),
        "m_grant": ("Node", "Int", "Int", "Int", "Int", "Bool"),
        "m_withdraw": ("Node", "Int", "Int", "Int", "Bool"),
        # Ghosts: what was granted under each term, and until when; what was told; whether a job was accepted.
        "granted": ("Int", "Int", "Bool"),
        "g_node": ("Int", "Int", "Node"),
        "g_claim": ("Int", "Int", "Int"),
        "g_until": ("Int", "Int", "Int"),
        **home.GHOSTS,
    }
    T.ghosts = {"granted", "g_node", "g_claim", "g_until", *home.GHOSTS}
    T.bugs = {
        "LeaseWithoutSkew": "a home takes a lease for ended that has ended by its own clock alone",
        "LeaseNotWatched": "a node starts a job though its lease is over",
        "AnyClaimCounts": "a home grants a term again to a second node that claims it",
        "OldGrantsTaken": "a holder takes a grant for an earlier claim for its own",
        "GivenInMemory": "a holder gives a job away before that is on disk, and a crash loses it",
        "GivenWhileRunning": "a holder gives a job away that runs",
        "GrantInMemory": "a home grants a claim before that is on disk, and a crash loses it",
        "NotWaitedAfterARestart": "a home that restarts does not wait for the leases of its earlier life",
        "PlacedAtOnce": "a home gives the job to another node before the lease is over",
        "OldEndBelieved": "a home believes the end of an earlier holding",
        "EndedWhileRunning": "a holder tells that a job has ended while it runs",
        "ClaimTwice": "a node uses the number of a claim twice",
        "OutcomeInMemory": "a home tells an outcome before it is on disk, and a crash loses it",
        "KeptInMemory": "a home accepts a job that it has not written down, and a crash loses it",
        "ClosedWhileHeld": "a home tells an outcome though a node may still run the job",
        "FreshTerm": "a holder that takes a job back reports a term that no other node knows",
    }
    keeps = T.keeps

    T.axioms = [lambda s: And(s.lease() >= 0, s.skew() >= 0)]

    def init(s):
        return And(
            s.forall(("Node",), lambda n: And(s.clock(n) == 0, s.last(n) == 0, s.ends(n) == NONE)),
            s.attempt() == 0,
            s.moves() == 0,
            s.claim() == 0,
            T.nothing_holds(s),
        )

    T.init = init
    T.messages = T.sent()
    action = T.action

    action()(clocks.time_passes)

    # ------------------------------------------------------------------ home

    action()(home.accept)

    @action("Node")
    def choose(s, t, n):
        """A node is chosen, under the next attempt: on disk before it is asked."""
        t.need(Or(s.open(), s.giving()))
        home.settle(t, "giving")
        t.put("given", (), True)
        t.put("attempt", (), s.attempt() + 1)
        t.put("moves", (), 0)
        t.put("holder", (), n)
        t.put("claim", (), 0)

    action()(home.pause)

    @action("Node")
    def ask(s, t, n):
        t.need(And(s.giving(), s.holder() == n))
        t.sends("give", n, s.attempt(), 0)

    @action("Node", "Int", "Int", "Int")
    def admit(s, t, n, at, mv, cl):
        """A claim counts: of the node that was asked, or of one to which the holder gave the job. On disk before it is granted."""
        t.reads("report", n, at, mv, cl)
        first = And(s.giving(), s.holder() == n, s.attempt() == at, mv == 0)
        again = And(s.kept(), s.holder() == n, s.attempt() == at, s.moves() == mv, s.claim() == 0)
        moved = And(s.kept(), s.attempt() == at, mv == s.moves() + 1)
        second = And(s.kept(), s.attempt() == at, mv == s.moves()) if not keeps("AnyClaimCounts") else False
        t.need(Or(first, again, moved, second))
        t.need(cl > 0)
        home.settle(t, "kept")
        t.put("given", (), True)
        t.put("attempt", (), at)
        t.put("moves", (), mv)
        t.put("holder", (), n)
        t.put("claim", (), cl)
        # Nothing that is granted is forgotten: the lease of the earlier holder counts as well.
        t.put("until", (), If(s.kept(), s.until(), s.clock(s.home())))

    @action("Node", "Int")
    def grant(s, t, n, u):
        """The holder may have the job until `u`."""
        t.need(And(s.kept(), s.holder() == n, s.claim() > 0))
        t.need(And(u >= 0, u <= s.clock(s.home()) + s.lease()))
        at, mv = s.attempt(), s.moves()
        t.put("until", (), Max(s.until(), u))
        t.sends("grant", n, at, mv, s.claim(), u)
        t.put("g_until", (at, mv), If(s.granted(at, mv), Max(s.g_until(at, mv), u), u))
        t.put("g_node", (at, mv), n)
        t.put("g_claim", (at, mv), s.claim())
        t.put("granted", (at, mv), True)

    action()(home.place_again)

    def of_present(s, n, at, mv, cl):
        """A claim is of the present holder, as far as it is known."""
        same = And(If(s.giving(), 0, s.moves()) == mv, Or(s.giving(), s.claim() == 0, s.claim() == cl))
        return And(Or(s.giving(), s.kept(), s.leaving()), s.holder() == n, s.attempt() == at, same)

    @action("Node", "Int", "Int", "Int")
    def place_after_end(s, t, n, at, mv, cl):
        """The present holder says that it does not have the job any more, and has not done it."""
        t.reads("ended", n, at, mv, cl)
        t.need(And(Or(s.kept(), s.giving()), s.holder() == n, s.attempt() == at))
        if keeps("OldEndBelieved"):
            t.need(of_present(s, n, at, mv, cl))
        home.settle(t, "open")
        t.put("given", (), False)

    @action()
    def cancel(s, t):
        t.need(s.kept())
        home.settle(t, "leaving")
        t.put("c_moves", (), s.moves())
        t.put("c_holder", (), s.holder())
        t.put("c_claim", (), s.claim())

    @action("Node")
    def withdraw(s, t, n):
        t.need(And(s.leaving(), s.holder() == n))
        t.sends("withdraw", n, s.attempt(), s.moves(), s.claim())

    @action("Node", "Int", "Int", "Int")
    def withdraw_reporter(s, t, n, at, mv, cl):
        """A node that reports is told to let the job go, whether the home knew of it or not."""
        t.reads("report", n, at, mv, cl)
        t.need(s.leaving())
        t.sends("withdraw", n, at, mv, cl)

    @action("Node", "Int", "Int", "Int")
    def withdraw_there(s, t, n, at, mv, cl):
        """The job moved before it was cancelled. Its new holder was granted nothing."""
        t.reads("report", n, at, mv, cl)
        t.need(And(s.leaving(), s.attempt() == at, mv == s.moves() + 1, cl > 0))
        t.put("moves", (), mv)
        t.put("holder", (), n)
        t.put("claim", (), cl)
        t.put("until", (), s.clock(s.home()))

    @action("Int")
    def close(s, t, k):
        """The job has an outcome, other than done, and no node can run it: on disk before it is told."""
        t.need(And(Or(s.open(), s.giving(), s.kept(), s.leaving()), k > 0))
        if keeps("ClosedWhileHeld"):
            t.need(Implies(Or(s.kept(), s.leaving()), home.lapsed(s, s.until())))
        home.settle(t, "over")
        t.put("outcome", (), k)

    @action("Node", "Int", "Int", "Int", "Int")
    def close_after_end(s, t, n, at, mv, cl, k):
        """The present holder says that it does not have the job any more, and the job is not placed again."""
        t.reads("ended", n, at, mv, cl)
        t.need(And(of_present(s, n, at, mv, cl), k > 0))
        home.settle(t, "over")
        t.put("outcome", (), k)

    @action("Node", "Int", "Int", "Int")
    def close_done(s, t, n, at, mv, cl):
        t.reads("done", n, at, mv, cl)
        t.need(of_present(s, n, at, mv, cl))
        home.settle(t, "over")
        t.put("outcome", (), 0)

    action()(home.tell)

    # ---------------------------------------------------------------- holder

    def clear(t, n):
        for name in ("waits", "gives", "runs", "ended", "done"):
            t.put(name, (n,), False)
        t.put("ends", (n,), NONE)

    @action("Node", "Int", "Int", "Int")
    def take(s, t, n, at, mv, cl):
        """A node takes the job under a newer term than it knew, with a number that it never used."""
        t.reads("give", n, at, mv)
        newer = Or(s.t_attempt(n) < at, And(s.t_attempt(n) == at, s.t_moves(n) < mv))
        t.need(Implies(s.has(n), And(newer, Not(s.waits(n)), Not(s.runs(n)))))
        t.need(cl > s.last(n) if keeps("ClaimTwice") else cl > 0)
        clear(t, n)
        t.put("has", (n,), True)
        t.put("t_attempt", (n,), at)
        t.put("t_moves", (n,), mv)
        t.put("t_claim", (n,), cl)
        t.put("last", (n,), Max(s.last(n), cl))

    @action("Node", "Int")
    def use_number(s, t, n, cl):
        """A number is used for another job."""
        t.need(cl > s.last(n))
        t.put("last", (n,), cl)

    @action("Node")
    def report(s, t, n):
        t.need(And(s.has(n), Not(s.gives(n)), Not(s.ended(n))))
        t.sends("report", n, s.t_attempt(n), s.t_moves(n), s.t_claim(n))

    @action("Node", "Int", "Int", "Int", "Int")
    def note_grant(s, t, n, at, mv, cl, u):
        """A grant for this very claim: the job waits here, or may stay longer."""
        t.reads("grant", n, at, mv, cl, u)
        t.need(And(s.has(n), Not(s.ended(n)), Not(s.gives(n))))
        if keeps("OldGrantsTaken"):
            t.need(And(s.t_attempt(n) == at, s.t_moves(n) == mv, s.t_claim(n) == cl))
        t.need(u > s.clock(n))
        t.put("ends", (n,), Max(s.ends(n), u))
        t.put("waits", (n,), Not(s.runs(n)))

    @action("Node", "Int")
    def start(s, t, n, u):
        """The job starts under the lease, until `u` at the latest: on disk before the host is told."""
        t.need(And(s.has(n), s.waits(n), u <= s.ends(n) if keeps("LeaseNotWatched") else u >= 0, s.clock(n) <= u))
        t.put("waits", (n,), False)
        t.put("runs", (n,), True)
        t.put("prog", (n,), True)
        t.put("stops", (n,), u)

    @action("Node", "Int")
    def extend(s, t, n, u):
        t.need(And(s.has(n), s.runs(n), s.prog(n), u <= s.ends(n), s.clock(n) <= u))
        t.put("stops", (n,), u)

    @action("Node")
    def program_ends(s, t, n):
        """The program ends by itself, is stopped, or goes down with its computer."""
        t.put("prog", (n,), False)

    @action("Node", "Bool")
    def end(s, t, n, done):
        t.need(And(s.has(n), Not(s.gives(n)), Not(s.ended(n))))
        if keeps("EndedWhileRunning"):
            t.need(Not(s.prog(n)))
        clear(t, n)
        t.put("ended", (n,), True)
        t.put("done", (n,), done)
        t.where("was_done", lambda: done, lambda: True)

    @action("Node")
    def say_ended(s, t, n):
        t.need(And(s.has(n), s.ended(n)))
        t.sends("ended", n, s.t_attempt(n), s.t_moves(n), s.t_claim(n))

    @action("Node")
    def say_done(s, t, n):
        t.need(And(s.has(n), s.ended(n), s.done(n)))
        t.sends("done", n, s.t_attempt(n), s.t_moves(n), s.t_claim(n))

    @action("Node")
    def let_go(s, t, n):
        """A node forgets the job: it is told to, its lease is over, or nothing is heard of the home."""
        t.need(And(s.has(n), Not(s.prog(n))))
        clear(t, n)
        t.put("has", (n,), False)

    @action("Node", "Int", "Int", "Int")
    def say_withdrawn(s, t, n, at, mv, cl):
        """The job was withdrawn, and is not here, or is here under a later term."""
        t.reads("withdraw", n, at, mv, cl)
        later = Or(s.t_attempt(n) > at, And(s.t_attempt(n) == at, s.t_moves(n) > mv))
        t.need(Implies(s.has(n), later))
        t.sends("ended", n, at, mv, cl)

    @action("Node", "Int", "Int", "Int")
    def say_done_withdrawn(s, t, n, at, mv, cl):
        """The job was withdrawn, and has ended here before: the answer names the claim that was withdrawn."""
        t.reads("withdraw", n, at, mv, cl)
        t.need(And(s.has(n), s.ended(n), s.done(n)))
        t.sends("done", n, at, mv, cl)

    @action("Node")
    def give_away(s, t, n):
        """A job that waits here goes to another node: on disk before that node is asked."""
        t.need(And(s.has(n), Or(s.waits(n), s.runs(n)) if not keeps("GivenWhileRunning") else s.waits(n)))
        t.put("waits", (n,), False)
        t.put("runs", (n,), False)
        t.put("gives", (n,), True)

    @action("Node", "Node")
    def pass_on(s, t, n, m):
        t.need(And(s.has(n), s.gives(n)))
        t.sends("give", m, s.t_attempt(n), s.t_moves(n) + 1)

    @action("Node", "Int")
    def take_back(s, t, n, cl):
        """The move has failed, as far as is known: the node claims the very term under which it gave the job away."""
        t.need(And(s.has(n), s.gives(n)))
        t.need(Or(cl == s.t_claim(n), cl > s.last(n)))
        clear(t, n)
        t.put("t_moves", (n,), s.t_moves(n) + (1 if keeps("FreshTerm") else 2))
        t.put("t_claim", (n,), cl)
        t.put("last", (n,), Max(s.last(n), cl))

    @action("Node", "Bool")
    def restart(s, t, n, survives):
        """A node crashed and comes back from its disk. Its program survived, or counts as lost."""
        lives = And(survives, s.prog(n), s.has(n), s.runs(n))
        t.put("prog", (n,), lives)
        t.put("ends", (n,), If(lives, s.stops(n), NONE))
        t.put("waits", (n,), False)
        lost = And(s.has(n), s.runs(n), Not(lives))
        t.where("ended", lambda m: And(m == n, lost), lambda m: True)
        t.where("done", lambda m: And(m == n, lost), lambda m: False)
        t.where("runs", lambda m: And(m == n, lost), lambda m: False)
        if not keeps("GivenInMemory"):
            t.put("gives", (n,), False)
        # As a home: all leases of its earlier life end within a lease from now.
        again = home.resume(s, t, n)
        if not keeps("GrantInMemory"):
            t.where("claim", lambda: again, lambda: 0)
        at_home = n == s.home()
        withdraws = And(at_home, s.leaving())
        t.where("moves", lambda: withdraws, lambda: s.c_moves())
        t.where("holder", lambda: withdraws, lambda: s.c_holder())
        t.where("claim", lambda: withdraws, lambda: s.c_claim())
        t.where("until", lambda: Or(again, withdraws), lambda: s.clock(s.home()) + (s.lease() if keeps("NotWaitedAfterARestart") else 0))
        if not keeps("OutcomeInMemory"):
            t.where("open", lambda: And(at_home, s.over()), lambda: True)
            t.where("over", lambda: at_home, lambda: False)
        if not keeps("KeptInMemory"):
            t.where("open", lambda: at_home, lambda: False)

    # ------------------------------------------------------------ invariants

    inv = T.invariant

    def quits(s, n, at, mv, cl):
        """A node will never run the job under this claim and term."""
        return And(
            cl <= s.last(n),
            Implies(
                And(s.has(n), s.t_claim(n) == cl),
                And(s.t_attempt(n) == at, Or(s.t_moves(n) > mv, And(s.t_moves(n) == mv, Or(s.gives(n), s.ended(n))))),
            ),
        )

    def gone(s, at, mv):
        """What was granted under a term is lost for good."""
        return quits(s, s.g_node(at, mv), at, mv, s.g_claim(at, mv))

    @inv("Node", "Node", claim=True)
    def at_most_one_node_runs_the_job(s, n, m):
        return Implies(And(s.prog(n), s.prog(m)), n == m)

    @inv("Node", claim=True)
    def no_node_runs_the_job_after_its_lease(s, n):
        return Implies(s.prog(n), And(s.clock(n) <= s.stops(n), s.stops(n) <= s.ends(n)))

    inv(claim=True)(home.a_job_without_an_outcome_is_on_the_disk_of_its_home)

    inv("Int", "Int", claim=True)(home.one_outcome_is_told)

    @inv("Node", "Int", claim=True)
    def no_node_runs_a_job_whose_outcome_was_told(s, n, k):
        return Implies(s.told(k), Not(s.prog(n)))

    inv(claim=True)(home.a_job_that_is_finished_was_done)

    # What carries it.
    inv("Node", "Node")(clocks.clocks_agree)

    @inv()
    def a_home_is_in_one_phase(s):
        return And(
            home.is_in_order(s),
            Implies(Or(s.giving(), s.kept()), s.given()),
            Implies(s.giving(), s.moves() == 0),
            Implies(And(Or(s.giving(), s.open()), s.given()), And(s.moves() == 0, s.claim() == 0)),
            s.moves() >= 0,
        )

    inv("Int")(home.what_is_told_is_the_outcome)

    @inv("Node")
    def a_holder_is_in_order(s, n):
        states = [s.waits(n), s.gives(n), s.runs(n), s.ended(n)]
        return And(
            at_most_one(*states),
            Implies(Or(*states), s.has(n)),
            Implies(s.prog(n), And(s.has(n), s.runs(n))),
            Implies(s.has(n), And(s.t_claim(n) <= s.last(n), s.t_claim(n) > 0, s.t_moves(n) >= 0)),
            Implies(And(s.ended(n), s.done(n)), s.was_done()),
            Implies(Not(s.has(n)), s.ends(n) < 0),
            s.last(n) >= 0,
        )

    def mine(s, n):
        """What this node was granted is what was granted under its term."""
        at, mv = s.t_attempt(n), s.t_moves(n)
        return And(s.granted(at, mv), s.g_node(at, mv) == n, s.g_claim(at, mv) == s.t_claim(n))

    @inv("Node")
    def a_holder_that_waits_runs_or_gives_was_granted_the_job(s, n):
        return And(
            Implies(And(s.has(n), Or(s.waits(n), s.runs(n), s.gives(n))), mine(s, n)),
            Implies(And(s.has(n), s.ends(n) >= 0), And(mine(s, n), s.ends(n) <= s.g_until(s.t_attempt(n), s.t_moves(n)))),
        )

    @inv("Node", "Int", "Int", "Int")
    def a_report_is_of_what_a_node_had(s, n, at, mv, cl):
        return And(
            Implies(
                s.m_report(n, at, mv, cl),
                And(cl <= s.last(n), cl > 0, mv >= 0, Implies(And(s.has(n), s.t_claim(n) == cl), And(s.t_attempt(n) == at, s.t_moves(n) >= mv))),
            ),
            Implies(And(s.m_report(n, at, mv, cl), mv >= 1), And(s.granted(at, mv - 1), gone(s, at, mv - 1))),
        )

    @inv("Node", "Int", "Int", "Int", "Int")
    def a_grant_is_of_a_report(s, n, at, mv, cl, u):
        return Implies(s.m_grant(n, at, mv, cl, u), And(s.granted(at, mv), s.g_node(at, mv) == n, s.g_claim(at, mv) == cl, u <= s.g_until(at, mv), u >= 0))

    @inv("Node", "Int", "Int")
    def a_job_that_is_given_by_a_holder_is_gone_there(s, n, at, mv):
        return Implies(And(s.m_give(n, at, mv), mv >= 1), And(s.granted(at, mv - 1), gone(s, at, mv - 1)))

    @inv("Node", "Int", "Int")
    def no_term_is_below_the_first(s, n, at, mv):
        return Implies(s.m_give(n, at, mv), mv >= 0)

    @inv("Node")
    def a_job_that_came_from_a_holder_is_gone_there(s, n):
        at, mv = s.t_attempt(n), s.t_moves(n)
        return Implies(And(s.has(n), mv >= 1), And(s.granted(at, mv - 1), gone(s, at, mv - 1)))

    @inv("Node", "Int", "Int", "Int")
    def an_end_is_for_good(s, n, at, mv, cl):
        return And(
            Implies(Or(s.m_ended(n, at, mv, cl), s.m_done(n, at, mv, cl)), quits(s, n, at, mv, cl)),
            Implies(s.m_done(n, at, mv, cl), s.was_done()),
        )

    @inv("Node", "Int", "Int", "Int")
    def a_withdrawal_is_of_a_report(s, n, at, mv, cl):
        """Or of a node that never reported."""
        return Implies(s.m_withdraw(n, at, mv, cl), And(Or(s.leaving(), s.over()), cl <= s.last(n), Or(s.m_report(n, at, mv, cl), cl <= 0)))

    @inv("Int", "Int")
    def what_was_granted_is_over_or_of_the_present_holder(s, at, mv):
        present = And(s.attempt() == at, s.moves() == mv, s.g_claim(at, mv) == s.claim(), s.claim() > 0, s.g_node(at, mv) == s.holder())
        return Implies(
            s.granted(at, mv),
            And(
                Or(
                    s.g_until(at, mv) + s.skew() < s.clock(s.home()),
                    gone(s, at, mv),
                    And(Or(s.kept(), s.leaving()), present, s.g_until(at, mv) <= s.until()),
                ),
                Or(at < s.attempt(), And(at == s.attempt(), mv <= s.moves())),
                Implies(And(at == s.attempt(), mv == s.moves(), s.given(), Not(s.over())), present),
                s.g_until(at, mv) <= s.clock(s.home()) + s.lease(),
                s.g_claim(at, mv) <= s.last(s.g_node(at, mv)),
                s.g_claim(at, mv) > 0,
                mv >= 0,
                s.accepted(),
            ),
        )

    @inv("Node", "Int", "Int")
    def what_was_granted_was_had(s, n, at, mv):
        cl = s.g_claim(at, mv)
        return Implies(
            And(s.granted(at, mv), s.g_node(at, mv) == n, s.has(n), s.t_claim(n) == cl), And(s.t_attempt(n) == at, s.t_moves(n) >= mv)
        )

    @inv("Int", "Int")
    def a_cancellation_names_the_holder(s, at, mv):
        """The last one that was granted the job, if one was."""
        named = And(s.g_node(at, mv) == s.c_holder(), s.g_claim(at, mv) == s.c_claim(), s.c_claim() > 0)
        return Implies(
            s.leaving(),
            And(
                Implies(And(s.granted(at, mv), at == s.attempt()), And(mv <= s.c_moves(), Implies(mv == s.c_moves(), named))),
                Implies(s.c_claim() > 0, s.m_report(s.c_holder(), s.attempt(), s.c_moves(), s.c_claim())),
                s.c_moves() >= 0,
                s.c_claim() >= 0,
                # If the job moved since, what was granted is lost.
                Implies(And(s.granted(at, mv), at == s.attempt(), mv == s.c_moves(), s.moves() > mv), gone(s, at, mv)),
                Implies(s.moves() <= s.c_moves(), And(s.moves() == s.c_moves(), s.holder() == s.c_holder(), s.claim() == s.c_claim())),
            ),
        )

    @inv("Node")
    def the_claim_of_the_present_holder_was_reported(s, n):
        return Implies(And(Or(s.kept(), s.leaving()), s.claim() > 0), s.m_report(s.holder(), s.attempt(), s.moves(), s.claim()))

    # Each action beside the functions of core/src/custody that take it.
    T.code = {
        "time_passes": "no code: the world",
        "accept": "`Custody::keep`",
        "choose": "`Custody::give_to_next`",
        "pause": "`Custody::give_to_next`",
        "ask": "`Custody::attend_task`",
        "admit": "`Custody::on_claim`",
        "grant": "`Custody::on_claim`",
        "place_again": "`Custody::attend_task`, `run_again`, `place_again`",
        "place_after_end": "`Custody::on_end`, `run_again`, `place_again`",
        "cancel": "`Custody::cancel`",
        "withdraw": "`Custody::attend_task`",
        "withdraw_reporter": "`Custody::on_claim`",
        "withdraw_there": "`Custody::on_claim`",
        "close": "`Custody::close`",
        "close_after_end": "`Custody::on_end`, `close`",
        "close_done": "`Custody::on_end`, `close`",
        "tell": "`Custody::close`",
        "take": "`Custody::on_taking`, `take`",
        "use_number": "`Custody::take` for another job",
        "report": "`Custody::report`",
        "note_grant": "`Custody::on_verdict`",
        "start": "`Custody::start`",
        "extend": "`Custody::on_verdict`",
        "program_ends": "`Custody::let_go`, `resume_held`; its host",
        "end": "`Custody::ended`",
        "say_ended": "`Custody::report`",
        "say_done": "`Custody::report`",
        "let_go": "`Custody::let_go`",
        "say_withdrawn": "`Custody::on_verdict`",
        "say_done_withdrawn": "`Custody::on_verdict`",
        "give_away": "`Custody::give_away`",
        "pass_on": "`Custody::give`",
        "take_back": "`Custody::take_back`",
        "restart": "`Custody::restore_task`, `restore_held`, `resume`, `survived`",
    }
    T.labels = {"Node": lambda i: f"node {'ABCDEF'[i]}"}
    T.words = home.WORDS | {
        "open": "the home seeks a node",
        "kept": "a node has the job, as far as its home knows",
        "leaving": "the job is cancelled, and a node may have it",
        "moves": "holders gave it away {value} times since",
        "accepted": "the job was accepted",
        "waits": "the job waits at {0}",
        "gives": "{0} has given the job away",
        "runs": "{0} has noted that the job runs",
        "ended": "the job has ended at {0}",
        "t_moves": "{0} has it after {value} moves",
        "last": "the last number of {0} is {value}",
        "prog": "the program runs at {0}",
        "stops": "the host of {0} stops it at {value}",
    }
    T.shown = {name: lambda s, f, n: f["has"](n) for name in ("t_attempt", "t_moves", "t_claim")}
    T.shown |= {"ends": lambda s, f, n: f["ends"](n) >= 0, "stops": lambda s, f, n: f["prog"](n)}
    return T
