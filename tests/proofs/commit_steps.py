"""What recorded steps of `commit::Node` mean in the theory of commit.py: one function for each side.

An attempt is (job, number), a job is (name, coordinator), `ME` is the node that acts.
"""

from logic import And, Not  # noqa: F401
from steps import Step

ME = "me"
NEVER = 1 << 62


def number(text):
    """The number in `e7` or `i1`."""
    return int(text[1:])


def until(firm):
    """Firm::until: when an attempt is stopped if nothing more comes."""
    phase = firm["phase"]
    end = phase["end"] if kind(phase) == "Asking" else firm["interval"][1]
    return min(firm["permitted"], end) if firm["permitted"] is not None else -1


def kind(value):
    return value["#"] if isinstance(value, dict) else value[0] if isinstance(value, list) else value


def outcome_is_done(phase):
    return phase["outcome"] == "Done"


DISK_PARTICIPANT = ("hold", "lease", "firm", "till", "runs", "fin", "good", "fence")
DISK_COORDINATOR = ("decided", "cend", "cended", "cdone", "old", "through", "operm")


def name_of(job):
    return job[0]


class Mapping:
    """Shared by both sides: what the search needs."""

    def __init__(self):
        self.members = {}

    def tidy(self, facts):
        """Leaves out what is false, and what has no meaning."""
        get = facts.get
        kept = {}
        for key, value in facts.items():
            name, args = key
            if value is False:
                continue
            if name in ("lease",) and not get(("hold", args)):
                continue
            if name == "till" and not (get(("hold", args)) or get(("firm", args))):
                continue
            if name in ("perm", "good") and not get(("firm", args)):
                continue
            if name == "perm" and value == -1 or name == "good" and not get(("fin", args)):
                continue
            if name == "stops" and not get(("prog", args)):
                continue
            if name == "leased" and not get(("vote", args)) or name == "vote" and not get(("trial", args[:1])):
                continue
            if name == "leased" and not get(("trial", args[:1])):
                continue
            if name in ("ack", "cend", "cended", "cdone", "cperm") and not (get(("decided", args[:1])) and args[1] in self.members.get(args[0], ())):
                continue
            if name == "cperm" and value == -1:
                continue
            if name in ("through", "operm") and not get(("old", args)):
                continue
            kept[key] = value
        return kept

    def job_of(self, key):
        name, args = key
        for arg in args:
            if isinstance(arg, tuple):
                return name_of(arg[0]) if isinstance(arg[0], tuple) else name_of(arg)
        return None

    def disk(self, facts, job):
        """What is on disk about a job. An attempt that all of its nodes have done is over, written or not."""
        done = {
            args[0]
            for (name, args) in facts
            if name == "decided" and all(facts.get(("cdone", (args[0], n))) for n in self.members.get(args[0], ()))
        }
        return {
            key: value
            for key, value in facts.items()
            if (key[0] in DISK_PARTICIPANT or key[0] in DISK_COORDINATOR)
            and self.job_of(key) == job
            and not (key[0] in ("decided", "cend", "cended", "cdone") and key[1][0] in done)
        }

    def soils(self, before, after, job):
        """Whether something must be written. A node that has let go may be taken for old after a restart."""
        one, other = self.disk(before, job), self.disk(after, job)
        if one == other:
            return False
        lost = [key for key in one if key not in other]
        if all(key[0] in ("old", "through", "operm") for key in lost) and all(one.get(key) == value for key, value in other.items()):
            return False
        return True

    def soiled(self, before, after, job):
        return {job} if self.soils(before, after, job) else set()

    def visible(self, facts):
        return facts

    def more(self, step):
        """Silent nodes of earlier attempts are dropped one by one."""
        return sum(1 for key in step.before if key[0] == "old" and key not in step.after)

    def waits_for_disk(self, message):
        return message[0] not in ("prepare", "abort")

    def senders(self, message):
        what, args = message
        if what == "prepare":
            return [("ask", args)]
        if what == "commit":
            return [("send_commit", args)]
        if what == "permit":
            return [("permit", args)]
        if what == "release":
            c, n, j, k = args
            return [("send_release", (c, n, (j, k)))]
        if what == "abort":
            return [("send_abort", args)]
        return [(f"say_{what}", args)]


