"""What recorded steps of `Custody` mean in the theory of custody.py.

A step concerns some jobs. The theory has one job with one home, so each job of a step, under each home and tenure, is a
step of its own, with two parts: what the node does as the home of the job, and what it does as a holder. What only names
things is made equal: times count from the step, nodes and claims are numbered.
"""

from steps import Step

ME = "me"
NEVER = 1 << 62

LIVE = ("open", "giving", "kept", "leaving")
GIVEN = ("giving", "kept", "leaving")
HOME = {"attempt": ("open", *GIVEN), "moves": GIVEN, "holder": GIVEN, "claim": GIVEN, "until": ("kept", "leaving"), "outcome": ("over",)}
HOME |= {name: ("leaving",) for name in ("c_moves", "c_holder", "c_claim")}
HOLDER = {"t_attempt": ("has",), "t_moves": ("has",), "t_claim": ("has",), "ends": ("waits", "runs"), "stops": ("prog",)}
# What must be true for a fact to have a meaning. What the disk of a home names besides is not seen.
NEEDS = {name: tuple((need, ()) for need in needs) for name, needs in HOME.items()}
NEEDS |= {name: tuple((need, (ME,)) for need in needs) for name, needs in {**HOLDER, "done": ("ended",)}.items()}
NEEDS["given"] = (("given", ME),)
LAST_WORDS = ("Finished", "Failed", "Cancelled")


def kind(value):
    return value["#"] if isinstance(value, dict) else value[0] if isinstance(value, list) else value


def claims(value, found):
    """All numbers of claims in a value."""
    if isinstance(value, dict):
        for part in value.values():
            claims(part, found)
    elif isinstance(value, list):
        if len(value) == 2 and value[0] == "Claim":
            found.add(int(value[1]))
        else:
            for part in value:
                claims(part, found)


def tenure(term):
    return int(term["tenure"][1])


class View:
    """One job under one home and tenure, and how its nodes, times and claims are called."""

    def __init__(self, me, home, now, numbers):
        self.me, self.home, self.now, self.numbers = me, home, now, numbers
        self.nodes = {me: ME}

    def node(self, name):
        return self.nodes.setdefault(name, f"node {len(self.nodes)}")

    def time(self, at):
        return at if at >= NEVER else at - self.now

    def claim(self, claim):
        return 0 if claim is None else self.numbers[int(claim[1])]

    def term(self, term):
        return int(term["attempt"]), int(term["moves"])

    def held(self, holding):
        """What the disk of a home says of the node that was given the job."""
        return *self.term(holding["term"]), self.node(holding["holder"]), self.claim(holding["claim"])

    def stage(self, stage):
        """A record of a home."""
        what = kind(stage)
        if what == "Open":
            return "open", int(stage["attempt"])
        if what == "Given":
            return "given", *self.held(stage["holding"])
        if what == "Cancelled":
            return "leaving", *self.held(stage[1])
        return "over", outcome(stage[1])

    def task(self, task, facts):
        phase = task["phase"]
        what = kind(phase)
        if what == "Restored":
            what, *rest = self.stage(phase[1])
            if what == "given":
                what = "kept" if rest[3] else "giving"
                self.given(rest, facts)
                facts["until", ()] = NEVER
            elif what == "leaving":
                self.given(rest, facts)
                facts["until", ()] = NEVER
                facts["c_moves", ()], facts["c_holder", ()], facts["c_claim", ()] = rest[1:]
            elif rest:
                facts["attempt" if what == "open" else "outcome", ()] = rest[0]
            facts[what, ()] = True
        elif what in ("Seeking", "Pausing"):
            facts["open", ()] = True
            facts["attempt", ()] = int(phase["attempt"])
        elif what == "Giving":
            facts["giving", ()] = True
            self.given((*self.term(phase["term"]), self.node(phase["to"]), 0), facts)
        else:
            facts["kept" if what == "Held" else "leaving", ()] = True
            self.given(self.held(phase["holding"]), facts)
            facts["until", ()] = self.time(phase["until"])

    def given(self, held, facts):
        for name, value in zip(("attempt", "moves", "holder", "claim"), held):
            facts[name, ()] = value

    def holding(self, held, facts):
        """What a holder has."""
        state = held["state"]
        what = kind(state)
        facts["has", (ME,)] = True
        facts["t_attempt", (ME,)], facts["t_moves", (ME,)] = self.term(held["term"])
        facts["t_claim", (ME,)] = self.claim(held["claim"])
        if held["lease"] is not None:
            facts["ends", (ME,)] = self.time(held["lease"])
        if what == "Waiting":
            facts["waits", (ME,)] = True
        elif what in ("Giving", "Given"):
            facts["gives", (ME,)] = True
        elif what in ("Running", "Left"):
            facts["runs", (ME,)] = True
            if what == "Running":
                facts["prog", (ME,)] = True
                facts["stops", (ME,)] = facts["ends", (ME,)]
        elif what == "Ended":
            facts["ended", (ME,)] = True
            facts["done", (ME,)] = state[1] == "Done"

    def record(self, record):
        """A record of a holder, as `Parts.disk` says it."""
        progress = record["progress"]
        what = kind(progress)
        done = what == "Ended" and progress[1] == "Done"
        return what == "Given", what == "Started", what == "Ended", done, *self.term(record["term"]), self.claim(record["claim"])


