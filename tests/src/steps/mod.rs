//! Steps of the code, written down for the proofs: `tests/proofs` evaluates on each of them the relation that the solver
//! proved.
//!
//! With `GRIDWEAVE_STEPS` set to a file, [`watch`] has every step of a layer that was proved written there that differs
//! from all before, wherever the layer runs: a machine before and after an event, the event, and the effects. That needs
//! a build with `--cfg canary`, in which `GRIDWEAVE_CANARY` may name a mistake that the core makes meanwhile. Values are
//! written as their `Debug` text says, as JSON; what they mean is for the proofs. `GRIDWEAVE_STEPS_MOST` bounds the number
//! of steps. Without the variable nothing is written.
//!
//! A line is `["config", …]` or `["state", …]`, both counted from zero, or
//! `["step", NOW, CONFIG, EVENT, BEFORE, AFTER, EFFECTS]`.

mod text;

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::sync::{Mutex, OnceLock};

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
    /// The numbers of a state and its configuration, by the hash of its `Debug` text: to read that takes longest.
    texts: HashMap<u64, (usize, usize)>,
    steps: HashSet<u64>,
    left: usize,
}

impl Recorder {
    fn state(&mut self, text: &str) -> (usize, usize) {
        let Self {
            file,
            configs,
            states,
            texts,
            ..
        } = self;
        *texts.entry(hash(text)).or_insert_with(|| {
            let (state, config) = text::read(text);
            let config = configs.number("config", &config, file);
            (states.number("state", &state, file), config)
        })
    }
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
        let most = env::var("GRIDWEAVE_STEPS_MOST").ok();
        let left = most.map_or(usize::MAX, |most| most.parse().expect("a number of steps"));
        Some(Mutex::new(Recorder {
            file: BufWriter::new(File::create(path).expect("the file of steps can be written")),
            configs: Named::default(),
            states: Named::default(),
            texts: HashMap::new(),
            steps: HashSet::new(),
            left,
        }))
    };
    RECORDER.get_or_init(open).as_ref()
}

/// Has the steps of the core written down from now on, if the environment names a file. Plants the mistake that the
/// environment names.
#[cfg(canary)]
pub fn watch() {
    use std::sync::Once;

    use gridweave_core::canary::{Canary, plant};
    use gridweave_core::steps;

    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Ok(name) = env::var("GRIDWEAVE_CANARY") {
            let named = |canary: &&Canary| format!("{canary:?}") == name;
            let canary = Canary::ALL.iter().find(named);
            plant(Some(*canary.expect("GRIDWEAVE_CANARY names a canary")));
        }
        if is_recording() {
            steps::watch(|step| {
                let text = |value: &dyn Debug| format!("{value:?}");
                let event = text(step.event);
                let states = (text(step.before), text(step.after));
                write(
                    step.now,
                    &event,
                    (&states.0, &states.1),
                    &text(step.effects),
                );
            });
        }
    });
}

/// Nothing: a build without `--cfg canary` shows no steps.
#[cfg(not(canary))]
pub const fn watch() {}

/// Whether steps are written down.
pub fn is_recording() -> bool {
    recorder().is_some()
}

/// Writes a step down of a layer that is no machine, unless an equal one was.
pub fn record_call<T: Debug>(call: &impl Debug, before: &T, after: &T, answer: &impl Debug) {
    let states = (format!("{before:?}"), format!("{after:?}"));
    let (call, told) = (format!("{call:?}"), format!("[{answer:?}]"));
    write(Time::ZERO, &call, (&states.0, &states.1), &told);
}

fn write(now: Time, event: &str, (before, after): (&str, &str), told: &str) {
    let Some(recorder) = recorder() else {
        return;
    };
    let now = now.as_micros();
    let mut key = String::new();
    write!(key, "{now} {event} {before} {after} {told}").expect("a string takes it");
    let recorder = &mut *recorder.lock().expect("no writer panicked");
    if recorder.left == 0 || !recorder.steps.insert(hash(&key)) {
        return;
    }
    recorder.left -= 1;
    let (before, config) = recorder.state(before);
    let (after, _) = recorder.state(after);
    let (event, _) = text::read(event);
    let (told, _) = text::read(told);
    let step = format!("[\"step\",{now},{config},{event},{before},{after},{told}]");
    writeln!(recorder.file, "{step}").expect("steps can be written");
    // The process may end at any time.
    recorder.file.flush().expect("steps can be written");
}
