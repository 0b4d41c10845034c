"""Theorem 3: bounded backfilling on one node, for queues of any length and any number of jobs.

The code is core/src/queue/backfill.rs. A job that comes waits behind all others and was passed by none. Jobs of other
nodes may start at once where they come (`start_migrant`); jobs that come with a counter to wait are outside the theorem.
"""

from logic import And, If, Implies, Not, Or, Theory


def theory():
    T = Theory("backfilling", ["Job"])
    T.vars = {
        "waits": ("Job", "Bool"),
        "index": ("Job", "Int"),
        "passed": ("Job", "Int"),
        "length": ("Int",),
        # Ghosts: how often a job was passed by any job; whether by one of its queue, how often, how often at most, and how
        # often it still may be.
        "truly": ("Job", "Int"),
        "was": ("Job", "Bool"),
        "times": ("Job", "Int"),
        "bound": ("Job", "Int"),
        "left": ("Job", "Int"),
    }
    T.ghosts = {"truly", "was", "times", "bound", "left"}
    T.bugs = {
        "AnyMayPass": "a job may pass a head that was passed more often",
        "PassingNotCounted": "no job that is passed counts it",
        "HeadAloneCounts": "of the jobs that are passed, only the head counts it",
        "AllCount": "jobs behind the one that starts count as passed",
        "MigrantPassesTheHeadOnly": "a job of another node that starts is counted by the head alone",
        "CounterBrought": "a job that comes to wait brings a counter",
    }
    keeps = T.keeps
    T.init = lambda s: And(s.length() == 0, s.forall(("Job",), lambda x: And(Not(s.waits(x)), Not(s.was(x)))))
    T.messages = {}

    def leave(s, t, x):
        """The job leaves the queue; those behind it move up."""
        t.put("waits", (x,), False)
        t.where("index", lambda z: And(s.waits(z), s.index(z) > s.index(x)), lambda z: s.index(z) - 1)
        t.put("length", (), s.length() - 1)

    @T.action("Job", "Int")
    def push(s, t, x, counter):
        t.need(Not(s.waits(x)))
        if keeps("CounterBrought"):
            t.need(counter == 0)
        t.need(counter >= 0)
        t.put("waits", (x,), True)
        t.put("index", (x,), s.length())
        t.put("passed", (x,), counter)
        t.put("length", (), s.length() + 1)
        t.put("was", (x,), False)
        t.put("truly", (x,), counter)

    @T.action("Job")
    def remove(s, t, x):
        """A job goes to another node, or is cancelled."""
        t.need(s.waits(x))
        leave(s, t, x)

    @T.action("Job")
    def start_head(s, t, x):
        t.need(And(s.waits(x), s.index(x) == 0))
        leave(s, t, x)

    @T.action("Job", "Job")
    def start_behind(s, t, x, head):
        """A job starts that was passed no less often than the head; all ahead of it count one more pass."""
        t.need(And(s.waits(x), s.waits(head), s.index(head) == 0, s.index(x) > 0))
        if keeps("AnyMayPass"):
            t.need(s.passed(x) >= s.passed(head))
        leave(s, t, x)
        ahead = lambda z: And(s.waits(z), z != x, s.index(z) < s.index(x))
        counted = ahead
        if not keeps("PassingNotCounted"):
            counted = lambda z: False
        if not keeps("HeadAloneCounts"):
            counted = lambda z: z == head
        if not keeps("AllCount"):
            counted = lambda z: And(s.waits(z), z != x)
        t.where("passed", counted, lambda z: s.passed(z) + 1)
        t.where("truly", ahead, lambda z: s.truly(z) + 1)
        distance = lambda z: s.index(x) - s.index(z)
        t.where("times", ahead, lambda z: If(s.was(z), s.times(z) + 1, 1))
        t.where("bound", lambda z: And(ahead(z), Not(s.was(z))), distance)
        t.where("left", ahead, lambda z: If(s.was(z), s.left(z) - 1, distance(z) - 1))
        t.where("was", ahead, lambda z: True)

    @T.action("Int")
    def start_migrant(s, t, counter):
        """A job of another node starts at once; it was passed no less often than the head, and passes all."""
        t.need(s.forall(("Job",), lambda z: Implies(And(s.waits(z), s.index(z) == 0), s.passed(z) <= counter)))
        counted = s.waits if keeps("MigrantPassesTheHeadOnly") else (lambda z: And(s.waits(z), s.index(z) == 0))
        t.where("passed", counted, lambda z: s.passed(z) + 1)
        t.where("truly", s.waits, lambda z: s.truly(z) + 1)

    # The theorem.
    @T.invariant("Job", "Job", claim=True)
    def counters_never_increase_along_the_queue(s, x, y):
        return Implies(And(s.waits(x), s.waits(y), s.index(x) < s.index(y)), s.passed(x) >= s.passed(y))

    @T.invariant("Job", claim=True)
    def no_job_is_passed_more_often_than_the_first_to_pass_it_stood_behind_it(s, x):
        return Implies(And(s.waits(x), s.was(x)), s.times(x) <= s.bound(x))

    @T.invariant("Job", claim=True)
    def a_job_counts_every_pass(s, x):
        return Implies(s.waits(x), s.passed(x) == s.truly(x))

    # What carries it.
    @T.invariant("Job", "Job")
    def indices_are_in_order(s, x, y):
        return And(
            Implies(s.waits(x), And(0 <= s.index(x), s.index(x) < s.length(), s.passed(x) >= 0)),
            Implies(And(s.waits(x), s.waits(y), s.index(x) == s.index(y)), x == y),
            s.length() >= 0,
        )

    @T.invariant("Job", "Job")
    def those_that_may_still_pass_a_job_stand_near_behind_it(s, x, z):
        """Only a job with the same counter passes; each pass takes one of them away."""
        return Implies(
            And(s.waits(x), s.was(x)),
            And(
                s.times(x) + s.left(x) == s.bound(x),
                s.left(x) >= 0,
                s.truly(x) >= s.times(x),
                s.times(x) >= 1,
                Implies(
                    And(s.waits(z), s.index(x) < s.index(z), s.passed(z) == s.passed(x)), s.index(z) - s.index(x) <= s.left(x)
                ),
            ),
        )

    T.code = {
        "push": "`BackfillQueue::push`",
        "remove": "`BackfillQueue::remove`",
        "start_head": "`BackfillQueue::start_next`",
        "start_behind": "`BackfillQueue::start_next`",
        "start_migrant": "`BackfillQueue::start_migrant`",
    }
    T.labels = {"Job": lambda i: f"job {i + 1}"}
    T.words = {
        "index": "{0} waits at place {value}",
        "passed": "{0} was passed {value} times",
        "length": "{value} jobs wait",
        "truly": "{0} was really passed {value} times",
        "times": "{0} was passed {value} times by jobs of this queue",
        "bound": "{0} may be passed {value} times",
    }
    T.shown = {name: lambda s, f, x: f["waits"](x) for name in ("index", "passed", "truly")}
    T.shown |= {name: lambda s, f, x: And(f["waits"](x), f["was"](x)) for name in ("times", "bound")}
    return T
