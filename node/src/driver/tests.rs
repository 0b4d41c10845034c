use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Mutex;

use gridweave_core::admission::{Admission, Needs};
use gridweave_core::id::{Epoch, UserId};
use gridweave_core::job::{Payload, Submitter};
use gridweave_core::overlay::cyclon;
use gridweave_core::schedule::Attempt;
use gridweave_core::scheduler::agent::{AsapNode, Distance, Times};
use gridweave_core::scheduler::asap;
use gridweave_core::time::Interval;
use rand::SeedableRng;

use super::*;
use crate::control::{Again, Request, Submission};
use crate::store::Owner;

/// What was sent, and how many commits there had been by then.
type Sent = Arc<Mutex<Vec<(NodeId, u64)>>>;

struct Log {
    sent: Sent,
    metrics: Arc<Metrics>,
}

impl Outbox for Log {
    fn send(&mut self, to: NodeId, _: Vec<u8>, _: &[NodeId]) {
        self.sent.lock().unwrap().push((to, self.metrics.commits()));
    }

    fn host_of(&self, node: NodeId) -> Option<String> {
        (node == ME).then(|| "10.0.0.7".to_owned())
    }

    fn peers(&self) -> Vec<NodeId> {
        Vec::new()
    }

    fn known(&self) -> usize {
        1
    }
}

/// Programs that end when the test says so.
#[derive(Clone, Default)]
struct Programs(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    begun: Vec<Start>,
    ended: Vec<(AttemptId, Ended)>,
    survivors: Vec<(AttemptId, Survivor)>,
    stopped: Vec<AttemptId>,
    forgotten: Vec<AttemptId>,
    refuses: bool,
    running: usize,
}

impl Executor for Programs {
    fn begin(&mut self, start: &Start) -> Result<(), ExecutorError> {
        let mut inner = self.0.lock().unwrap();
        if inner.refuses {
            return Err(ExecutorError::Root);
        }
        inner.begun.push(start.clone());
        Ok(())
    }

    fn extend(&mut self, attempt: AttemptId, until: Time) {
        if until == Time::ZERO {
            self.0.lock().unwrap().stopped.push(attempt);
        }
    }

    fn survivors(&mut self) -> Result<Vec<(AttemptId, Survivor)>, ExecutorError> {
        Ok(std::mem::take(&mut self.0.lock().unwrap().survivors))
    }

    fn look(&mut self) -> Vec<(AttemptId, Ended)> {
        std::mem::take(&mut self.0.lock().unwrap().ended)
    }

    fn forget(&mut self, attempt: AttemptId) {
        self.0.lock().unwrap().forgotten.push(attempt);
    }

    fn running(&self) -> usize {
        self.0.lock().unwrap().running
    }
}

const ME: NodeId = NodeId::new(7);
const PEER: NodeId = NodeId::new(8);
const OWN: OrganisationId = OrganisationId::new(1);

struct Bench {
    folder: tempfile::TempDir,
    programs: Programs,
    sent: Sent,
    metrics: Arc<Metrics>,
}

type Node = Driver<AsapNode, Log, Programs>;

fn short(millis: u64) -> Option<Span> {
    Some(Span::from_millis(millis))
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            programs: Programs::default(),
            sent: Sent::default(),
            metrics: Arc::default(),
        }
    }

    fn store(folder: &Path) -> Result<Store, StoreError> {
        let owner = Owner {
            node: ME,
            scheduler: AsapNode::NAME,
        };
        Store::open(&folder.join("store"), owner)
    }

    fn start(&self, introducer: Option<NodeId>) -> Node {
        let setup = Setup {
            me: ME,
            introducers: introducer.map(Into::into),
            organisation: OWN,
            admission: Admission::All,
            distance: Distance::Lan,
            times: Times {
                slot: short(10),
                lead: short(30),
                commit_lead: short(10),
                margin: short(0),
                ..Times::default()
            },
            cores: NonZeroU32::MIN,
            memory: 1,
            accelerators: 0,
            most: [1, 1, 1],
            mirror: None,
        };
        let parts = Parts {
            identity: Identity {
                node: ME,
                organisation: OWN,
                name: "alpha".to_owned(),
            },
            store: Self::store(self.folder.path()).unwrap(),
            outbox: Log {
                sent: self.sent.clone(),
                metrics: self.metrics.clone(),
            },
            executor: self.programs.clone(),
            clock: Clock::with_offset(0),
            metrics: self.metrics.clone(),
            events: Events::new(),
            rng: StdRng::seed_from_u64(1),
            most_jobs_per_user: Some(1),
        };
        Driver::start(&setup, parts).unwrap()
    }

    /// Works until this is so.
    fn work(&self, node: &mut Node, is_so: impl Fn(&Inner, &Jobs) -> bool) {
        let began = Instant::now();
        while !is_so(&self.programs.0.lock().unwrap(), &node.jobs) {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "it takes too long"
            );
            std::thread::sleep(node.wait().min(Duration::from_millis(5)));
            assert_eq!(node.step(Vec::new()).unwrap(), Goes::On);
        }
    }
}

