//! One `asap` node among liars: bytes choose messages, timers, commands and crashes.

use gridweave_core::admission::{Admission, Attributes, Needs, Stated, Tally};
use gridweave_core::commit::{self, Everyone};
use gridweave_core::id::{JobId, NodeId, OrganisationId};
use gridweave_core::job::Job;
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{
    Asap, AskId, Bootstrap, Choice, Config, Declined, Exchange, Known, Links, Message, Offer,
    Others, Reason, SearchId, Searcher, Timer, Wanted,
};
use gridweave_core::time::{Span, Time};

use super::choices::Choices;
use super::coallocation::{self, COMMIT, PEERS, SLOT, Scheduler};
use super::host::{ME, Seen};

const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: 4,
        shuffle: 3,
        period: Span::from_micros(400),
        timeout: Span::from_micros(40),
        ..Config::DEFAULT.overlay
    },
    forward: 1,
    max_hops: 3,
    width: 2,
    slot: SLOT,
    lead: Span::from_micros(32),
    margin: Span::from_micros(4),
    rounds: 3,
    improve: Some(Span::from_micros(60)),
    patience: Span::from_micros(300),
    timeout: Span::from_micros(8),
    search_limit: Span::from_micros(40),
    commit: COMMIT,
    windows: 2,
    subscribers: 2,
    searches: 2,
    candidates: 8,
    ..Config::DEFAULT
};

struct Subject {
    config: Config,
    /// How often there was no room for a search or a subscriber, up to the last look.
    declined: u64,
}

/// Drives a node, and says what came of it.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, PEERS);
    let config = Config {
        links: choices.pick([Links::Static, Links::Dynamic]),
        exchange: choices.pick([
            Exchange::Push {
                lease: Span::from_micros(120),
            },
            Exchange::Pull,
            Exchange::Poll {
                period: Span::from_micros(60),
            },
        ]),
        searcher: choices.pick([Searcher::Included, Searcher::Excluded]),
        choice: choices.pick([Choice::Nearest, Choice::BestFit]),
        ..CONFIG
    };
    let subject = Subject {
        config,
        declined: 0,
    };
    coallocation::drive(subject, choices)
}

impl Scheduler for Subject {
    type Node = Asap<4, 3>;

    const TIMERS: [Timer; 3] = [
        Timer::Due,
        Timer::Desk(commit::Timer::Coordinator),
        Timer::Desk(commit::Timer::Participant),
    ];

    fn build(&self) -> Self::Node {
        let peers = (1..4).map(NodeId::new).collect();
        Asap::new(ME, self.config, Bootstrap::Meet(peers), Everyone).expect("the rules are sound")
    }

    fn commitments(node: &Self::Node) -> &commit::Node<Everyone> {
        node.commitments()
    }

    fn jobs(node: &Self::Node) -> Vec<JobId> {
        node.jobs().collect()
    }