def outcome(news):
    """0 for finished; any other number for another last word."""
    return 0 if news == "Finished" else sum(str(news).encode()) + 1


class Parts:
    """What the search asks: a home and a holder, which may be the same node."""

    def tidy(self, facts):
        get = facts.get
        kept = {}
        for key, value in facts.items():
            if value is False:
                continue
            needs = NEEDS.get(key[0])
            if needs is not None:
                for need in needs:
                    if get(need):
                        break
                else:
                    continue
            kept[key] = value
        return kept

    def visible(self, facts):
        return {key: value for key, value in facts.items() if key[0] not in ("own", "c_moves", "c_holder", "c_claim")}

    def more(self, step):
        return 0

    def disk(self, facts, part):
        get = facts.get
        if part == "holder":
            if not get(("has", (ME,))):
                return None
            flags = [bool(get((name, (ME,)))) for name in ("gives", "runs", "ended", "done")]
            return *flags, *(facts[name, (ME,)] for name in ("t_attempt", "t_moves", "t_claim"))
        if get(("open", ())):
            return "open", facts["attempt", ()]
        if any(get((name, ())) for name in GIVEN):
            what = "leaving" if get(("leaving", ())) else "given"
            return what, *(facts[name, ()] for name in ("attempt", "moves", "holder", "claim"))
        return ("over", facts["outcome", ()]) if get(("over", ())) else None

    def soiled(self, before, after, part):
        """The parts of which something must be written: not that a node was asked in vain, or that a cancelled job moved."""
        parts = {part for part in ("home", "holder") if self.disk(before, part) != self.disk(after, part)}
        if before.get(("giving", ())) and after.get(("open", ())) and before["attempt", ()] == after["attempt", ()]:
            parts.discard("home")
        if before.get(("leaving", ())) and after.get(("leaving", ())):
            parts.discard("home")
        return parts

    def waits_for_disk(self, message):
        return True

    def senders(self, message):
        what, args = message
        if what == "give":
            return [("ask", args[:1])] if args[2] == 0 else [("pass_on", (ME, args[0]))]
        if what == "report":
            return [("report", (ME,))]
        if what in ("ended", "done"):
            name = "say_withdrawn" if what == "ended" else "say_done_withdrawn"
            return [(f"say_{what}", (ME,)), (name, args)]
        if what == "grant":
            return [("grant", (args[0], args[4]))]
        return [("withdraw", args[:1]), ("withdraw_reporter", args)]