/// Asks, and returns the answer, which comes in the same step.
fn ask(node: &mut Node, request: Request) -> Answer {
    let heard = Arc::new(Mutex::new(None));
    let hearing = heard.clone();
    let request = Input::Request {
        request,
        user: 1000,
        answer: Box::new(move |answer| *hearing.lock().unwrap() = Some(answer)),
    };
    node.step(vec![request]).unwrap();
    let answer = heard.lock().unwrap().take();
    answer.expect("it is given when the batch is durable")
}

fn submission() -> Request {
    Request::Submit(Box::new(Submission {
        program: Program {
            argv: vec!["true".to_owned()],
            ..Program::default()
        },
        nodes: 1,
        cores: None,
        memory: 0,
        accelerators: 0,
        seconds: 5.0,
        count: 1,
        again: Again::Never,
        times: 0,
    }))
}

fn end(attempt: AttemptId, submitter: Submitter) -> (AttemptId, Ended) {
    let ended = Ended {
        outcome: Outcome::Done,
        submitter,
        began: Time::from_secs(10),
        ended: Time::from_secs(12),
        how: "exit status 0".to_owned(),
    };
    (attempt, ended)
}

#[test]
fn records_are_durable_before_the_first_message() {
    let bench = Bench::new();
    let node = bench.start(Some(PEER));
    let sent = bench.sent.lock().unwrap().clone();
    assert!(
        sent.iter().any(|(to, _)| *to == PEER),
        "it asks its introducer"
    );
    assert!(sent.iter().all(|(_, commits)| *commits > 0), "{sent:?}");
    let records = node.host.records().len();
    drop(node);
    let store = Bench::store(bench.folder.path()).unwrap();
    let kept = store.records::<asap::Record>().unwrap();
    assert_eq!(kept.len(), records);
    assert!(records > 0);
}

#[test]
fn a_job_is_started_with_its_nodes_and_charged_to_its_user_when_it_ends() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    let Answer::Ok(answer) = ask(&mut node, submission()) else {
        panic!("it is taken");
    };
    assert!(answer["job"].as_str().unwrap().starts_with('j'));
    bench.work(&mut node, |inner, _| !inner.begun.is_empty());
    let start = bench.programs.0.lock().unwrap().begun[0].clone();
    assert_eq!((start.rank, start.submitter.user.get()), (0, 1000));
    assert_eq!(
        (&start.nodes[..], &start.addresses[..]),
        (&["n7".to_owned()][..], &["10.0.0.7".to_owned()][..])
    );
    bench.programs.0.lock().unwrap().ended = vec![end(start.attempt, start.submitter)];
    node.step(vec![Input::Look]).unwrap();
    bench.work(&mut node, |_, jobs| jobs.len() == 0);
    assert_eq!(bench.programs.0.lock().unwrap().forgotten, [start.attempt]);
    let Answer::Ok(jobs) = ask(&mut node, Request::Jobs { all: true }) else {
        panic!("they are listed");
    };
    assert_eq!(jobs[0]["phase"], "done");
    let Answer::Ok(usage) = ask(&mut node, Request::Usage) else {
        panic!("it is summed");
    };
    assert_eq!(
        (&usage[0]["user"], &usage[0]["node_seconds"]),
        (&1000.into(), &2.0.into())
    );
}

#[test]
fn an_end_that_the_agent_did_not_see_is_reported_by_its_next_life() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    ask(&mut node, submission());
    bench.work(&mut node, |inner, _| !inner.begun.is_empty());
    let start = bench.programs.0.lock().unwrap().begun[0].clone();
    drop(node);
    let (attempt, ended) = end(start.attempt, start.submitter);
    bench.programs.0.lock().unwrap().survivors = vec![(attempt, Survivor::Ended(ended))];
    let mut node = bench.start(None);
    bench.work(&mut node, |_, jobs| jobs.len() == 0);
    let inner = bench.programs.0.lock().unwrap();
    assert_eq!(
        (inner.begun.len(), &inner.forgotten[..]),
        (1, &[attempt][..])
    );
    drop(inner);
    let Answer::Ok(jobs) = ask(&mut node, Request::Jobs { all: true }) else {
        panic!("they are listed");
    };
    assert_eq!(jobs[0]["phase"], "done");
}

