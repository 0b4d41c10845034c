"""Theorem 1: two-phase commit of reservations, for any number of nodes, jobs, attempts, messages and crashes.

The code is core/src/commit; docs/reference/proofs.md has the theorem in words, and each action beside its function.

Times are whole numbers. Every node has a clock; no two clocks differ by more than `skew`. With `skew` zero this is the
theorem without skew. A node writes before it speaks: an action that changes what is on disk is one step, and each
message is a step of its own, so that a crash may come between any two. A node may read a message that was sent at any later
time, any number of times, or never.
"""

import clocks
from logic import And, If, Implies, Max, Min, Not, Or, Theory

NONE = -1  # No permission; every time is zero or later.


def theory(skew=True):
    T = Theory("commit" if skew else "commit without skew", ["Node", "Job", "Attempt"])
    T.scopes = [{"Node": 2, "Job": 2, "Attempt": 2}, {"Node": 3, "Job": 2, "Attempt": 3}]
    T.static = {
        "job": ("Attempt", "Job"),
        "number": ("Attempt", "Int"),
        "boss": ("Job", "Node"),
        "member": ("Attempt", "Node", "Bool"),
        "begins": ("Attempt", "Int"),
        "ends": ("Attempt", "Int"),
        "improves": ("Attempt", "Bool"),
        "base": ("Attempt", "Attempt"),
        "span": ("Int",),
        "ahead": ("Int",),
        "grace": ("Int",),
        "skew": ("Int",),
        "travel": ("Int",),
    }
    T.vars = {
        "clock": ("Node", "Int"),
        # A participant. On its disk: hold, lease, firm, till, runs, over (fin), fence.
        "hold": ("Node", "Attempt", "Bool"),
        "lease": ("Node", "Attempt", "Int"),
        "firm": ("Node", "Attempt", "Bool"),
        "till": ("Node", "Attempt", "Int"),
        "runs": ("Node", "Attempt", "Bool"),
        "fin": ("Node", "Attempt", "Bool"),
        "good": ("Node", "Attempt", "Bool"),
        "fence": ("Node", "Attempt", "Bool"),
        # In its memory: the schedule, and until when an attempt may run.
        "busy": ("Node", "Attempt", "Bool"),
        "perm": ("Node", "Attempt", "Int"),
        # Its host: the program of an attempt, and when the host stops it.
        "prog": ("Node", "Attempt", "Bool"),
        "stops": ("Node", "Attempt", "Int"),
        # A coordinator. On its disk: the latest number, the decision, ends, and the nodes that have to let go.
        "top": ("Node", "Int"),
        "decided": ("Attempt", "Bool"),
        "cend": ("Attempt", "Node", "Int"),
        "cended": ("Attempt", "Node", "Bool"),
        "cdone": ("Attempt", "Node", "Bool"),
        "old": ("Job", "Node", "Bool"),
        "through": ("Job", "Node", "Int"),
        "operm": ("Job", "Node", "Int"),
        # In its memory.
        "trial": ("Attempt", "Bool"),
        "vote": ("Attempt", "Node", "Bool"),
        "leased": ("Attempt", "Node", "Int"),
        "ack": ("Attempt", "Node", "Bool"),
        "open": ("Attempt", "Bool"),
        "cperm": ("Attempt", "Node", "Int"),
        # Messages that were sent.
        "m_prepare": ("Attempt", "Node", "Bool"),
        "m_prepared": ("Node", "Attempt", "Bool"),
        "m_commit": ("Attempt", "Node", "Bool"),
        "m_committed": ("Node", "Attempt", "Bool"),
        "m_release": ("Node", "Node", "Job", "Int", "Bool"),
        "m_released": ("Node", "Job", "Int", "Bool"),
        "m_abort": ("Node", "Node", "Attempt", "Bool"),
        "m_ended": ("Node", "Attempt", "Bool"),
        "m_done": ("Node", "Attempt", "Bool"),
        "m_extend": ("Node", "Attempt", "Int", "Bool"),
        # Ghosts: they only remember, and no action reads them.
        "sent": ("Attempt", "Node", "Int"),
        "was": ("Attempt", "Bool"),
        "had": ("Node", "Attempt", "Bool"),
        "late": ("Node", "Attempt", "Bool"),
        "freed": ("Node", "Attempt", "Bool"),
        "void": ("Node", "Attempt", "Bool"),
        "well": ("Node", "Attempt", "Bool"),
        "finished": ("Attempt", "Bool"),
        "lied": ("Attempt", "Bool"),
        "hasty": ("Attempt", "Bool"),
    }
    T.ghosts = {"sent", "was", "had", "late", "freed", "void", "well", "finished", "lied", "hasty"}
    T.bugs = {
        "OldAttemptsTaken": "a participant holds time for an attempt that it has outlived",
        "LateCommitTaken": "a participant commits a hold after its lease",
        "VoteInMemory": "a participant votes before its hold is on disk, and a crash loses it",
        "StartedUnpermitted": "a node starts without a permission",
        "AnyoneObeyed": "a participant obeys a release of a node that does not coordinate the job",
        "DecidedWithoutLeases": "a coordinator decides though a lease may end before the commit arrives",
        "DecisionInMemory": "a coordinator does not write its decision down, and a crash loses it",
        "ExtensionInMemory": "a coordinator does not write an extension down, and a crash loses it",
        "BarrierSkipped": "a coordinator permits a start before all have committed",
        "EarlierPermissionsIgnored": "a coordinator does not wait until earlier permissions have ended",
        "ReleasedBeforeLocked": "a coordinator gives the earlier attempt up when it tries a better one",
        "DoneWhenOneIs": "a job counts as done when one of its nodes has done it",
        "HoldLostInACrash": "a participant that restarts does not put its holds into its schedule",
        "StopNotTold": "a participant lets a job go and does not tell its host to stop it",
        "PermissionForEver": "a participant takes every permission to last for ever",
        "OverlapAllowed": "a participant holds time that another job has",
        "ResumedAsNew": "a coordinator that restarts takes nothing for permitted",
        "PermissionsForgotten": "a coordinator gives an attempt up and forgets until when its nodes may run",
        "ReleasedUnasked": "a participant that knows nothing of a release says that it let go of more",
        "SkewForgotten": "a coordinator takes a permission for ended that has ended by its own clock alone",
        "NumberTwice": "a coordinator that restarts counts its attempts from the beginning",
        "TakenTime": "a participant lengthens a reservation into time of another job",
        "OldNodesForgotten": "a coordinator forgets a silent node of an earlier attempt while it may run",
    }
    if not skew:
        del T.bugs["SkewForgotten"]
    keeps = T.keeps

    # Facts about all states.
    def same(s, a, b):
        return s.job(a) == s.job(b)

    def older(s, a, b):
        return And(same(s, a, b), s.number(a) < s.number(b))

    def chief(s, a):
        return s.boss(s.job(a))

    def lapsed(s, until, node):
        if not keeps("SkewForgotten") if skew else False:
            return until < s.clock(node)
        return until + s.skew() < s.clock(node)

    def bound(s, node, end):
        """The longest permission that a node gives now."""
        return Min(s.clock(node) + s.span(), end)

    def overlaps(s, low, high, node, other):
        return And(low < s.till(node, other), s.begins(other) < high)

    T.axioms = [
        lambda s: s.forall(("Attempt", "Attempt"), lambda a, b: Implies(And(same(s, a, b), s.number(a) == s.number(b)), a == b)),
        lambda s: s.forall(("Attempt",), lambda a: And(s.begins(a) < s.ends(a), s.begins(a) >= 0, s.number(a) >= 1)),
        lambda s: s.forall(("Attempt",), lambda a: Implies(s.improves(a), And(same(s, a, s.base(a)), s.number(s.base(a)) < s.number(a)))),
        lambda s: And(s.span() >= 0, s.ahead() >= 0, s.grace() >= 0, s.skew() >= 0 if skew else s.skew() == 0),
    ]

    def init(s):
        return And(
            s.forall(("Node",), lambda n: And(s.clock(n) == 0, s.top(n) == 0)),
            s.forall(("Node", "Attempt"), lambda n, a: And(s.perm(n, a) == NONE, s.cperm(a, n) == NONE, s.sent(a, n) == NONE)),
            T.nothing_holds(s),
        )

    T.init = init
    T.messages = T.sent() | {"permit": lambda s, a, n, u: u <= s.sent(a, n)}
    action = T.action

    # ------------------------------------------------------------------ time

    action()(clocks.time_passes)

    # ----------------------------------------------------------- coordinator

    def give_up(s, t, b):
        """The nodes of attempt `b` have to let go, and may run until their permissions end."""
        j = s.job(b)
        mine = lambda i, n: And(i == j, s.member(b, n))
        t.put("decided", (b,), False)
        t.put("open", (b,), False)
        t.where("through", mine, lambda i, n: If(s.old(i, n), Max(s.through(i, n), s.number(b)), s.number(b)))
        until = (lambda i, n: s.cperm(b, n)) if keeps("PermissionsForgotten") else (lambda i, n: NONE)
        t.where("operm", mine, lambda i, n: If(s.old(i, n), Max(s.operm(i, n), until(i, n)), until(i, n)))
        t.where("old", mine, lambda i, n: True)

    @action("Attempt")
    def propose(s, t, a):
        """An attempt with a new number is opened; one at a time."""
        t.need(s.number(a) > s.top(chief(s, a)))
        t.need(s.forall(("Attempt",), lambda b: Not(And(same(s, a, b), s.trial(b)))))
        t.need(Implies(s.improves(a), s.decided(s.base(a))))
        t.put("trial", (a,), True)
        t.put("top", (chief(s, a),), s.number(a))
        t.where("vote", lambda b, n: b == a, lambda b, n: False)
        if not keeps("ReleasedBeforeLocked"):
            t.need(s.improves(a))
            give_up(s, t, s.base(a))

    @action("Attempt", "Node")
    def ask(s, t, a, n):
        t.need(And(s.trial(a), s.member(a, n)))
        t.sends("prepare", a, n)

    @action("Attempt", "Node", "Int")
    def count_vote(s, t, a, n, until):
        """A node holds its time, as far as is known until `until`."""
        t.reads("prepared", n, a)
        t.need(s.trial(a))
        t.put("vote", (a, n), True)
        t.put("leased", (a, n), until)

    @action("Attempt")
    def fail_trial(s, t, a):
        t.need(s.trial(a))
        t.put("trial", (a,), False)

    @action("Attempt")
    def tell_kept(s, t, a):
        """A better placement failed, and the host is told that the job keeps what it has."""
        t.need(And(s.trial(a), s.improves(a)))
        t.put("trial", (a,), False)
        t.where("lied", lambda b: And(b == a, Not(s.decided(s.base(a)))), lambda b: True)

    def take_decision(s, t, a):
        t.need(s.trial(a))
        t.need(s.forall(("Node",), lambda n: Implies(s.member(a, n), s.vote(a, n))))
        lasts = lambda n: s.leased(a, n) > s.clock(chief(s, a)) + s.travel()
        if keeps("DecidedWithoutLeases"):
            t.need(s.forall(("Node",), lambda n: Implies(s.member(a, n), lasts(n))))
        t.put("trial", (a,), False)
        t.put("decided", (a,), True)
        t.put("open", (a,), False)
        mine = lambda b, n: b == a
        for name in ("ack", "cended", "cdone"):
            t.where(name, mine, lambda b, n: False)
        t.where("cend", mine, lambda b, n: s.ends(a))
        t.where("cperm", mine, lambda b, n: NONE)
        t.put("was", (a,), True)
        t.where("hasty", lambda b: And(b == a, Not(s.forall(("Node",), lambda n: Implies(s.member(a, n), lasts(n))))), lambda b: True)

    @action("Attempt")
    def decide(s, t, a):
        """The commit point: all hold their time, for long enough."""
        t.need(s.forall(("Attempt",), lambda b: Not(And(same(s, a, b), s.decided(b)))))
        take_decision(s, t, a)

    @action("Attempt", "Attempt")
    def swap(s, t, a, b):
        """The commit point of an attempt that takes the place of an earlier one, which is over from here on."""
        t.need(And(s.decided(b), same(s, a, b), a != b))
        give_up(s, t, b)
        take_decision(s, t, a)

    @action("Attempt", "Node")
    def send_commit(s, t, a, n):
        t.need(And(s.decided(a), s.member(a, n)))
        t.sends("commit", a, n)

    @action("Attempt", "Node", "Int")
    def note_commit(s, t, a, n, k):
        """A node that has committed has let go of all that is older. Of what is not below `k` it is asked whether it had begun."""
        t.reads("committed", n, a)
        t.need(s.decided(a))
        t.where("ack", lambda b, m: And(b == a, m == n, s.member(a, n)), lambda b, m: True)
        j = s.job(a)
        t.where("old", lambda i, m: And(i == j, m == n, s.through(i, m) < s.number(a), s.through(i, m) < k), lambda i, m: False)

    @action("Attempt")
    def open_start(s, t, a):
        """All have committed, the start is near, and no earlier attempt can run."""
        t.need(s.decided(a))
        if keeps("BarrierSkipped"):
            t.need(s.forall(("Node",), lambda n: Implies(s.member(a, n), s.ack(a, n))))
        if keeps("EarlierPermissionsIgnored"):
            j, c = s.job(a), chief(s, a)
            t.need(s.forall(("Node",), lambda n: Implies(s.old(j, n), Or(s.operm(j, n) < 0, lapsed(s, s.operm(j, n), c)))))
        t.need(s.clock(chief(s, a)) >= s.begins(a) - s.ahead())
        t.put("open", (a,), True)

    @action("Attempt", "Node", "Int")
    def permit(s, t, a, n, u):
        t.need(And(s.decided(a), s.open(a), s.member(a, n)))
        t.need(And(0 <= u, u <= bound(s, chief(s, a), s.cend(a, n))))
        t.put("cperm", (a, n), Max(s.cperm(a, n), u))
        t.sends("permit", a, n, u)
        t.put("sent", (a, n), Max(s.sent(a, n), u))

    @action("Attempt", "Node", "Int")
    def agree(s, t, a, n, u):
        """A node may run for longer: on disk before it is permitted."""
        t.reads("extend", n, a, u)
        t.need(And(s.decided(a), s.open(a), s.member(a, n), u > s.cend(a, n)))
        t.put("cend", (a, n), u)

    @action("Attempt", "Node")
    def note_end(s, t, a, n):
        t.reads("ended", n, a)
        t.need(And(s.decided(a), s.member(a, n)))
        t.put("cended", (a, n), True)
        t.put("ack", (a, n), True)

    @action("Attempt", "Node")
    def note_done(s, t, a, n):
        t.reads("done", n, a)
        t.need(And(s.decided(a), s.member(a, n)))
        t.put("cended", (a, n), True)
        t.put("cdone", (a, n), True)
        t.put("ack", (a, n), True)

    @action("Attempt", "Node")
    def finish(s, t, a, n):
        """All have done the job; `n` is one of them."""
        t.need(And(s.decided(a), s.member(a, n), s.cdone(a, n)))
        if keeps("DoneWhenOneIs"):
            t.need(s.forall(("Node",), lambda m: Implies(s.member(a, m), s.cdone(a, m))))
        t.put("decided", (a,), False)
        t.put("open", (a,), False)
        t.where("trial", lambda b: same(s, a, b), lambda b: False)
        t.put("finished", (a,), True)

    @action("Attempt")
    def retire(s, t, b):
        """The attempt is given up: on disk before any node is told."""
        t.need(s.decided(b))
        t.where("trial", lambda a: same(s, a, b), lambda a: False)
        give_up(s, t, b)

    @action("Node", "Node", "Attempt")
    def send_release(s, t, c, n, a):
        """The coordinator of the job frees what is over; any other node may say anything."""
        ours = lambda b: And(same(s, a, b), s.number(b) <= s.number(a))
        t.need(
            Implies(
                c == chief(s, a),
                And(
                    s.number(a) <= s.top(c),
                    s.forall(("Attempt",), lambda b: Implies(ours(b), And(Not(s.trial(b)), Implies(s.decided(b), s.cended(b, n))))),
                ),
            )
        )
        t.sends("release", c, n, s.job(a), s.number(a))

    @action("Node", "Node", "Attempt")
    def send_abort(s, t, c, n, a):
        t.need(Implies(c == chief(s, a), And(Not(s.trial(a)), Not(s.decided(a)), s.number(a) <= s.top(c))))
        t.sends("abort", c, n, a)

    @action("Node", "Job", "Int")
    def note_release(s, t, n, j, k):
        t.reads("released", n, j, k)
        t.need(And(s.old(j, n), s.through(j, n) <= k))
        t.put("old", (j, n), False)

    @action("Node", "Job")
    def drop_silent(s, t, n, j):
        """A node that must have let go by now is not asked any more."""
        t.need(s.old(j, n))
        if keeps("OldNodesForgotten"):
            t.need(Or(s.operm(j, n) < 0, lapsed(s, s.operm(j, n), s.boss(j))))
        t.put("old", (j, n), False)

    # ----------------------------------------------------------- participant

    def of_job(s, n, a):
        return lambda m, b: And(m == n, same(s, a, b))

    def drop_holds(s, t, n, a):
        """Older holds of the job of `a` end."""
        theirs = lambda m, b: And(m == n, same(s, a, b), s.hold(m, b))
        t.where("void", theirs, lambda m, b: True)
        t.where("busy", lambda m, b: And(theirs(m, b), Not(And(s.firm(m, b), Not(s.fin(m, b))))), lambda m, b: False)
        t.where("hold", theirs, lambda m, b: False)

    def raise_fence(s, t, n, a):
        t.where("fence", lambda m, b: And(m == n, same(s, a, b), s.number(b) <= s.number(a)), lambda m, b: True)

    def let_go(s, t, n, which):
        """Committed time is freed."""
        t.where("busy", lambda m, b: And(m == n, which(b), s.firm(m, b)), lambda m, b: False)
        for name in ("firm", "runs", "fin"):
            t.where(name, lambda m, b: And(m == n, which(b)), lambda m, b: False)
        t.where("perm", lambda m, b: And(m == n, which(b)), lambda m, b: NONE)

    def new_attempt(s, t, n, a):
        t.reads("prepare", a, n)
        if keeps("OldAttemptsTaken"):
            t.need(Not(s.fence(n, a)))
        t.need(s.forall(("Attempt",), lambda b: Implies(And(same(s, a, b), s.firm(n, b)), And(Not(s.runs(n, b)), Not(s.fin(n, b))))))

    @action("Node", "Attempt", "Int")
    def hold_time(s, t, n, a, lease):
        new_attempt(s, t, n, a)
        if keeps("OverlapAllowed"):
            t.need(
                s.forall(
                    ("Attempt",),
                    lambda b: Implies(And(Not(same(s, a, b)), s.busy(n, b)), Not(overlaps(s, s.begins(a), s.ends(a), n, b))),
                )
            )
        drop_holds(s, t, n, a)
        raise_fence(s, t, n, a)
        t.put("hold", (n, a), True)
        t.put("busy", (n, a), True)
        t.put("lease", (n, a), lease)
        t.put("till", (n, a), s.ends(a))
        t.put("perm", (n, a), NONE)

    @action("Node", "Attempt")
    def refuse_newer(s, t, n, a):
        """A newer attempt gets no time, and still ends an older hold."""
        new_attempt(s, t, n, a)
        drop_holds(s, t, n, a)
        raise_fence(s, t, n, a)

    @action("Node", "Attempt")
    def say_prepared(s, t, n, a):
        t.need(s.hold(n, a))
        t.sends("prepared", n, a)

    @action("Node", "Attempt")
    def commit(s, t, n, a):
        """The held time is committed; an older attempt at the job loses its time."""
        t.reads("commit", a, n)
        t.need(s.hold(n, a))
        if keeps("LateCommitTaken"):
            t.need(s.clock(n) < s.lease(n, a))
        let_go(s, t, n, lambda b: And(same(s, a, b), b != a))
        t.put("hold", (n, a), False)
        t.put("firm", (n, a), True)
        t.put("runs", (n, a), False)
        t.put("fin", (n, a), False)
        t.put("good", (n, a), False)
        t.put("perm", (n, a), NONE)
        t.put("had", (n, a), True)
        t.where("late", lambda m, b: And(m == n, b == a, s.lease(n, a) <= s.clock(n)), lambda m, b: True)

    def quiet(s, n, a):
        """No program of an older attempt at the job runs here."""
        return s.forall(("Attempt",), lambda b: Implies(older(s, b, a), Not(s.prog(n, b)))) if keeps("StopNotTold") else True

    @action("Node", "Attempt")
    def say_committed(s, t, n, a):
        t.need(And(s.firm(n, a), quiet(s, n, a)))
        t.sends("committed", n, a)

    @action("Node", "Attempt", "Int")
    def take_permission(s, t, n, a, u):
        if keeps("PermissionForEver"):
            t.reads("permit", a, n, u)
        t.need(And(s.firm(n, a), Not(s.fin(n, a))))
        t.put("perm", (n, a), Max(s.perm(n, a), u))

    @action("Node", "Attempt")
    def start(s, t, n, a):
        """A job starts under a permission; on disk before the host is told. A later hold of the job ends."""
        t.need(And(s.firm(n, a), Not(s.runs(n, a)), Not(s.fin(n, a))))
        t.need(And(s.begins(a) <= s.clock(n), s.clock(n) < s.till(n, a)))
        if keeps("StartedUnpermitted"):
            t.need(s.perm(n, a) > s.clock(n))
        drop_holds(s, t, n, a)
        t.put("runs", (n, a), True)

    @action("Node", "Attempt", "Int")
    def launch(s, t, n, a, u):
        """The host is told to run the job, or to let it run for longer, and until when."""
        t.need(And(s.firm(n, a), s.runs(n, a), s.clock(n) <= u, u <= s.till(n, a)))
        if keeps("StartedUnpermitted"):
            t.need(u <= s.perm(n, a))
        t.put("prog", (n, a), True)
        t.put("stops", (n, a), u)

    @action("Node", "Attempt")
    def program_ends(s, t, n, a):
        """The program ends by itself, is stopped, or goes down with its computer."""
        t.put("prog", (n, a), False)

    @action("Node", "Attempt", "Bool")
    def end(s, t, n, a, done):
        t.need(And(s.firm(n, a), s.runs(n, a)))
        if keeps("StopNotTold"):
            t.need(Not(s.prog(n, a)))
        t.put("runs", (n, a), False)
        t.put("fin", (n, a), True)
        t.put("good", (n, a), done)
        t.put("busy", (n, a), False)

    @action("Node", "Attempt")
    def say_ended(s, t, n, a):
        t.need(And(s.firm(n, a), s.fin(n, a), quiet(s, n, a)))
        t.sends("ended", n, a)

    @action("Node", "Attempt")
    def say_done(s, t, n, a):
        t.need(And(s.firm(n, a), s.fin(n, a), s.good(n, a), quiet(s, n, a)))
        t.sends("done", n, a)
        t.put("well", (n, a), True)

    @action("Node", "Attempt")
    def give_back(s, t, n, a):
        """A participant frees committed time by itself: too late for a permission, no permission left, or long over."""
        waits = And(Not(s.runs(n, a)), Not(s.fin(n, a)))
        too_late = Or(s.clock(n) >= s.begins(a) + s.grace(), s.clock(n) >= s.till(n, a))
        t.need(And(s.firm(n, a), Or(s.fin(n, a), And(waits, too_late), And(s.runs(n, a), s.perm(n, a) <= s.clock(n)))))
        let_go(s, t, n, lambda b: b == a)

    @action("Node", "Node", "Job", "Int", "Attempt")
    def obey_release(s, t, c, n, j, k, known):
        """Time of a job up to an attempt is freed. Some attempt at the job, `known`, is known here."""
        t.reads("release", c, n, j, k)
        t.need(And(s.job(known) == j, s.fence(n, known)))
        if keeps("AnyoneObeyed"):
            t.need(c == s.boss(j))
        which = lambda b: And(s.job(b) == j, s.number(b) <= k)
        t.where("freed", lambda m, b: And(m == n, which(b), s.firm(m, b), Not(s.fin(m, b))), lambda m, b: True)
        t.where("void", lambda m, b: And(m == n, which(b)), lambda m, b: True)
        t.where("busy", lambda m, b: And(m == n, which(b)), lambda m, b: False)
        t.where("hold", lambda m, b: And(m == n, which(b)), lambda m, b: False)
        for name in ("firm", "runs", "fin"):
            t.where(name, lambda m, b: And(m == n, which(b)), lambda m, b: False)
        t.where("perm", lambda m, b: And(m == n, which(b)), lambda m, b: NONE)
        t.where("fence", lambda m, b: And(m == n, which(b)), lambda m, b: True)

    @action("Node", "Job", "Int")
    def say_released(s, t, n, j, k):
        t.reads("release", s.boss(j), n, j, k)
        which = lambda b: And(s.job(b) == j, s.number(b) <= k)
        gone = lambda b: And(Not(s.hold(n, b)), Not(s.firm(n, b)), Not(s.prog(n, b)) if keeps("StopNotTold") else True)
        if keeps("ReleasedUnasked"):
            t.need(s.forall(("Attempt",), lambda b: Implies(which(b), gone(b))))
        t.sends("released", n, j, k)

    @action("Node", "Node", "Attempt")
    def obey_abort(s, t, c, n, a):
        t.reads("abort", c, n, a)
        t.need(And(s.hold(n, a), c == chief(s, a)))
        t.put("hold", (n, a), False)
        t.put("busy", (n, a), False)
        t.put("void", (n, a), True)

    @action("Node", "Attempt")
    def lease_ends(s, t, n, a):
        t.need(And(s.hold(n, a), s.lease(n, a) <= s.clock(n)))
        t.put("hold", (n, a), False)
        t.put("busy", (n, a), False)

    @action("Node", "Attempt", "Int")
    def lengthen(s, t, n, a, u):
        """A job that overruns gets the time behind its reservation, if that is free."""
        t.need(And(s.firm(n, a), s.runs(n, a), u > s.till(n, a)))
        if keeps("TakenTime"):
            t.need(s.forall(("Attempt",), lambda b: Implies(And(b != a, s.busy(n, b)), Not(overlaps(s, s.till(n, a), u, n, b)))))
        t.put("till", (n, a), u)

    @action("Node", "Attempt", "Int")
    def say_extend(s, t, n, a, u):
        t.need(And(s.firm(n, a), s.runs(n, a), u <= s.till(n, a)))
        t.sends("extend", n, a, u)

    @action("Node", "Job")
    def forget(s, t, n, j):
        """A participant forgets a job that is over there. Assumed: no request to hold time for it is under way."""
        t.need(s.forall(("Attempt",), lambda a: Implies(s.job(a) == j, And(Not(s.hold(n, a)), Not(s.firm(n, a))))))
        t.assume(s.forall(("Attempt",), lambda a: Implies(And(s.job(a) == j, s.fence(n, a)), And(Not(s.prog(n, a)), Not(s.trial(a))))))
        t.where("m_prepare", lambda a, m: And(m == n, s.job(a) == j, s.fence(n, a)), lambda a, m: False)
        t.where("fence", lambda m, a: And(m == n, s.job(a) == j), lambda m, a: False)

    @action("Node", "Int")
    def restart(s, t, n, top):
        """A node crashed and comes back from its disk. Programs that its machine does not know are stopped."""
        mine = lambda m, a: m == n
        lives = lambda m, a: And(s.prog(m, a), s.firm(m, a), s.runs(m, a))
        t.where("prog", mine, lives)
        t.where("perm", mine, lambda m, a: If(lives(m, a), s.stops(m, a), NONE))
        held = s.hold if keeps("HoldLostInACrash") else (lambda m, a: False)
        t.where("busy", mine, lambda m, a: Or(held(m, a), And(s.firm(m, a), Not(s.fin(m, a)))))
        if not keeps("VoteInMemory"):
            t.where("hold", mine, lambda m, a: False)
            t.where("busy", mine, lambda m, a: And(s.firm(m, a), Not(s.fin(m, a))))
        led = lambda a: chief(s, a) == n
        if keeps("NumberTwice"):
            t.need(top >= s.top(n))
        t.put("top", (n,), top)
        t.where("trial", led, lambda a: False)
        t.where("open", led, lambda a: False)
        t.where("vote", lambda a, m: led(a), lambda a, m: False)
        t.where("ack", lambda a, m: led(a), lambda a, m: s.cended(a, m))
        if not keeps("ExtensionInMemory"):
            t.where("cend", lambda a, m: led(a), lambda a, m: s.ends(a))
        cend = s.cend if keeps("ExtensionInMemory") else (lambda a, m: s.ends(a))
        near = lambda a: And(s.decided(a), s.begins(a) - s.ahead() <= s.clock(n))
        granted = (lambda a, m: If(near(a), bound(s, n, cend(a, m)), NONE)) if keeps("ResumedAsNew") else (lambda a, m: NONE)
        t.where("cperm", lambda a, m: led(a), granted)
        if not keeps("DecisionInMemory"):
            t.where("decided", led, lambda a: False)

    # ------------------------------------------------------------ invariants

    inv = T.invariant

    def over(s, n, a):
        """A node will not run an attempt any more."""
        return And(
            Not(s.hold(n, a)), Not(s.prog(n, a)), Implies(s.firm(n, a), s.fin(n, a)), Or(s.fence(n, a), Not(s.m_prepare(a, n)))
        )

    def gone(s, n, b):
        """An attempt is over on a node, was never permitted there, or its permission has ended by every clock."""
        return Or(over(s, n, b), s.sent(b, n) < 0, s.sent(b, n) + s.skew() < s.clock(chief(s, b)))

    # The theorem.
    @inv("Node", "Attempt", "Attempt", claim=True)
    def no_two_reservations_of_a_node_overlap(s, n, a, b):
        return Implies(
            And(Or(s.hold(n, a), And(s.firm(n, a), Not(s.fin(n, a)))), Or(s.hold(n, b), And(s.firm(n, b), Not(s.fin(n, b)))), Not(same(s, a, b))),
            Not(And(s.begins(a) < s.till(n, b), s.begins(b) < s.till(n, a))),
        )

    @inv("Node", "Attempt", claim=True)
    def nothing_is_committed_after_its_lease(s, n, a):
        return Not(s.late(n, a))

    @inv("Node", "Attempt", "Node", claim=True)
    def no_node_runs_unless_all_of_its_attempt_have_committed(s, n, a, m):
        return Implies(And(s.prog(n, a), s.member(a, m)), s.had(m, a))

    @inv("Node", "Attempt", "Node", "Attempt", claim=True)
    def at_most_one_attempt_at_a_job_runs(s, n, a, m, b):
        return Implies(And(s.prog(n, a), s.prog(m, b), same(s, a, b)), a == b)

    @inv("Node", "Attempt", claim=True)
    def a_job_runs_in_its_own_time_and_no_longer_than_its_coordinator_knows(s, n, a):
        return Implies(
            s.prog(n, a),
            And(s.clock(n) <= s.stops(n, a), s.stops(n, a) <= s.till(n, a), Implies(s.decided(a), And(s.stops(n, a) <= s.cend(a, n), s.stops(n, a) <= s.cperm(a, n)))),
        )

    @inv("Node", "Attempt", claim=True)
    def only_its_coordinator_frees_the_time_of_a_job(s, n, a):
        return Implies(s.freed(n, a), Or(Not(s.decided(a)), s.cended(a, n)))

    @inv("Node", "Attempt", claim=True)
    def a_vote_outlives_a_crash(s, n, a):
        return Implies(s.m_prepared(n, a), Or(s.hold(n, a), s.had(n, a), s.lease(n, a) <= s.clock(n), s.void(n, a)))

    @inv("Node", "Attempt", "Attempt", claim=True)
    def an_older_attempt_never_gets_time_beside_a_newer_one(s, n, a, b):
        return Implies(And(s.hold(n, a), same(s, a, b), Or(s.firm(n, b), s.hold(n, b)), a != b), s.number(b) < s.number(a))

    @inv("Attempt", "Node", claim=True)
    def a_finished_job_is_done_on_all_of_its_nodes(s, a, n):
        return Implies(And(s.finished(a), s.member(a, n)), s.well(n, a))

    @inv("Attempt", claim=True)
    def a_job_that_keeps_its_time_still_has_it(s, a):
        return Not(s.lied(a))

    @inv("Attempt", claim=True)
    def nothing_is_decided_when_a_lease_may_end_before_the_commit_arrives(s, a):
        return Not(s.hasty(a))

    # What carries it. First clocks and participants.
    inv("Node", "Node")(clocks.clocks_agree)

    @inv("Node", "Attempt")
    def a_seat_is_in_order(s, n, a):
        return And(
            Implies(Or(s.hold(n, a), s.firm(n, a), s.prog(n, a)), And(s.fence(n, a), s.member(a, n))),
            Implies(s.hold(n, a), And(Not(s.firm(n, a)), s.till(n, a) == s.ends(a), Not(s.prog(n, a)))),
            Implies(Or(s.runs(n, a), s.fin(n, a)), s.firm(n, a)),
            Not(And(s.runs(n, a), s.fin(n, a))),
            s.busy(n, a) == Or(s.hold(n, a), And(s.firm(n, a), Not(s.fin(n, a)))),
            Implies(And(s.fin(n, a), s.firm(n, a)), Not(s.prog(n, a))),
            Implies(And(s.firm(n, a), Not(s.runs(n, a))), Not(s.prog(n, a))),
            Implies(s.prog(n, a), s.had(n, a)),
            Implies(s.firm(n, a), s.had(n, a)),
            Implies(Or(s.hold(n, a), s.firm(n, a)), s.begins(a) < s.till(n, a)),
        )

    @inv("Node", "Attempt", "Attempt")
    def a_job_has_one_hold_and_one_commitment(s, n, a, b):
        return Implies(
            And(same(s, a, b), a != b),
            And(
                Not(And(s.hold(n, a), s.hold(n, b))),
                Not(And(s.firm(n, a), s.firm(n, b))),
                Implies(And(s.hold(n, a), s.firm(n, b)), And(s.number(b) < s.number(a), Not(s.runs(n, b)), Not(s.fin(n, b)))),
            ),
        )

    @inv("Node", "Attempt", "Attempt")
    def a_fence_stands_before_all_that_is_older(s, n, a, b):
        return Implies(And(s.fence(n, a), older(s, b, a)), s.fence(n, b))

    @inv("Node", "Attempt")
    def no_node_runs_beyond_what_was_sent(s, n, a):
        return And(
            s.perm(n, a) <= s.sent(a, n),
            Implies(s.prog(n, a), s.stops(n, a) <= s.sent(a, n)),
            s.sent(a, n) >= NONE,
            Implies(s.sent(a, n) >= 0, And(s.was(a), s.member(a, n))),
        )

    @inv("Node", "Attempt")
    def what_was_committed_was_decided(s, n, a):
        return And(Implies(s.had(n, a), And(s.was(a), s.member(a, n))), Implies(s.freed(n, a), s.had(n, a)))

    # Messages.
    @inv("Node", "Attempt")
    def requests_are_of_members(s, n, a):
        return And(
            Implies(s.m_prepare(a, n), And(s.member(a, n), s.number(a) <= s.top(chief(s, a)))),
            Implies(s.m_commit(a, n), And(s.was(a), s.member(a, n))),
        )

    @inv("Node", "Attempt")
    def a_voter_remembers_the_attempt(s, n, a):
        return And(
            Implies(And(s.m_prepared(n, a), Or(s.m_prepare(a, n), s.trial(a))), s.fence(n, a)),
            Implies(s.vote(a, n), s.m_prepared(n, a)),
            Implies(And(s.was(a), s.member(a, n)), s.m_prepared(n, a)),
        )

    @inv("Node", "Attempt")
    def known_attempts_have_numbers(s, n, a):
        return Implies(
            Or(s.hold(n, a), s.firm(n, a), s.m_prepared(n, a), s.m_committed(n, a), s.m_ended(n, a), s.m_done(n, a), s.was(a), s.trial(a)),
            s.number(a) <= s.top(chief(s, a)),
        )

    @inv("Node", "Attempt", "Attempt")
    def a_node_that_committed_let_go_of_older_attempts(s, n, a, b):
        return Implies(And(s.m_committed(n, a), older(s, b, a), s.was(b), s.member(b, n)), over(s, n, b))

    @inv("Node", "Attempt")
    def what_was_told_is_so(s, n, a):
        return And(
            Implies(s.m_committed(n, a), s.had(n, a)),
            Implies(Or(s.m_ended(n, a), s.m_done(n, a), s.cended(a, n)), And(s.had(n, a), over(s, n, a))),
            Implies(Or(s.m_done(n, a), s.cdone(a, n)), s.well(n, a)),
            Implies(s.cdone(a, n), s.cended(a, n)),
            Implies(s.ack(a, n), s.had(n, a)),
        )

    @inv("Node", "Job", "Int", "Attempt")
    def a_release_is_of_what_is_over(s, n, j, k, a):
        return Implies(
            And(s.m_release(s.boss(j), n, j, k), s.job(a) == j, s.number(a) <= k), And(Not(s.trial(a)), Implies(s.decided(a), s.cended(a, n)))
        )

    @inv("Node", "Job", "Int")
    def a_release_is_of_what_was_tried(s, n, j, k):
        return And(Implies(s.m_release(s.boss(j), n, j, k), k <= s.top(s.boss(j))), Implies(s.m_released(n, j, k), k <= s.top(s.boss(j))))

    @inv("Node", "Job", "Int", "Attempt")
    def a_node_that_released_has_let_go(s, n, j, k, a):
        return Implies(
            And(s.m_released(n, j, k), s.job(a) == j, s.number(a) <= k), And(Not(s.trial(a)), Implies(And(s.was(a), s.member(a, n)), over(s, n, a)))
        )

    # The coordinator.
    @inv("Attempt")
    def a_trial_is_not_decided(s, a):
        return And(
            Implies(s.trial(a), Not(s.was(a))),
            Implies(s.decided(a), s.was(a)),
            Implies(And(s.trial(a), s.improves(a)), s.decided(s.base(a))),
            Implies(s.open(a), And(s.decided(a), s.clock(chief(s, a)) >= s.begins(a) - s.ahead())),
            Implies(s.finished(a), And(s.was(a), Not(s.decided(a)))),
        )

    @inv("Attempt", "Attempt")
    def attempts_are_decided_in_order(s, a, b):
        return Implies(
            And(same(s, a, b), a != b),
            And(Not(And(s.trial(a), s.trial(b))), Implies(And(Or(s.trial(a), s.decided(a)), s.was(b)), s.number(b) < s.number(a))),
        )

    @inv("Attempt", "Node")
    def a_coordinator_knows_what_it_permitted(s, a, n):
        return And(
            Implies(And(s.decided(a), s.member(a, n)), And(s.sent(a, n) <= s.cperm(a, n), s.cend(a, n) >= s.ends(a))),
            Implies(
                s.sent(a, n) >= 0,
                And(
                    s.clock(chief(s, a)) >= s.begins(a) - s.ahead(),
                    s.sent(a, n) <= s.clock(chief(s, a)) + s.span(),
                    Implies(s.decided(a), s.sent(a, n) <= s.cend(a, n)),
                ),
            ),
        )

    @inv("Attempt", "Node")
    def a_coordinator_knows_all_that_may_run(s, a, n):
        j = s.job(a)
        kept = And(s.old(j, n), s.number(a) <= s.through(j, n), s.sent(a, n) <= s.operm(j, n))
        return Implies(And(s.was(a), Not(s.decided(a)), s.member(a, n)), Or(gone(s, n, a), kept))

    @inv("Job", "Node")
    def what_is_old_has_a_number(s, j, n):
        return Implies(s.old(j, n), s.through(j, n) <= s.top(s.boss(j)))

    @inv("Attempt", "Attempt", "Node")
    def no_start_is_permitted_while_an_earlier_attempt_may_run(s, a, b, n):
        return Implies(And(s.open(a), older(s, b, a), s.was(b), s.member(b, n)), gone(s, n, b))

    @inv("Attempt", "Node", "Attempt", "Node")
    def what_was_permitted_stays_safe(s, a, m, b, n):
        return Implies(And(s.sent(a, m) >= 0, older(s, b, a), s.was(b), s.member(b, n)), gone(s, n, b))

    @inv("Attempt", "Node", "Node")
    def permitted_attempts_have_committed(s, a, m, n):
        return Implies(And(Or(s.open(a), s.sent(a, m) >= 0), s.member(a, n)), s.had(n, a))

    # ----------------------------------------------------------------- words

    # Each action beside the functions of core/src/commit that take it.
    T.code = {
        "time_passes": "no code: the world",
        "propose": "`Work::try_candidate`",
        "ask": "`Work::ask`",
        "count_vote": "`Work::on_prepared`",
        "fail_trial": "`Work::fail_trial`, `fail_attempt`, `give_up`, `finish`",
        "tell_kept": "`Work::fail_trial`",
        "decide": "`Work::decide`",
        "swap": "`Work::decide`",
        "send_commit": "`Work::decide`, `attend_attempt`",
        "note_commit": "`Work::on_committed`",
        "open_start": "`Work::permit_when_safe`",
        "permit": "`Work::permit`, `on_query`",
        "agree": "`Work::on_extend`",
        "note_end": "`Work::on_ended`",
        "note_done": "`Work::on_ended`",
        "finish": "`Work::finish`",
        "retire": "`Work::retire_attempt`",
        "send_release": "`Work::release_again`, `on_committed`, `on_query`, `on_ended`, `Coordinator::receive`",
        "send_abort": "`Work::abort`, `on_prepared`, `Coordinator::receive`",
        "note_release": "`Work::on_released`",
        "drop_silent": "`Work::clear_again`, `Coordinator::make_room`",
        "hold_time": "`Participant::try_hold`",
        "refuse_newer": "`Participant::try_hold`",
        "say_prepared": "`Participant::prepare`",
        "commit": "`Participant::commit`",
        "say_committed": "`Participant::commit`",
        "take_permission": "`Participant::permit`",
        "start": "`Participant::attend_firm`",
        "launch": "`Participant::attend_firm`, `permit`",
        "program_ends": "`Participant::tell_dropped`, `cut`, `ended`; its host",
        "end": "`Participant::end`",
        "say_ended": "`Participant::end`, `attend_firm`, `commit`, `permit`",
        "say_done": "`Participant::end`, `attend_firm`, `commit`, `permit`",
        "give_back": "`Participant::let_go`, `attend_firm`",
        "obey_release": "`Participant::release`",
        "say_released": "`Participant::release`",
        "obey_abort": "`Participant::abort`",
        "lease_ends": "`Participant::attend`",
        "lengthen": "`Participant::take_more`",
        "say_extend": "`Participant::ask_for_more`",
        "forget": "`Participant::forget`",
        "restart": "`Participant::restore`, `recover`; `Coordinator::restore`, `start`, `Decision::resume`",
    }
    T.labels = {"Node": lambda i: f"node {'ABCDEF'[i]}", "Job": lambda i: f"job {i + 1}", "Attempt": lambda i: f"attempt {'pqrst'[i]}"}
    T.words = {
        "job": "{0} is at {value}",
        "number": "{0} has number {value}",
        "boss": "{0} is coordinated by {value}",
        "member": "{1} is a member of {0}",
        "begins": "{0} begins at {value}",
        "ends": "{0} ends at {value}",
        "clock": "the clock of {0} says {value}",
        "skew": "clocks differ by at most {value}",
        "hold": "{0} holds time for {1}",
        "lease": "the lease of {1} at {0} ends at {value}",
        "firm": "{0} has committed time to {1}",
        "till": "the time of {1} at {0} ends at {value}",
        "runs": "{0} has noted that {1} runs",
        "fin": "{1} has ended at {0}",
        "perm": "{0} may run {1} until {value}",
        "prog": "the program of {1} runs at {0}",
        "stops": "the host of {0} stops {1} at {value}",
        "decided": "{0} is decided",
        "trial": "{0} is voted on",
        "improves": "{0} would improve an earlier attempt",
        "vote": "the vote of {1} for {0} was counted",
        "ack": "{1} is known to have committed to {0}",
        "open": "the start of {0} is permitted",
        "cperm": "the coordinator of {0} knows that {1} may run it until {value}",
        "cend": "the coordinator of {0} knows that its time at {1} ends at {value}",
        "cdone": "{1} is known to have done {0}",
        "cended": "{0} is known to have ended at {1}",
        "old": "{1} has to let go of {0}",
        "operm": "{1} is known to run older attempts at {0} until {value}",
        "busy": "{1} is in the schedule of {0}",
        "fence": "{0} refuses {1} from now on",
        "m_prepare": "{1} was asked to hold time for {0}",
        "m_prepared": "{0} has voted for {1}",
        "m_commit": "{1} was told to commit {0}",
        "m_committed": "{0} has told that it committed {1}",
        "m_release": "{0} told {1} to release {2}",
        "m_released": "{0} has told that it released {1}",
        "sent": "{1} was permitted to run {0} until {value}",
        "had": "{0} committed {1} at some time",
        "late": "{0} committed {1} after its lease",
        "freed": "{0} freed the time of {1} because it was told to",
        "finished": "{0} is told to be finished",
        "well": "{0} did {1} to its end",
        "hasty": "{0} was decided while a lease was about to end",
        "leased": "the vote of {1} for {0} lasts until {value}",
        "travel": "two messages may take {value}",
        "lied": "the host was told that {0} changed nothing",
    }
    known = lambda name: lambda s, f, *xs: f[name](*xs) >= 0
    of = lambda *names: lambda s, f, *xs: Or(*[f[name](*xs) for name in names])
    T.shown = {
        "perm": known("perm"),
        "sent": known("sent"),
        "cperm": lambda s, f, a, n: And(f["decided"](a), s.member(a, n)),
        "lease": of("hold"),
        "leased": lambda s, f, a, n: f["vote"](a, n),
        "till": of("hold", "firm"),
        "stops": of("prog"),
        "cend": of("cended"),
        "operm": of("old"),
    }
    T.shown["cend"] = lambda s, f, a, n: And(f["decided"](a), s.member(a, n))
    return T
