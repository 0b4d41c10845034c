//! A small grid whose messages travel as bytes, whichever scheduler it has.

use std::collections::BTreeMap;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Job, News, Notice, Outcome};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine, TimerQueue};
use gridweave_core::time::{Span, Time};
use gridweave_core::wire::{self, Framed, HEADER, RECORD_VERSION, Refused, Stored};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Each, Path, paths};
use crate::scaled;

/// How long a message is on its way.
const DELAY: Span = Span::from_millis(20);

/// The traffic of a grid, and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// How many frames there were of each kind, and how long the longest was.
    pub kinds: BTreeMap<String, (usize, usize)>,
    /// How many jobs are done.
    pub finished: usize,
    /// How many records were written.
    pub written: usize,
    /// The longest record, in bytes.
    pub longest_record: usize,
}

impl Said {
    /// How many frames there were.
    pub fn frames(&self) -> usize {
        self.kinds.values().map(|(count, _)| count).sum()
    }

    fn note(&mut self, frame: &[u8], paths: &[Path]) {
        let body = &frame[HEADER..];
        let path = paths
            .iter()
            .find(|path| body.starts_with(&path.numbers))
            .expect("it is of some kind");
        assert!(frame.len() <= path.cap, "{} is too long", path.name);
        let (count, longest) = self.kinds.entry(path.name.clone()).or_default();
        (*count, *longest) = (*count + 1, frame.len().max(*longest));
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Alarm<T> {
    Boot(usize),
    Machine(usize, T),
    /// The frame with this number arrives.
    Frame(u64),
    Submission(usize),
    /// The program of a job on a node ends.
    Program(usize, JobId, Epoch),
}

/// A record survives as bytes, but no cut or longer one, nor one of another version. Returns the bytes.
fn check_record<R>(key: &R::Key, record: &R) -> Vec<u8>
where
    R: Stored<Key: PartialEq + core::fmt::Debug> + PartialEq + core::fmt::Debug,
{
    let entry = wire::encode_record(key, record).expect("what a node writes is not too long");
    let (read_key, read) = wire::decode_record::<R>(&entry).expect("what was written can be read");
    assert_eq!((&read_key, &read), (key, record));
    let key = wire::encode_key::<R>(key).expect("a key can be encoded");
    // The entry has the key behind its version.
    assert!(entry[1..].starts_with(&key));
    for end in (0..entry.len()).step_by(scaled(1, 7) as usize) {
        let refused = wire::decode_record::<R>(&entry[..end]).expect_err("it is cut");
        assert!(
            matches!(refused, Refused::Empty | Refused::CutShort { .. }),
            "{refused:?}"
        );
    }
    let longer = [&entry[..], &[7]].concat();
    let refused = wire::decode_record::<R>(&longer).expect_err("it is longer");
    assert_eq!(refused, Refused::Trailing { at: entry.len() });
    let later = [&[RECORD_VERSION + 1], &entry[1..]].concat();
    let refused = wire::decode_record::<R>(&later).expect_err("it has another version");
    assert_eq!(
        refused,
        Refused::Version {
            found: RECORD_VERSION + 1,
            understood: RECORD_VERSION,
        }
    );
    entry
}

/// Boots the nodes half a minute apart, submits each job at its time and node, and runs for `until` seconds. Programs
/// take two thirds of their estimate.
pub fn run<M>(mut nodes: Vec<M>, jobs: &[(u64, usize, Job)], until: u64) -> Said
where
    M: Machine<Message: Each, Command = Command, Notice = Notice, Record: Stored<Key = M::Key>>,
{
    let (mut said, paths) = (Said::default(), paths(M::Message::KINDS));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut effects, mut alarms) = (EffectQueue::new(), TimerQueue::new());
    let (mut frames, mut sent) = (BTreeMap::<u64, (usize, usize, Vec<u8>)>::new(), 0);
    for node in 0..nodes.len() {
        alarms.wake(Time::from_secs(30 * node as u64), Alarm::Boot(node));
    }
    for (number, (at, ..)) in jobs.iter().enumerate() {
        alarms.wake(Time::from_secs(*at), Alarm::Submission(number));
    }
    while let Some(now) = alarms
        .next_at()
        .filter(|now| *now <= Time::from_secs(until))
    {
        let Some((_, alarm)) = alarms.pop_due(now) else {
            break;
        };
        let (node, event) = match alarm {
            Alarm::Boot(node) => (node, Event::Start),
            Alarm::Machine(node, timer) => (node, Event::Timer(timer)),
            Alarm::Frame(number) => {
                let (from, to, frame) = frames.remove(&number).expect("it was sent");
                let message = wire::decode(&frame).expect("what a node says can be read");
                let from = NodeId::new(from as u64);
                (to, Event::Message { from, message })
            }
            Alarm::Submission(number) => {
                let (_, node, mut job) = jobs[number];
                job.submitted = now;
                (node, Event::Command(Command::submit(job)))
            }
            Alarm::Program(node, job, attempt) => {
                let outcome = Outcome::Done;
                let ended = Command::Ended {
                    job,
                    attempt,
                    outcome,
                };
                (node, Event::Command(ended))
            }
        };
        effects.feed(&mut nodes[node], event, now, &mut rng);
        for effect in effects.drain() {
            match effect {
                Effect::Persist(key, record) => {
                    let entry = check_record::<M::Record>(&key, &record);
                    said.written += 1;
                    said.longest_record = said.longest_record.max(entry.len());
                }
                Effect::Forget(_) => {}
                Effect::Send { to, message } => {
                    let frame = wire::encode(&message).expect("what a node says is not too long");
                    said.note(&frame, &paths);
                    frames.insert(sent, (node, to.get() as usize, frame));
                    alarms.wake(now + DELAY, Alarm::Frame(sent));
                    sent += 1;
                }
                Effect::Wake { at, timer } => alarms.wake(at, Alarm::Machine(node, timer)),
                Effect::Cancel(timer) => alarms.cancel(Alarm::Machine(node, timer)),
                Effect::Notify(Notice { job, news }) => {
                    let program = |attempt| Alarm::Program(node, job, attempt);
                    match news {
                        News::Started { attempt, .. } => {
                            let wanted = jobs.iter().find(|(.., wanted)| wanted.id == job);
                            let (.., wanted) = wanted.expect("it was submitted");
                            let micros = wanted.estimate().as_micros() * 2 / 3;
                            alarms.wake(now + Span::from_micros(micros), program(attempt));
                        }
                        News::Stopped { attempt } => alarms.cancel(program(attempt)),
                        News::Finished => said.finished += 1,
                        _ => {}
                    }
                }
            }
        }
    }
    said
}