#[test]
fn a_program_that_cannot_be_started_fails_its_job() {
    let bench = Bench::new();
    bench.programs.0.lock().unwrap().refuses = true;
    let mut node = bench.start(None);
    ask(&mut node, submission());
    bench.work(&mut node, |_, jobs| jobs.len() == 0);
    let Answer::Ok(jobs) = ask(&mut node, Request::Jobs { all: true }) else {
        panic!("they are listed");
    };
    assert_eq!(jobs[0]["why"], "it broke while it ran");
}

#[test]
fn bad_requests_are_answered_with_a_reason() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    let refused = |answer| match answer {
        Answer::Error(why) => why,
        Answer::Ok(value) => panic!("it is answered: {value}"),
    };
    let with = |change: fn(&mut Submission)| {
        let Request::Submit(mut submission) = submission() else {
            unreachable!("it is one");
        };
        change(&mut submission);
        Request::Submit(submission)
    };
    let cancel = |job: &str| Request::Cancel {
        job: job.to_owned(),
    };
    assert!(refused(ask(&mut node, cancel("7"))).contains("write its id"));
    assert!(refused(ask(&mut node, cancel("j7"))).contains("no unfinished job j7"));
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        let request = with(|submission| submission.seconds = 0.0);
        let Request::Submit(mut submission) = request else {
            unreachable!("it is one");
        };
        submission.seconds = seconds;
        assert!(refused(ask(&mut node, Request::Submit(submission))).contains("time"));
    }
    assert!(refused(ask(&mut node, with(|job| job.nodes = 0))).contains("nodes"));
    assert!(refused(ask(&mut node, with(|job| job.program.argv.clear()))).contains("run"));
    let too_long = with(|job| job.program.argv.push("x".repeat(5000)));
    assert!(refused(ask(&mut node, too_long)).contains("4096"));
    ask(&mut node, submission());
    assert!(
        refused(ask(&mut node, submission())).contains("unfinished jobs"),
        "a quota"
    );
}

#[test]
fn a_frame_that_is_malformed_or_for_another_organisation_is_dropped_and_counted() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    let frame = |bytes: Vec<u8>| Input::Frame {
        from: PEER,
        organisation: OWN,
        bytes,
    };
    node.step(vec![frame(vec![0; 100]), frame(Vec::new())])
        .unwrap();
    assert_eq!(bench.metrics.count("dropped", "not in the wire format"), 2);

    let prepare = |organisation| {
        asap::Message::<8>::Commit(gridweave_core::commit::Message::Prepare {
            attempt: Attempt {
                job: JobId::new(1),
                epoch: Epoch::new(1),
            },
            interval: Interval::starting(node_time(), Span::from_secs(5)).unwrap(),
            lease: Span::from_secs(1),
            submitter: Submitter {
                user: UserId::new(5),
                organisation,
            },
            needs: Needs::NOTHING,
            payload: Payload::EMPTY,
        })
    };
    let before = bench.sent.lock().unwrap().len();
    let other = wire::encode(&prepare(OrganisationId::new(9))).unwrap();
    node.step(vec![frame(other)]).unwrap();
    assert_eq!(
        bench.metrics.count("dropped", "for another organisation"),
        1
    );
    assert_eq!(
        bench.sent.lock().unwrap().len(),
        before,
        "it gets no answer"
    );
    let own = wire::encode(&prepare(OWN)).unwrap();
    node.step(vec![frame(own)]).unwrap();
    assert!(bench.sent.lock().unwrap().len() > before, "this one does");
    let join = asap::Message::<8>::Overlay(cyclon::Message::Join {
        incarnation: gridweave_core::id::Incarnation::new(0),
    });
    node.step(vec![frame(wire::encode(&join).unwrap())])
        .unwrap();
    assert_eq!(bench.metrics.count("messages_received", join.kind()), 1);
}

/// A start in the near future.
fn node_time() -> Time {
    let now = Clock::with_offset(0).now();
    (now + Span::from_secs(5)).round_up(Span::from_millis(10))
}

#[test]
fn a_node_is_not_drained_while_its_site_stops_a_job() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    ask(&mut node, Request::Drain);
    let mut drained = |running| {
        bench.programs.0.lock().unwrap().running = running;
        match ask(&mut node, Request::Status) {
            Answer::Ok(status) => status["drained"].as_bool(),
            refused => panic!("{refused:?}"),
        }
    };
    assert_eq!(drained(1), Some(false));
    assert_eq!(drained(0), Some(true));
}

#[test]
fn draining_lasts_over_a_restart() {
    let bench = Bench::new();
    let mut node = bench.start(None);
    ask(&mut node, Request::Drain);
    assert!(node.machine().unwrap().is_drained());
    drop(node);
    let mut node = bench.start(None);
    assert!(node.machine().unwrap().is_drained());
    ask(&mut node, Request::Resume);
    assert!(!node.machine().unwrap().is_drained());
}
