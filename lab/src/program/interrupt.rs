//! How Ctrl-C and signals end the program.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tells when the user asks the program to end. While runs are made, it ends after they have written their results, or
/// at once on a second request. At other times it ends at once. Nothing unfinished stays on disk.
///
/// Beginning a draft and publishing it take one lock. The end of the program takes it too, and never gives it back. So
/// a result is there whole or not at all, and no thread can publish any more.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    busy: Arc<AtomicBool>,
    unfinished: Arc<Mutex<Vec<Unfinished>>>,
    process: Arc<Mutex<Option<Child>>>,
}

/// What must be removed if the program ends at once.
pub(super) struct Unfinished {
    /// A draft, if there is one.
    draft: Option<PathBuf>,
    /// Folders that were made for it, the innermost first; each is removed if it is empty.
    around: Vec<PathBuf>,
}

impl Unfinished {
    /// A draft, and the folders that were made for it.
    pub(super) fn draft(path: &Path, around: &[PathBuf]) -> Self {
        Self {
            draft: Some(path.into()),
            around: around.into(),
        }
    }

    /// Folders that are removed if they stay empty.
    pub(super) fn folders(around: &[PathBuf]) -> Self {
        Self {
            draft: None,
            around: around.into(),
        }
    }

    /// Removes it, although threads may still write to it.
    fn remove(&self) {
        if let Some(draft) = self.draft.as_deref().filter(|draft| draft.exists()) {
            // No thread knows the new name, so no file is added while the folder is emptied.
            let gone = draft.with_extension("gone");
            if draft.is_dir() && fs::rename(draft, &gone).is_ok() {
                let _ = fs::remove_dir_all(&gone);
            } else {
                let _ = fs::remove_file(draft);
            }
        }
        for folder in &self.around {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Interrupt {
    /// Begins to listen for Ctrl-C and signals.
    pub(super) fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        // If the handler cannot be set, Ctrl-C ends the program at once and may leave a hidden folder.
        let _ = ctrlc::set_handler(move || heard.hear());
        interrupt
    }

    /// Ends runs when this flag is set, and listens to nothing else.
    pub(super) fn asked_by(flag: Arc<AtomicBool>) -> Self {
        Self {
            asked: flag,
            ..Self::default()
        }
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
        let _kept = self.clear();
        std::process::exit(130);
    }

    /// Removes all that is unfinished. While the returned guard lives, nothing can begin or be published.
    fn clear(&self) -> MutexGuard<'_, Vec<Unfinished>> {
        let unfinished = self.lock();
        // The child process would go on to write into its draft.
        self.end_process();
        // A draft may be in a folder that was made before it, so the order is reversed.
        for one in unfinished.iter().rev() {
            one.remove();
        }
        unfinished
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Unfinished>> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins something that must be removed if the program ends at once.
    pub(super) fn draft<D, E>(
        &self,
        make: impl FnOnce() -> Result<D, E>,
        what: impl FnOnce(&D) -> Unfinished,
    ) -> Result<D, E> {
        let mut unfinished = self.lock();
        let draft = make()?;
        unfinished.push(what(&draft));
        Ok(draft)
    }

    /// Publishes a draft; from then on it is not removed.
    pub(super) fn finish<R>(&self, draft: &Path, put: impl FnOnce() -> R) -> R {
        let mut unfinished = self.lock();
        let made = put();
        unfinished.retain(|one| one.draft.as_deref() != Some(draft));
        made
    }

    /// Waits if the program is about to end, so that no error is printed.
    pub(super) fn settle(&self) {
        drop(self.lock());
    }

    /// Starts a child process that ends with this one at the latest. An earlier child must have ended.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<()> {
        let _begun = self.lock();
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        *process = Some(command.spawn()?);
        Ok(())
    }

    /// Asks something of the child process.
    pub(super) fn process<R>(&self, ask: impl FnOnce(&mut Child) -> R) -> Option<R> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_mut().map(ask)
    }

    /// Ends the child process, if it still runs, and waits until it has ended.
    pub(super) fn end_process(&self) {
        self.process(|process| {
            let _ = process.kill();
            let _ = process.wait();
        });
    }

    /// From now on, the first Ctrl-C does not end the program at once.
    pub(super) fn begin(&self) {
        self.busy.store(true, Ordering::SeqCst);
    }

    /// From now on, Ctrl-C ends the program at once.
    pub(super) fn end(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// Whether the user asked the program to end.
    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag for that, to share with monitors.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::results::Draft;

    fn begin(interrupt: &Interrupt, place: &Path) -> Draft {
        let what = |draft: &Draft| Unfinished::draft(draft.path(), draft.around());
        interrupt.draft(|| Draft::new(place), what).unwrap()
    }

    #[test]
    fn a_draft_that_is_cleared_neither_comes_back_nor_takes_the_place_of_another() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("a/b/out");
        let interrupt = Interrupt::default();
        let draft = begin(&interrupt, &place);
        draft.write("seed-0/config.toml", |_| Ok(())).unwrap();
        let kept = interrupt.clear();
        assert!(!home.path().join("a").exists());
        // A thread that still makes a run can neither write nor publish any more.
        draft.write("seed-1/config.toml", |_| Ok(())).unwrap_err();
        let path = draft.path().to_owned();
        std::thread::scope(|scope| {
            let published = scope.spawn(|| interrupt.finish(&path, || draft.publish()));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!published.is_finished());
            drop(kept);
            published.join().unwrap().unwrap_err();
        });
        assert!(!home.path().join("a").exists());
    }

    #[test]
    fn what_is_published_stays_when_the_program_ends() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("a/out");
        let interrupt = Interrupt::default();
        let draft = begin(&interrupt, &place);
        draft.write("config.toml", |_| Ok(())).unwrap();
        let path = draft.path().to_owned();
        interrupt.finish(&path, || draft.publish()).unwrap();
        drop(interrupt.clear());
        assert!(place.join("config.toml").is_file());
    }
}
