//! What Ctrl-C and the like do.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Someone may ask the program to end. While runs are made it ends when they have written what they have, or at once when
/// asked a second time; at all other times it ends at once. Nothing unfinished is left behind.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    busy: Arc<AtomicBool>,
    drafts: Arc<Mutex<Vec<PathBuf>>>,
    process: Arc<Mutex<Option<Child>>>,
}

impl Interrupt {
    /// From now on the program hears when it is asked to end.
    pub(super) fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        // Without a handler the program ends at once, and leaves at most a hidden folder behind.
        let _ = ctrlc::set_handler(move || heard.hear());
        interrupt
    }

    fn hear(&self) {
        let again = self.asked.swap(true, Ordering::SeqCst);
        if self.busy.load(Ordering::SeqCst) && !again {
            let _ = writeln!(
                io::stderr(),
                "gridweave: stopping; press Ctrl-C again to leave at once, without results"
            );
            return;
        }
        self.leave()
    }

    /// Ends the program, and leaves nothing unfinished behind.
    fn leave(&self) -> ! {
        // From here on nobody begins another.
        let drafts = self.drafts.lock().unwrap_or_else(PoisonError::into_inner);
        // It would go on to write into its draft.
        self.end_process();
        for draft in drafts.iter() {
            // Runs may still write into it, which makes it harder to remove.
            for _ in 0..10 {
                if !draft.exists() || std::fs::remove_dir_all(draft).is_ok() {
                    break;
                }
            }
        }
        std::process::exit(130);
    }

    /// Makes a folder that must not stay if the program ends at once.
    pub(super) fn draft<D, E>(
        &self,
        make: impl FnOnce() -> Result<D, E>,
        path: impl FnOnce(&D) -> &Path,
    ) -> Result<D, E> {
        let mut drafts = self.drafts.lock().unwrap_or_else(PoisonError::into_inner);
        let draft = make()?;
        drafts.push(path(&draft).to_owned());
        Ok(draft)
    }

    /// Starts a process that ends with this one at the latest. It takes the place of an earlier one, which has ended.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<()> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        *process = Some(command.spawn()?);
        Ok(())
    }

    /// Asks something of that process.
    pub(super) fn process<R>(&self, ask: impl FnOnce(&mut Child) -> R) -> Option<R> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_mut().map(ask)
    }

    /// Ends that process, if it has not ended by itself, and waits until it has.
    pub(super) fn end_process(&self) {
        self.process(|process| {
            let _ = process.kill();
            let _ = process.wait();
        });
    }

    /// Something begins that should not be cut short.
    pub(super) fn begin(&self) {
        self.busy.store(true, Ordering::SeqCst);
    }

    /// It is over.
    pub(super) fn end(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// Whether someone asked.
    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag that tells it, for others to look at.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }
}