class Jobs:
    """Makes of a recorded step a `Step` for each job that it concerns."""

    def steps(self, now, config, event, before, after, effects):
        """Pairs of a name and a `Step`, "outside" or "trusted"."""
        me = before["me"]
        tables = [[{part["job"]: part for part in state[name]} for state in (before, after)] for name in ("tasks", "held")]
        named = set(self.named(event))
        for effect in effects:
            named.update(self.named(effect))
        for was, now_is in tables:
            if event == "Start":
                named |= was.keys() | now_is.keys()
            else:
                named |= {job for job in was.keys() | now_is.keys() if was.get(job) is not now_is.get(job) and was.get(job) != now_is.get(job)}
        for job in sorted(named, key=str):
            entries = [[table.get(job) for table in tables[index]] for index in (0, 1)]
            yield from self.job(job, me, now, config, event, entries, before, after, [effect for effect in effects if job in self.named(effect)])

    def named(self, value):
        """The jobs of an event or effect."""
        if isinstance(value, list) and value[0] == "Command":
            value = value[1]
            if kind(value) == "Take":
                return [value["gift"]["job"]]
        elif isinstance(value, list) and value[0] in ("Persist", "Forget", "Timer"):
            return [value[1][1]]
        elif isinstance(value, list) and value[0] == "Notify":
            value = value[1]
            if kind(value) == "Tell":
                return [value[1]["job"]]
            if kind(value) == "Offered":
                return [value[1]["job"]]
        elif isinstance(value, dict) and "message" in value:
            return [value["message"]["job"]]
        if isinstance(value, dict):
            return [value["job"]] if "job" in value else []
        return [value[1]] if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str) else []

    def job(self, job, me, now, config, event, entries, before, after, effects):
        (task, task_after), (held, held_after) = entries
        message = event["message"] if kind(event) == "Message" else None
        command = event[1] if kind(event) == "Command" else None
        keys = {(me, int(part["tenure"][1])) for part in (task, task_after) if part}
        keys |= {(part["home"], tenure(part["term"])) for part in (held, held_after) if part}
        read = None
        if message is not None:
            what = kind(message)
            if what == "Report":
                read = me, tenure(message["term"])
            elif what == "Verdict":
                read = event["from"], tenure(message["term"])
        elif command is not None and kind(command) == "Take":
            read = command["gift"]["home"], tenure(command["gift"]["term"])
        if read:
            keys.add(read)
        found = set()
        for value in (task, task_after, held, held_after, message, command, effects, before["claim"], after["claim"]):
            claims(value, found)
        found.discard(0)
        numbers = {claim: index + 1 for index, claim in enumerate(sorted(found))} | {0: 0}
        for home, life in sorted(keys):
            view = View(me, home, now, numbers)
            of_home = [part if home == me and part and int(part["tenure"][1]) == life else None for part in (task, task_after)]
            of_holder = [part if part and part["home"] == home and tenure(part["term"]) == life else None for part in (held, held_after)]
            step = self.step(view, life, config, event, read == (home, life), of_home, of_holder, before, after, effects)
            if step is not None:
                yield step

    def step(self, view, life, config, event, is_read, tasks, helds, before, after, effects):
        me, at_home = view.me, view.home == view.me
        message = event["message"] if kind(event) == "Message" else None
        command = event[1] if kind(event) == "Command" else None
        survived = command if command is not None and kind(command) == "Survived" else None
        beginning, readable = [], set()
        if survived is not None and kind(survived["survival"]) == "Runs":
            # The home of the node has not started yet.
            at_home, tasks = False, (None, None)
        first, second = {}, {}
        for facts, task, held, state in ((first, tasks[0], helds[0], before), (second, tasks[1], helds[1], after)):
            if task:
                view.task(task, facts)
            if held:
                view.holding(held, facts)
            facts["last", (ME,)] = view.claim(state["claim"])
            facts["clock", (ME,)] = 0
        mapped = []
        for effect in effects:
            self.effect(effect, view, life, helds, mapped)
        # The answer to a withdrawal names the end that is forgotten just before. To send it first is the same: it may be lost.
        for index in range(1, len(mapped)):
            if mapped[index - 1][1:] == ("write", None) and mapped[index][1] == "send" and mapped[index][2][0] == "done":
                mapped[index - 1], mapped[index] = mapped[index], mapped[index - 1]
        # What a home tells in the end is known from its record alone.
        overs = [what for part, does, what in mapped if part == "home" and does == "write" and what[0] == "over"]
        if not tasks[1] and overs:
            second["over", ()], second["outcome", ()] = True, overs[-1][1]
        if is_read and message is not None:
            if event["from"] == me:
                # What a node tells itself does not come over the network.
                return "outside"
            at, mv = view.term(message["term"])
            cl = view.claim(message["claim"])
            if kind(message) == "Report":
                standing = message["standing"]
                said = "report" if kind(standing) != "Ended" else "done" if standing[1] == "Done" else "ended"
                if said == "report" and cl == 0:
                    # No honest holder has a job without a claim.
                    return "outside"
                readable.add((said, (view.node(event["from"]), at, mv, cl)))
            elif kind(message["ruling"]) == "Granted":
                until = view.time(message["ruling"]["until"])
                if until > config["lease"] + config["max_skew"] and helds[1]:
                    # No honest home grants more than a lease.
                    return "outside"
                readable.add(("grant", (ME, at, mv, cl, until)))
            elif message["ruling"] == "Withdraw":
                readable.add(("withdraw", (ME, at, mv, cl)))
        gift = command["gift"] if command is not None and kind(command) == "Take" else None
        if is_read and gift:
            readable.add(("give", (ME, *view.term(gift["term"]))))
        if event == "Start":
            survives = bool(helds[0]) and kind(helds[0]["state"]) == "Running"
            beginning.append(("restart", (ME, survives)))
        elif command is not None and kind(command) == "Ended" and first.get(("prog", (ME,))):
            beginning.append(("program_ends", (ME,)))
        elif survived is not None and kind(survived["survival"]) == "Runs" and helds[0] and kind(helds[0]["state"]) == "Left" and helds[1]:
            until = view.time(survived["survival"]["until"])
            if kind(helds[1]["state"]) == "Running":
                first["prog", (ME,)] = True
                first["stops", (ME,)] = min(until, config["lease"] + config["max_skew"])
                beginning.append(("restart", (ME, True)))
        parts = Parts()
        first, second = parts.tidy(first), parts.tidy(second)
        same = dict(first)
        same["last", (ME,)] = second["last", (ME,)]
        if not mapped and same == second and event != "Start":
            return None
        static = {"home": lambda: ME if at_home else "home", "lease": lambda: config["lease"], "skew": lambda: config["max_skew"]}
        tries = self.tries(first, second, mapped, readable, at_home, command is not None and kind(command) == "Keep")
        domain = {"Node": [ME]}
        step = Step(static, domain, first, second, readable, mapped, {"home": tries, "holder": tries}, beginning)
        if at_home:
            step.own = lambda what, args: what in ("report", "ended", "done") or args[0] == ME
        step.key = (at_home, config["lease"], config["max_skew"], frozenset(first.items()), frozenset(second.items()), frozenset(readable), tuple(mapped), tuple(tries), tuple(beginning))
        return step

    def effect(self, effect, view, life, helds, mapped):
        what = kind(effect)
        if what == "Persist":
            record = effect[2]
            if kind(effect[1]) == "Task":
                if view.home == view.me and int(record["tenure"][1]) == life:
                    mapped.append(("home", "write", view.stage(record["stage"])))
            elif record["home"] == view.home and tenure(record["term"]) == life:
                mapped.append(("holder", "write", view.record(record)))
            elif helds[0]:
                # Another job has its place on the disk.
                mapped.append(("holder", "write", None))
        elif what == "Forget":
            if kind(effect[1]) == "Task":
                if view.home == view.me:
                    mapped.append(("home", "gone", LIVE))
            elif helds[0] or any(part == "holder" and does == "write" for part, does, _ in mapped):
                mapped.append(("holder", "write", None))
        elif what == "Send":
            told = self.message(effect["message"], effect["to"], view, life)
            if told:
                mapped.append(told)
        elif what == "Notify":
            notice = effect[1]
            if kind(notice) == "Queue" and helds[1] and tenure(notice["term"]) == life:
                mapped.append(("holder", "told", (("waits", (ME,), True), ("ends", (ME,), view.time(notice["until"])))))
            if kind(notice) != "Tell":
                return
            news = notice[1]["news"]
            said = kind(news)
            if said in LAST_WORDS:
                if view.home == view.me:
                    mapped.append(("home", "told", (("over", (), True), ("outcome", (), outcome(news)))))
                    mapped.append(("home", "do", ("tell", ())))
            elif said == "Started" and helds[1]:
                mapped.append(("holder", "told", (("prog", (ME,), True), ("stops", (ME,), view.time(news["until"])))))
            elif said == "Extended" and helds[1]:
                mapped.append(("holder", "do", ("extend", (ME, view.time(news["until"])))))
            elif said == "Stopped" and helds[0]:
                mapped.append(("holder", "do", ("program_ends", (ME,))))

    def message(self, message, to, view, life):
        what = kind(message)
        if what == "Answer" or tenure(message["term"]) != life:
            return None
        at, mv = view.term(message["term"])
        if what == "Give":
            part = "home" if mv == 0 else "holder"
            return (part, "send", ("give", (view.node(to), at, mv))) if message["home"] == view.home else None
        cl = view.claim(message["claim"])
        if what == "Report":
            if to != view.home:
                return None
            standing = message["standing"]
            said = "report" if kind(standing) != "Ended" else "done" if standing[1] == "Done" else "ended"
            return "holder", "send", (said, (ME, at, mv, cl))
        if view.home != view.me:
            return None
        ruling = message["ruling"]
        if kind(ruling) == "Granted":
            return "home", "send", ("grant", (view.node(to), at, mv, cl, view.time(ruling["until"])))
        return ("home", "send", ("withdraw", (view.node(to), at, mv, cl))) if ruling == "Withdraw" else None

    def tries(self, first, second, mapped, readable, at_home, keeps):
        """The actions that a node may have taken for a job, most telling first."""
        found = []
        me = (ME,)
        written = [what for part, does, what in mapped if does == "write" and part == "holder" and what]
        kept = [what for part, does, what in mapped if does == "write" and part == "home"]
        mine = [tuple(facts[name, me] for name in ("t_attempt", "t_moves", "t_claim")) for facts in (first, second) if facts.get(("has", me))]
        mine = sorted({*mine, *(what[4:] for what in written)})
        ends = sorted({facts["ends", me] for facts in (first, second) if ("ends", me) in facts})
        last = second["last", me]
        if last != first["last", me]:
            found.append(("use_number", (ME, last)))
        named = [facts for facts in (first, second) if facts.get(("holder", ())) == ME]
        named = dict.fromkeys(tuple(facts[name, ()] for name in ("attempt", "moves", "claim")) for facts in named)
        own = [(said, (ME, *term)) for said in ("report", "ended", "done") for term in dict.fromkeys([*mine, *named])] if at_home else []
        reads = sorted(readable) + own
        if at_home:
            if keeps:
                found.append(("accept", ()))
            held = [second["holder", ()]] if ("holder", ()) in second else []
            found += [("choose", (node,)) for node in sorted({*held, *(what[3] for what in kept if what[0] == "given")})]
            for said, args in reads:
                if said == "report":
                    found += [("admit", args), ("withdraw_there", args)]
                elif said == "ended":
                    found += [("close_after_end", (*args, what[1])) for what in kept if what[0] == "over" and what[1]]
                    found.append(("place_after_end", args))
                elif said == "done":
                    found.append(("close_done", args))
            found += [("close", (what[1],)) for what in kept if what[0] == "over" and what[1]]
            found += [("pause", ()), ("place_again", ()), ("cancel", ())]
            # What a node tells itself.
            found += [("ask", me), ("withdraw", me), ("report", me), ("say_ended", me), ("say_done", me)]
            found += [("grant", (ME, until)) for until in ends]
            found += [("note_grant", (ME, *term, until)) for term in mine for until in ends]
            found += [("take", (ME, *term)) for term in mine]
            found += [("withdraw_reporter", (ME, *term)) for term in mine]
            found += [(name, (ME, *term)) for name in ("say_withdrawn", "say_done_withdrawn") for term in named]
        for said, args in sorted(readable):
            if said == "give":
                found += [("take", (*args, claim)) for claim in sorted({term[2] for term in mine})]
            elif said == "grant":
                found.append(("note_grant", args))
        found += [("start", (ME, until)) for until in ends]
        found += [("end", (ME, True)), ("end", (ME, False)), ("give_away", me), ("let_go", me)]
        found += [("take_back", (ME, claim)) for claim in sorted({term[2] for term in mine})]
        return list(dict.fromkeys(found))
