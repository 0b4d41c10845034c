//! Steps of the code, written down for the proofs: `tests/proofs` evaluates on each of them the relation that the solver
//! proved.
//!
//! With `GRIDWEAVE_STEPS` set to a file, the model checker, the simulated commits and the fuzz bodies write every step
//! there that differs from all before: a machine before and after an event, the event, and the effects. Values are
//! written as their `Debug` text says, as JSON; what they mean is for the proofs. `GRIDWEAVE_STEPS_MOST` bounds the number
//! of steps. Without the variable nothing is written. In a build with `--cfg canary`, `GRIDWEAVE_CANARY` names a mistake
//! that the core makes meanwhile.
//!
//! A line is `["config", …]` or `["state", …]`, both counted from zero, or
//! `["step", SOURCE, NOW, CONFIG, EVENT, BEFORE, AFTER, EFFECTS]`.

mod text;

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::ops::Deref;
use std::sync::{Mutex, OnceLock};

use gridweave_core::machine::{Context, Effect, EffectQueue, Event, Machine, Violation};
use gridweave_core::time::Time;

/// What is written once and then named by its number.
#[derive(Default)]
struct Named {
    numbers: HashMap<u64, usize>,
}

struct Recorder {
    file: BufWriter<File>,
    configs: Named,
    states: Named,
    steps: HashSet<u64>,
    left: usize,
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Named {
    fn number(&mut self, kind: &str, text: &str, file: &mut impl Write) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(hash(text)).or_insert_with(|| {
            writeln!(file, "[\"{kind}\",{text}]").expect("steps can be written");
            next
        })
    }
}

fn recorder() -> Option<&'static Mutex<Recorder>> {
    static RECORDER: OnceLock<Option<Mutex<Recorder>>> = OnceLock::new();
    let open = || {
        let path = env::var_os("GRIDWEAVE_STEPS")?;
        #[cfg(canary)]
        plant();
        let most = env::var("GRIDWEAVE_STEPS_MOST").ok();
        let left = most.map_or(usize::MAX, |most| most.parse().expect("a number of steps"));
        Some(Mutex::new(Recorder {
            file: BufWriter::new(File::create(path).expect("the file of steps can be written")),
            configs: Named::default(),
            states: Named::default(),
            steps: HashSet::new(),
            left,
        }))
    };
    RECORDER.get_or_init(open).as_ref()
}

/// Plants the canary that the environment names.
#[cfg(canary)]
fn plant() {
    use gridweave_core::canary::{Canary, plant};
    if let Ok(name) = env::var("GRIDWEAVE_CANARY") {
        let named = |canary: &&Canary| format!("{canary:?}") == name;
        let canary = Canary::ALL.iter().find(named);
        plant(Some(*canary.expect("GRIDWEAVE_CANARY names a canary")));
    }
}

/// Whether steps are written down.
pub fn is_recording() -> bool {
    recorder().is_some()
}

/// Writes a step down, unless an equal one was.
pub fn record<M: Machine>(
    source: &str,
    now: Time,
    event: &Event<M>,
    before: &M,
    after: &M,
    effects: &EffectQueue<M>,
) {
    // Records are taken back silently, one by one: the step is the start behind them.
    if matches!(event, Event::Restored(..)) {
        return;
    }
    if !is_recording() {
        return;
    }
    let mut told = String::from("[");
    for effect in effects.iter() {
        if !matches!(effect, Effect::Wake { .. } | Effect::Cancel(_)) {
            let comma = if told.len() > 1 { "," } else { "" };
            write!(told, "{comma}{}", text::json(effect)).expect("a string takes it");
        }
    }
    told.push(']');
    write(source, now, event, before, after, &told);
}

/// Writes a step of a layer down that is no machine.
pub fn record_call<T: Debug>(
    source: &str,
    call: &impl Debug,
    before: &T,
    after: &T,
    answer: &impl Debug,
) {
    let told = format!("[{}]", text::json(answer));
    write(source, Time::ZERO, call, before, after, &told);
}

fn write<T: Debug>(source: &str, now: Time, event: &impl Debug, before: &T, after: &T, told: &str) {
    let Some(recorder) = recorder() else {
        return;
    };
    let (before, config) = text::state(before);
    let (after, _) = text::state(after);
    let event = text::json(event);
    let recorder = &mut *recorder.lock().expect("no writer panicked");
    if recorder.left == 0 {
        return;
    }
    let Recorder {
        file,
        configs,
        states,
        steps,
        left,
    } = recorder;
    let config = configs.number("config", &config, file);
    let before = states.number("state", &before, file);
    let after = states.number("state", &after, file);
    let now = now.as_micros();
    let step = format!("[\"step\",\"{source}\",{now},{config},{event},{before},{after},{told}]");
    if steps.insert(hash(&step)) {
        *left -= 1;
        writeln!(file, "{step}").expect("steps can be written");
        // The process may end at any time.
        file.flush().expect("steps can be written");
    }
}

/// A machine whose steps are written down.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recorded<M> {
    machine: M,
    source: &'static str,
}

impl<M> Recorded<M> {
    /// Writes the steps of a machine down, as of this source.
    pub const fn new(machine: M, source: &'static str) -> Self {
        Self { machine, source }
    }
}

impl<M> Deref for Recorded<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.machine
    }
}

fn inner<M: Machine>(event: Event<Recorded<M>>) -> Event<M> {
    match event {
        Event::Start => Event::Start,
        Event::Message { from, message } => Event::Message { from, message },
        Event::Unreachable { to } => Event::Unreachable { to },
        Event::Timer(timer) => Event::Timer(timer),
        Event::Command(command) => Event::Command(command),
        Event::Restored(key, record) => Event::Restored(key, record),
    }
}

fn outer<M: Machine>(effect: Effect<M>) -> Effect<Recorded<M>> {
    match effect {
        Effect::Persist(key, record) => Effect::Persist(key, record),
        Effect::Forget(key) => Effect::Forget(key),
        Effect::Send { to, message } => Effect::Send { to, message },
        Effect::Wake { at, timer } => Effect::Wake { at, timer },
        Effect::Cancel(timer) => Effect::Cancel(timer),
        Effect::Notify(notice) => Effect::Notify(notice),
    }
}

impl<M: Machine> Machine for Recorded<M> {
    type Message = M::Message;
    type Timer = M::Timer;
    type Command = M::Command;
    type Notice = M::Notice;
    type Key = M::Key;
    type Record = M::Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let (event, now) = (inner(event), cx.now());
        let before = is_recording().then(|| (self.machine.clone(), event.clone()));
        let mut effects = EffectQueue::new();
        effects.feed(&mut self.machine, event, now, cx.rng());
        if let Some((before, event)) = before {
            record(self.source, now, &event, &before, &self.machine, &effects);
        }
        for effect in effects.drain() {
            cx.push(outer(effect));
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.machine.check()
    }
}
