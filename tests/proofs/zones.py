"""Theorem 4: the zones of a CAN partition the space, for any number of nodes and dimensions.

The code is core/src/overlay/can. Here a join, a leave and a take-over by force happen at once. That nodes agree on them
over a network is not part of the theorem.
"""

from logic import And, If, Implies, Not, Or, Theory


def theory():
    T = Theory("zones", ["Node", "Dim", "Point"])
    T.scopes = [{"Node": 2, "Dim": 1, "Point": 2}, {"Node": 3, "Dim": 1, "Point": 3}, {"Node": 3, "Dim": 2, "Point": 4}]
    T.numbers = range(4)
    T.static = {
        "size": ("Int",),
        "at": ("Point", "Dim", "Int"),
        # The same point with another coordinate in one dimension.
        "moved": ("Point", "Dim", "Int", "Point"),
        "point": ("Node", "Point"),
    }
    T.vars = {
        "active": ("Node", "Bool"),
        "from_": ("Node", "Dim", "Int"),
        "to": ("Node", "Dim", "Int"),
        "founded": ("Bool",),
        # Ghosts: the node whose zone holds a point, and a dimension in which two zones are apart.
        "owner": ("Point", "Node"),
        "apart": ("Node", "Node", "Dim"),
        # Of the present action: the nodes that grow or lose their zones, and the box that is taken.
        "chosen": ("Node", "Bool"),
        "box_from": ("Dim", "Int"),
        "box_to": ("Dim", "Int"),
        "beside": ("Node", "Dim"),
    }
    T.ghosts = {"owner", "apart", "chosen", "box_from", "box_to", "beside"}
    T.bugs = {
        "SplitOffByOne": "the upper part of a zone that is split begins one too low",
        "PlaneBesideThePoints": "a zone is split beside both points",
        "JoinerFromElsewhere": "a node splits its zone for a joiner whose point is elsewhere",
        "WiderHeirs": "a node grows over a zone that is less wide than its own",
        "FaceNotCovered": "of the nodes across the plane, some do not grow",
        "DistantHeirs": "a node grows over a zone that it does not touch",
        "SubtreeCutsAZone": "a box is taken that has a part of a zone in it",
        "OnlyOneYields": "of the nodes in a box that is taken, only some lose their zones",
    }
    keeps = T.keeps
    node, dim, point = "Node", "Dim", "Point"
    T.axioms = [
        lambda s: s.forall((point, dim), lambda p, d: And(0 <= s.at(p, d), s.at(p, d) < s.size())),
        lambda s: s.forall((point, dim, "Int"), lambda p, d, x: Implies(And(0 <= x, x < s.size()), s.at(s.moved(p, d, x), d) == x)),
        lambda s: s.forall((point, dim, dim, "Int"), lambda p, d, e, x: Implies(d != e, s.at(s.moved(p, d, x), e) == s.at(p, e))),
        lambda s: s.size() > 0,
    ]
    T.init = lambda s: And(Not(s.founded()), s.forall((node,), lambda n: Not(s.active(n))))
    T.messages = {}

    @T.action(node)
    def found(s, t, n):
        """The first node has the whole space."""
        t.need(Not(s.founded()))
        t.put("founded", (), True)
        t.put("active", (n,), True)
        t.where("from_", lambda m, d: m == n, lambda m, d: 0)
        t.where("to", lambda m, d: m == n, lambda m, d: s.size())
        t.where("owner", lambda p: True, lambda p: n)

    @T.action(node, node, dim, "Int", "Bool")
    def join(s, t, n, m, d, x, upper):
        """A node splits its zone for a joiner with a point in it: at a plane between the two, the joiner above or below."""
        t.need(And(s.active(n), Not(s.active(m))))
        if keeps("JoinerFromElsewhere"):
            t.need(s.owner(s.point(m)) == n)
        own, other = s.at(s.point(n), d), s.at(s.point(m), d)
        if keeps("PlaneBesideThePoints"):
            t.need(If(upper, And(own < x, x <= other), And(other < x, x <= own)))
        t.need(And(s.from_(n, d) < x, x < s.to(n, d)))
        low = x if keeps("SplitOffByOne") else x - 1
        joins = lambda k, e: k == m
        t.put("active", (m,), True)
        t.where("from_", joins, lambda k, e: If(And(e == d, upper), low, s.from_(n, e)))
        t.where("to", joins, lambda k, e: If(And(e == d, Not(upper)), x, s.to(n, e)))
        t.where("from_", lambda k, e: And(k == n, e == d, Not(upper)), lambda k, e: low)
        t.where("to", lambda k, e: And(k == n, e == d, upper), lambda k, e: x)
        t.where("owner", lambda p: And(s.owner(p) == n, If(upper, s.at(p, d) >= x, s.at(p, d) < x)), lambda p: m)
        t.where("apart", lambda k, l: k == m, lambda k, l: If(l == n, d, s.apart(n, l)))
        t.where("apart", lambda k, l: l == m, lambda k, l: If(k == n, d, s.apart(k, n)))

    @T.action(node, dim, "Bool")
    def leave(s, t, g, d, upper):
        """A node goes: its heirs, above or below it, grow over its zone. They touch all of that face, and are no wider."""
        heir = t.havoc("chosen")
        plane = If(upper, s.to(g, d), s.from_(g, d))
        across = If(upper, s.to(g, d), s.from_(g, d) - 1)
        t.need(And(s.active(g), Not(heir(g)), 0 <= across, across < s.size()))
        touches = lambda k: If(upper, s.from_(k, d), s.to(k, d)) == plane
        if not keeps("DistantHeirs"):
            touches = lambda k: If(upper, s.from_(k, d) >= plane, s.to(k, d) <= plane)
        t.need(s.forall((node,), lambda k: Implies(heir(k), And(s.active(k), touches(k)))))
        if keeps("WiderHeirs"):
            within = lambda k, e: And(s.from_(g, e) <= s.from_(k, e), s.to(k, e) <= s.to(g, e))
            t.need(s.forall((node, dim), lambda k, e: Implies(And(heir(k), e != d), within(k, e))))
        if keeps("FaceNotCovered"):
            t.need(s.forall((point,), lambda p: Implies(s.owner(p) == g, heir(s.owner(s.moved(p, d, across))))))
        t.put("active", (g,), False)
        t.where("from_", lambda k, e: And(heir(k), e == d, upper), lambda k, e: s.from_(g, d))
        t.where("to", lambda k, e: And(heir(k), e == d, Not(upper)), lambda k, e: s.to(g, d))
        t.where("owner", lambda p: s.owner(p) == g, lambda p: s.owner(s.moved(p, d, across)))
        beyond = lambda k: If(upper, s.to(k, d) <= plane, s.from_(k, d) >= plane)
        t.where("apart", lambda k, l: And(heir(k), s.apart(k, l) == d, beyond(l)), lambda k, l: s.apart(g, l))
        t.where("apart", lambda k, l: And(heir(l), s.apart(k, l) == d, beyond(k)), lambda k, l: s.apart(k, g))

    @T.action(node)
    def last_leaves(s, t, g):
        t.need(And(s.active(g), s.forall((node,), lambda k: Implies(s.active(k), k == g))))
        t.put("active", (g,), False)
        t.put("founded", (), False)

    @T.action(node)
    def seize(s, t, n):
        """A node takes a whole subtree by force: a box around its zone that cuts no zone. All nodes in it join anew."""
        inside, low, high, beside = (t.havoc(name) for name in ("chosen", "box_from", "box_to", "beside"))
        t.need(And(s.active(n), inside(n)))
        within = lambda k, e: And(low(e) <= s.from_(k, e), s.to(k, e) <= high(e))
        t.need(s.forall((node, dim), lambda k, e: Implies(And(s.active(k), inside(k)), within(k, e))))
        if keeps("SubtreeCutsAZone"):
            out = lambda k: Or(s.to(k, beside(k)) <= low(beside(k)), high(beside(k)) <= s.from_(k, beside(k)))
            t.need(s.forall((node,), lambda k: Implies(And(s.active(k), Not(inside(k))), out(k))))
        t.need(s.forall((dim,), lambda e: And(0 <= low(e), high(e) <= s.size())))
        loses = lambda k: And(inside(k), k != n)
        if keeps("OnlyOneYields"):
            t.where("active", loses, lambda k: False)
        t.where("from_", lambda k, e: k == n, lambda k, e: low(e))
        t.where("to", lambda k, e: k == n, lambda k, e: high(e))
        t.where("owner", lambda p: inside(s.owner(p)), lambda p: n)
        t.where("apart", lambda k, l: k == n, lambda k, l: beside(l))
        t.where("apart", lambda k, l: l == n, lambda k, l: beside(k))

    @T.invariant(point, dim, claim=True)
    def every_point_is_in_the_zone_of_a_node(s, p, d):
        n = s.owner(p)
        return Implies(s.founded(), And(s.active(n), s.from_(n, d) <= s.at(p, d), s.at(p, d) < s.to(n, d)))

    @T.invariant(node, node, claim=True)
    def no_two_zones_overlap(s, n, m):
        d = s.apart(n, m)
        return Implies(And(s.active(n), s.active(m), n != m), Or(s.to(n, d) <= s.from_(m, d), s.to(m, d) <= s.from_(n, d)))

    @T.invariant(node, dim, claim=True)
    def a_node_has_its_own_point(s, n, d):
        at = s.at(s.point(n), d)
        return Implies(s.active(n), And(s.from_(n, d) <= at, at < s.to(n, d)))

    @T.invariant(node, dim)
    def zones_are_in_the_space(s, n, d):
        return Implies(s.active(n), And(s.founded(), 0 <= s.from_(n, d), s.to(n, d) <= s.size()))

    @T.invariant(node)
    def a_node_owns_its_own_point(s, n):
        return Implies(s.active(n), s.owner(s.point(n)) == n)

    T.code = {
        "found": "`Command::Found`",
        "join": "`Leaf::split`, `Member::grant`",
        "leave": "`Leaf::inherit`, `extended`; `Member::depart`, `take_over`",
        "last_leaves": "`Member::leave`",
        "seize": "`Member::despair`, `take_from_all`",
    }
    T.labels = {"Node": lambda i: f"node {'ABCDEF'[i]}", "Dim": lambda i: f"dimension {i + 1}", "Point": lambda i: f"point {'pqrstuvwx'[i]}"}
    T.words = {
        "size": "the space has {value} places in each dimension",
        "at": "{0} is at {value} in {1}",
        "moved": "{0} moved to {2} in {1} is {value}",
        "point": "the own point of {0} is {value}",
        "from_": "the zone of {0} begins at {value} in {1}",
        "to": "the zone of {0} ends before {value} in {1}",
        "owner": "{0} is in the zone of {value}",
    }
    T.shown = {name: lambda s, f, n, d: f["active"](n) for name in ("from_", "to")}
    return T