    fn kind_of(message: &Message<3>) -> Option<&'static str> {
        match message {
            Message::Found { .. } => Some("found"),
            Message::Schedule {
                reason: Reason::Changed,
                ..
            } => Some("pushed"),
            _ => None,
        }
    }

    fn answer(
        &self,
        now: Time,
        _peer: NodeId,
        message: Message<3>,
        choices: &mut Choices<'_>,
    ) -> Option<Message<3>> {
        Some(match message {
            Message::Commit(message) => {
                Message::Commit(coallocation::vote(now, &message, choices)?)
            }
            Message::Search { ask, wanted } if choices.below(4) > 0 => Message::Found {
                ask,
                offer: offer(now, &wanted, choices),
            },
            Message::Search { ask, .. } => Message::NotFound {
                ask,
                seen: tally(choices.below(4)),
            },
            Message::WhoElse { search } => Message::Others {
                search,
                known: others(now, choices),
            },
            Message::Fetch(reason) => Message::Schedule {
                reason,
                stated: stated(choices),
                schedule: coallocation::schedule(now, choices),
            },
            Message::Subscribe { .. } => Message::Schedule {
                reason: Reason::NewLink,
                stated: stated(choices),
                schedule: coallocation::schedule(now, choices),
            },
            Message::Schedule { .. } => Message::Fetch(Reason::Poll),
            Message::Overlay(cyclon::Message::Shuffle { exchange, .. }) => {
                let links = coallocation::links(choices);
                Message::Overlay(cyclon::Message::Shuffled { exchange, links })
            }
            _ => return None,
        })
    }

    fn forge(now: Time, choices: &mut Choices<'_>) -> Message<3> {
        let ask = AskId {
            job: choices.job(),
            round: u32::from(choices.below(4)),
        };
        let wanted = Wanted {
            count: u32::from(choices.below(6)),
            from: coallocation::time(now, choices),
            length: Span::from_micros(coallocation::number(now, choices)),
            organisation: OrganisationId::new(0),
            needs: Needs::NOTHING,
        };
        match choices.below(14) {
            0 | 1 => Message::Search { ask, wanted },
            2 => Message::Found {
                ask,
                offer: offer(now, &wanted, choices),
            },
            3 => Message::NotFound {
                ask,
                seen: tally(choices.byte()),
            },
            4 => Message::WhoElse {
                search: search_id(choices),
            },
            5 => Message::Others {
                search: search_id(choices),
                known: others(now, choices),
            },
            6 => Message::Fetch(reason(choices)),
            7 => Message::Schedule {
                reason: reason(choices),
                stated: stated(choices),
                schedule: coallocation::schedule(now, choices),
            },
            8 => Message::Subscribe {
                known: (choices.below(2) == 0).then(|| coallocation::number(now, choices)),
            },
            9 => Message::Unsubscribe,
            10 | 11 => Message::Commit(coallocation::forged_request(now, choices)),
            12 => Message::Commit(coallocation::forged_vote(now, choices)),
            _ => Message::Overlay(coallocation::forged_exchange(choices)),
        }
    }

    fn wish(job: Job, _choices: &mut Choices<'_>) -> Job {
        job
    }

    fn look(&mut self, node: &Self::Node, seen: &mut Seen) {
        let Declined {
            searches,
            subscriptions,
        } = node.declined();
        let declined = searches + subscriptions;
        if declined > self.declined {
            *seen.entry("declined").or_default() += 1;
        }
        self.declined = declined;
    }
}

/// An offer, most often one that suits the request.
fn offer(now: Time, wanted: &Wanted, choices: &mut Choices<'_>) -> Offer {
    let count = match choices.below(8) {
        0 => usize::from(choices.below(5)),
        _ => wanted.count.min(4) as usize,
    };
    let start = match choices.below(4) {
        0 => coallocation::time(now, choices),
        _ => wanted.from,
    };
    let first = choices.byte();
    let nodes = match choices.below(8) {
        0 => (0..count).map(|_| choices.peer()).collect(),
        _ => (0..count)
            .map(|node| NodeId::new((u64::from(first) + node as u64) % u64::from(PEERS)))
            .collect(),
    };
    Offer {
        start,
        hops: choices.below(4),
        nodes,
    }
}

fn others(now: Time, choices: &mut Choices<'_>) -> Others {
    (0..choices.below(7))
        .map(|_| Known {
            node: NodeId::new(u64::from(choices.below(12))),
            stated: stated(choices),
            schedule: coallocation::schedule(now, choices),
        })
        .collect()
}

/// What a search saw, in which more or fewer nodes could run the job.
fn tally(drawn: u8) -> Tally {
    Tally {
        suited: u32::from(drawn & 3),
        closed: u32::from(drawn >> 2 & 7),
        lacking: u32::from(drawn >> 5),
    }
}

/// What a peer states, most often nothing.
fn stated(choices: &mut Choices<'_>) -> Stated {
    if choices.below(8) > 0 {
        return Stated::NOTHING;
    }
    Stated::new(Attributes {
        organisation: OrganisationId::new(u32::from(choices.below(2))),
        admission: Admission::Own,
        ..Attributes::default()
    })
}

fn search_id(choices: &mut Choices<'_>) -> SearchId {
    // Only a searcher can make a search id. On the wire it is a small number.
    postcard::from_bytes(&[choices.below(8)]).expect("a small number is a name")
}

fn reason(choices: &mut Choices<'_>) -> Reason {
    let search = search_id(choices);
    choices.pick([
        Reason::Changed,
        Reason::Search(search),
        Reason::Poll,
        Reason::NewLink,
    ])
}