def constants(config, now, table, members, bosses, improving, self_boss=None):
    begins = lambda a: table[a][0]
    ends = lambda a: table[a][1]
    permission = config["permission"]
    span = permission[1] if isinstance(permission, list) else NEVER
    retries = int(config["retries"])
    patience = (config["retry"] + config["jitter"]) * (retries + 1)
    renewal = max(span // 3, 1) if span != NEVER else 0
    return {
        "job": lambda a: a[0],
        "number": lambda a: a[1],
        "boss": lambda j: j[1],
        "member": lambda a, n: n in members.get(a, ()),
        "begins": begins,
        "ends": ends,
        "improves": lambda a: a in improving,
        "base": improving.get,
        "span": lambda: span,
        "ahead": lambda: max(patience, renewal),
        "grace": lambda: config["grace"],
        # Two instants that differ by the skew count as different from the next microsecond on.
        "skew": lambda: config["max_skew"],
        "travel": lambda: 2 * config["max_delay"],
    }


class Participant(Mapping):
    """Participant: its seats, its schedule, and the programs that its host was told to run."""

    def look(self, state, facts, table, jobs, fences):
        """Writes what a participant has as facts."""
        side = state
        busy = {(r["attempt"]["job"], r["attempt"]["epoch"]) for r in side["schedule"]["firm"] + side["schedule"]["swaps"]}
        for seat in side["seats"]:
            j = (seat["job"], seat["coordinator"])
            self.seat(seat, j, facts, table)
            jobs[seat["job"]] = j
            fences[j] = number(seat["fence"])
            for part in (seat["hold"], seat["firm"]):
                if part and (seat["job"], part["epoch"]) in busy:
                    facts["busy", (ME, (j, number(part["epoch"])))] = True
                    busy.discard((seat["job"], part["epoch"]))
            firm = seat["firm"]
            if firm:
                a = (j, number(firm["epoch"]))
                if firm["permitted"] is not None:
                    facts["perm", (ME, a)] = firm["permitted"]
                if kind(firm["phase"]) in ("Running", "Asking") and firm["permitted"] is not None:
                    facts["prog", (ME, a)] = True
                    facts["stops", (ME, a)] = until(firm)
        # A reservation that no seat has.
        for job, epoch in busy:
            facts["busy", (ME, ((job, "unknown"), number(epoch)))] = True
            table.setdefault(((job, "unknown"), number(epoch)), (0, NEVER))

    def seat(self, seat, j, facts, table):
        """The part of a seat that is on disk, as facts; what it refuses follows from its fence."""
        hold, firm = seat["hold"], seat["firm"]
        if hold:
            a = (j, number(hold["epoch"]))
            table[a] = tuple(hold["interval"])
            facts["hold", (ME, a)] = True
            facts["lease", (ME, a)] = hold["lease"]
            facts["till", (ME, a)] = hold["interval"][1]
        if firm:
            a = (j, number(firm["epoch"]))
            table[a] = (firm["interval"][0], firm["committed"])
            facts["firm", (ME, a)] = True
            facts["till", (ME, a)] = firm["interval"][1]
            phase = firm["phase"]
            if kind(phase) in ("Running", "Asking"):
                facts["runs", (ME, a)] = True
            if kind(phase) == "Ended":
                facts["fin", (ME, a)] = True
                facts["good", (ME, a)] = outcome_is_done(phase)
        table.setdefault((j, number(seat["fence"])), (0, 1))

    def step(self, now, config, event, before, after, effects):
        """A recorded step as a `Step`, or `None` if nothing of this side is in it."""
        table, jobs, fences, later = {}, {}, {}, {}
        first, second = {}, {}
        jobs_after = {}
        self.look(after, second, table, jobs_after, later)
        self.look(before, first, table, jobs, fences)
        sender = event.get("from") if isinstance(event, dict) else None
        message = event["message"] if kind(event) == "Message" else None
        readable, mentioned, beginning = set(), set(), []

        def job_named(name):
            return jobs.get(name) or jobs_after.get(name) or (name, sender)

        def attempt(value):
            return job_named(value["job"]), number(value["epoch"])

        if message is not None:
            what = kind(message)
            if what in ("Prepare", "Commit", "Abort", "Permit"):
                a = attempt(message["attempt"])
                mentioned.add(a)
                ours = a[0][1] == sender
                if what == "Prepare":
                    if a not in table or table[a] == (0, 1):
                        table[a] = tuple(message["interval"])
                    if ours and table[a] == tuple(message["interval"]):
                        readable.add(("prepare", (a, ME)))
                elif what == "Commit" and ours:
                    readable.add(("commit", (a, ME)))
                elif what == "Abort":
                    readable.add(("abort", (sender, ME, a)))
                elif what == "Permit" and ours and message["until"] is not None:
                    readable.add(("permit", (a, ME, message["until"])))
            elif what == "Release":
                j = job_named(message["job"])
                k = number(message["through"])
                mentioned.add((j, k))
                readable.add(("release", (sender, ME, j, k)))
        command = event[1] if kind(event) == "Command" else None
        if kind(command) == "Survived":
            return "trusted"
        if kind(command) == "Ended":
            a = attempt(command["attempt"])
            if first.get(("prog", (ME, a))):
                beginning.append(("program_ends", (ME, a)))
            mentioned.add(a)
        for a in mentioned:
            table.setdefault(a, (0, 1))
        touched, mapped = set(), []
        for effect in effects:
            told = self.effect(effect, job_named, attempt, table)
            if told is not None:
                mapped.append(told)
                touched.add(told[0])
        fence = lambda facts, known: [
            facts.__setitem__(("fence", (ME, a)), True) for a in table if a[0] in known and a[1] <= known[a[0]]
        ]
        fence(first, fences)
        fence(second, later)
        for index, (job, what, value) in enumerate(mapped):
            if what == "write" and value is not None and "seat" in value:
                seat = value.pop("seat")
                j = (seat["job"], seat["coordinator"])
                for a in table:
                    if a[0] == j and a[1] <= number(seat["fence"]):
                        value["fence", (ME, a)] = True
                mapped[index] = (job, what, self.tidy(value))
        first, second = self.tidy(first), self.tidy(second)
        if event == "Start":
            # Before the start nothing runs but what has survived.
            beginning.append(("restart", (ME, -1)))
            first.pop(("top", (ME,)), None)
        for key in set(first.items()) ^ set(second.items()):
            touched.add(self.job_of(key[0]))
        if not mapped and first == second and not beginning:
            return None
        touched |= {self.job_of(("", (a,))) for a in mentioned}
        domain = {"Node": [ME], "Attempt": sorted(table), "Job": sorted({a[0] for a in table})}
        static = constants(config, now, table, {}, {}, {})
        first = {**first, ("clock", (ME,)): now}
        second = {**second, ("clock", (ME,)): now}
        if event == "Start":
            first["top", (ME,)], second["top", (ME,)] = -1, -1
        tries = {job: self.tries(job, domain, table, second, mapped, readable, sender) for job in sorted(touched, key=str) if job}
        return Step(static, domain, first, second, readable, mapped, tries, beginning)

    def effect(self, effect, job_named, attempt, table):
        what = kind(effect)
        if what == "Persist":
            seat = effect[2]
            facts = {"seat": seat}
            self.seat(seat, (seat["job"], seat["coordinator"]), facts, table)
            return seat["job"], "write", facts
        if what == "Forget":
            return effect[1], "write", {}
        if what == "Send":
            message = effect["message"]
            said = kind(message)
            if said in ("Prepared", "Committed"):
                a = attempt(message["attempt"])
                return name_of(a[0]), "send", (said.lower(), (ME, a))
            if said == "Ended":
                a = attempt(message["attempt"])
                return name_of(a[0]), "send", ("done" if message["outcome"] == "Done" else "ended", (ME, a))
            if said == "Extend":
                a = attempt(message["attempt"])
                return name_of(a[0]), "send", ("extend", (ME, a, message["until"]))
            if said == "Released":
                j = job_named(message["job"])
                return name_of(j), "send", ("released", (ME, j, number(message["through"])))
            return None
        if what == "Notify":
            notice = effect[1]
            said = kind(notice)
            if said in ("Begin", "Extended"):
                a = attempt(notice["attempt"])
                return name_of(a[0]), "do", ("launch", (ME, a, notice["until"]))
            if said == "Stop":
                a = attempt(notice["attempt"])
                return (name_of(a[0]), "do", ("program_ends", (ME, a))) if a in table else None
        return None

    def tries(self, job, domain, table, after, mapped, readable, sender):
        """The actions that a participant may have taken for a job, most telling first."""
        attempts = [a for a in domain["Attempt"] if name_of(a[0]) == job]
        found = []
        wanted = list(after.items())
        for _, what, value in mapped:
            if what == "write":
                wanted += value.items()
        for a in attempts:
            if ("prepare", (a, ME)) in readable:
                leases = {value for (name, args), value in wanted if name == "lease" and args == (ME, a)}
                found += [("hold_time", (ME, a, lease)) for lease in leases]
                found.append(("refuse_newer", (ME, a)))
            if ("commit", (a, ME)) in readable:
                found.append(("commit", (ME, a)))
            for what, args in readable:
                if what == "permit" and args[0] == a:
                    found.append(("take_permission", (ME, a, args[2])))
                if what == "abort" and args[2] == a:
                    found.append(("obey_abort", (args[0], ME, a)))
            found.append(("start", (ME, a)))
            found.append(("lease_ends", (ME, a)))
            found += [("end", (ME, a, True)), ("end", (ME, a, False))]
            tills = {value for (name, args), value in wanted if name == "till" and args == (ME, a)}
            found += [("lengthen", (ME, a, till)) for till in tills]
            found.append(("give_back", (ME, a)))
        for what, args in readable:
            if what == "release" and name_of(args[2]) == job:
                found += [("obey_release", (args[0], ME, args[2], args[3], known)) for known in attempts]
        found += [("forget", (ME, j)) for j in domain["Job"] if name_of(j) == job]
        return found


class Coordinator(Mapping):
    """Coordinator: its tasks and its latest number."""

    def look(self, state, facts, table, improving):
        side = state
        facts["top", (ME,)] = number(side["life"]) << 32 | int(side["attempts"])
        for task in side["tasks"]:
            j = (task["job"], ME)
            trial, decision = task["trial"], task["decision"]
            if decision:
                a = self.decision(j, decision, facts, table)
                permitted = [member["permitted"] for member in decision["members"]]
                if not decision["resumed"] and any(value is not None for value in permitted):
                    facts["open", (a,)] = True
                for member in decision["members"]:
                    if member["committed"]:
                        facts["ack", (a, member["node"])] = True
                    if member["permitted"] is not None:
                        facts["cperm", (a, member["node"])] = member["permitted"]
            if trial:
                a = (j, number(trial["epoch"]))
                table[a] = tuple(trial["interval"])
                self.members[a] = [voter["node"] for voter in trial["voters"]]
                facts["trial", (a,)] = True
                if trial["purpose"] == "Improve":
                    base = (j, number(decision["epoch"])) if decision else None
                    improving[a] = improving.get(a) or base
                for voter in trial["voters"]:
                    if voter["lease"] is not None:
                        facts["vote", (a, voter["node"])] = True
                        facts["leased", (a, voter["node"])] = voter["lease"]
            self.old(j, task["old"], facts)

    def decision(self, j, decision, facts, table):
        a = (j, number(decision["epoch"]))
        table[a] = tuple(decision["interval"])
        self.members[a] = [member["node"] for member in decision["members"]]
        facts["decided", (a,)] = True
        for member in decision["members"]:
            n = member["node"]
            facts["cend", (a, n)] = member["end"]
            if member["ended"] is not None:
                facts["cended", (a, n)] = True
                facts["cdone", (a, n)] = member["ended"] == "Done"
        return a

    def old(self, j, old, facts):
        for entry in old:
            facts["old", (j, entry["node"])] = True
            facts["through", (j, entry["node"])] = number(entry["through"])
            facts["operm", (j, entry["node"])] = -1 if entry["permitted"] is None else entry["permitted"]

    def step(self, now, config, event, before, after, effects):
        self.members = {}
        table, improving, first, second = {}, {}, {}, {}
        self.look(after, second, table, improving)
        self.look(before, first, table, improving)
        sender = event.get("from") if isinstance(event, dict) else None
        message = event["message"] if kind(event) == "Message" else None
        readable, mentioned = set(), set()
        attempt = lambda value: ((value["job"], ME), number(value["epoch"]))
        until = {}
        if message is not None:
            what = kind(message)
            if what in ("Prepared", "Committed", "Ended", "Extend", "Expired", "Query", "Alive", "Refused"):
                a = attempt(message["attempt"])
                mentioned.add(a)
                if what == "Prepared":
                    readable.add(("prepared", (sender, a)))
                    for task in before["tasks"]:
                        trial = task["trial"]
                        if trial and (task["job"], number(trial["epoch"])) == (name_of(a[0]), a[1]):
                            # The lease began no earlier than the first question; of two answers, the earlier end counts.
                            known = first.get(("leased", (a, sender)), NEVER)
                            until[a] = min(known, trial["began"] + message["lease"])
                if what == "Committed":
                    readable.add(("committed", (sender, a)))
                if what == "Ended":
                    readable.add(("done" if message["outcome"] == "Done" else "ended", (sender, a)))
                if what == "Extend":
                    readable.add(("extend", (sender, a, message["until"])))
            elif what == "Released":
                a = ((message["job"], ME), number(message["through"]))
                mentioned.add(a)
                readable.add(("released", (sender, a[0], a[1])))
        if self.is_a_lie(message, sender, mentioned, first):
            return "outside"
        touched, mapped, kept = set(), [], []
        for effect in effects:
            told = self.effect(effect, attempt, table, mentioned, improving, kept)
            if told is not None:
                mapped.append(told)
                touched.add(told[0])
        for a in mentioned:
            table.setdefault(a, (0, 1))
        mapped = [(job, what, self.tidy(value) if what == "write" else value) for job, what, value in mapped]
        # What was undone within the step is known from its messages alone.
        first, second = self.tidy(first), self.tidy(second)
        beginning = []
        if event == "Start":
            life = number(after["life"]) << 32
            beginning.append(("restart", (ME, life)))
        for key in set(first.items()) ^ set(second.items()):
            touched.add(self.job_of(key[0]))
        if not mapped and first == second and not beginning:
            return None
        nodes = {n for members in self.members.values() for n in members}
        nodes |= {args[1] for (name, args) in [*first, *second] if name == "old"} | ({sender} if sender else set())
        nodes |= {value[1][1] for _, what, value in mapped if what == "send"}
        domain = {"Node": sorted(nodes | {ME}), "Attempt": sorted(table), "Job": sorted({a[0] for a in table} | {args[0] for (name, args) in [*first, *second] if name == "old"})}
        static = constants(config, now, table, self.members, {}, improving)
        first = {**first, ("clock", (ME,)): now}
        second = {**second, ("clock", (ME,)): now}
        touched |= {name_of(a[0]) for a in mentioned}
        touched.discard(None)
        tries = {job: self.tries(job, domain, until, readable, improving, kept) for job in sorted(touched)}
        return Step(static, domain, first, second, readable, mapped, tries, beginning)

    def is_a_lie(self, message, sender, mentioned, facts):
        """No honest node speaks of an attempt that was not made yet, has committed to one that was not decided on or is not
        its own, or tells two ends of one attempt. (Invariants of the theorem say so.)"""
        for a in mentioned:
            if a[1] > facts["top", (ME,)]:
                return True
            if kind(message) not in ("Committed", "Ended", "Extend", "Query"):
                continue
            # The trial of a job is its latest attempt; other numbers are of other jobs.
            later = any(name in ("decided", "trial") and args[0][0] == a[0] and args[0][1] < a[1] for name, args in facts)
            foreign = facts.get(("decided", (a,))) and sender not in self.members[a]
            other = False
            if kind(message) == "Ended" and facts.get(("cended", (a, sender))):
                other = bool(facts.get(("cdone", (a, sender)))) != (message["outcome"] == "Done")
            if later or foreign or other or facts.get(("trial", (a,))):
                return True
        return False

    def effect(self, effect, attempt, table, mentioned, improving, kept):
        what = kind(effect)
        if what == "Persist":
            if effect[1] == "Life":
                return None
            job, saved = effect[1][1], effect[2][1]
            facts = {}
            if saved["decided"]:
                self.decision((job, ME), saved["decided"], facts, table)
            self.old((job, ME), saved["old"], facts)
            facts = {key: value for key, value in facts.items() if value is not False}
            a = next((args[0] for (name, args) in facts if name == "decided"), None)
            if a and all(facts.get(("cdone", (a, n))) for n in self.members[a]):
                facts = {key: value for key, value in facts.items() if key[0] in ("old", "through", "operm")}
            return job, "write", facts
        if what == "Forget":
            return (effect[1][1], "write", {}) if effect[1] != "Life" else None
        if what == "Send":
            message, to = effect["message"], effect["to"]
            said = kind(message)
            if said == "Prepare":
                a = attempt(message["attempt"])
                table[a] = tuple(message["interval"])
                members = self.members.setdefault(a, [])
                if to not in members:
                    members.append(to)
                return name_of(a[0]), "send", ("prepare", (a, to))
            if said == "Commit":
                a = attempt(message["attempt"])
                return name_of(a[0]), "send", ("commit", (a, to))
            if said == "Abort":
                a = attempt(message["attempt"])
                mentioned.add(a)
                return name_of(a[0]), "send", ("abort", (ME, to, a))
            if said == "Permit" and message["until"] is not None:
                a = attempt(message["attempt"])
                return name_of(a[0]), "send", ("permit", (a, to, message["until"]))
            if said == "Release":
                a = ((message["job"], ME), number(message["through"]))
                mentioned.add(a)
                return name_of(a[0]), "send", ("release", (ME, to, a[0], a[1]))
            return None
        if what == "Notify":
            notice = effect[1]
            said = kind(notice)
            if said == "Kept" and notice["setback"] is not None:
                kept.append(notice["job"])
        return None

    def tries(self, job, domain, until, readable, improving, kept):
        """The actions that a coordinator may have taken for a job. `until` says how long a vote that was read lasts."""
        attempts = [a for a in domain["Attempt"] if name_of(a[0]) == job]
        nodes, found = domain["Node"], []
        for what, args in readable:
            if what == "prepared":
                n, a = args
                if a in until:
                    found.append(("count_vote", (a, n, until[a])))
            if what == "committed":
                # Either all that is older is forgotten, or nothing.
                found += [("note_commit", (args[1], args[0], k)) for k in (args[1][1], 0)]
            if what in ("ended", "done"):
                found.append((f"note_{'end' if what == 'ended' else 'done'}", (args[1], args[0])))
                found.append(("finish", (args[1], args[0])))
            if what == "extend":
                found.append(("agree", (args[1], args[0], args[2])))
            if what == "released":
                found.append(("note_release", args))
        for a in attempts:
            if job in kept and a in improving:
                found.append(("tell_kept", (a,)))
                continue
            found.append(("decide", (a,)))
            found += [("swap", (a, b)) for b in attempts if b[1] < a[1]]
            found.append(("open_start", (a,)))
            found.append(("fail_trial", (a,)))
            found.append(("propose", (a,)))
            found += [("finish", (a, n)) for n in self.members.get(a, ())[:1]]
            found.append(("retire", (a,)))
        found += [("drop_silent", (n, j)) for j in domain["Job"] if name_of(j) == job for n in nodes]
        return found
