//! Not part of the tool: the tool adds this module to its copy of the core. Every mutant asks here whether it is on.
extern crate std as host;

use core::intrinsics::const_eval_select;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use self::host::boxed::Box;
use self::host::io::Write;

/// More than there are mutants.
const MOST: usize = 1 << 14;
const NONE: u32 = u32::MAX - 2;
const RECORD: u32 = u32::MAX - 1;
const NOT_ASKED: u32 = u32::MAX;

static WHICH: AtomicU32 = AtomicU32::new(NOT_ASKED);
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// Whether this mutant is on. In constants no mutant is.
#[inline(always)]
pub const fn on(mutant: u32) -> bool {
    const fn never(_: u32) -> bool {
        false
    }
    const_eval_select((mutant,), never, at_run_time)
}

#[inline]
fn at_run_time(mutant: u32) -> bool {
    let which = WHICH.load(Relaxed);
    which == mutant || (which >= RECORD && unusual(mutant))
}

#[cold]
fn unusual(mutant: u32) -> bool {
    if WHICH.load(Relaxed) == NOT_ASKED {
        let asked = host::env::var("GRIDWEAVE_MUTANT").ok().and_then(|number| number.parse().ok());
        let recording = host::env::var_os("GRIDWEAVE_MUTANTS_REACHED").is_some();
        WHICH.store(asked.unwrap_or(if recording { RECORD } else { NONE }), Relaxed);
        return at_run_time(mutant);
    }
    if !REACHED[mutant as usize].swap(true, Relaxed) {
        let file = host::env::var_os("GRIDWEAVE_MUTANTS_REACHED").unwrap();
        let mut file = host::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
        file.write_all(host::format!("{mutant}\n").as_bytes()).unwrap();
    }
    false
}

/// The value that a mutated function returns; also from a `const fn`, where `Default` cannot be called.
pub const fn value<T: Default>() -> T {
    const fn never<T>() -> T {
        panic!()
    }
    const_eval_select((), never::<T>, T::default)
}

/// The same for a function that returns a reference.
pub fn leaked<T: Default>() -> &'static mut T {
    Box::leak(Box::default())
}
