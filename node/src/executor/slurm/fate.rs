//! Which came first: that an attempt begins, or that it is taken back. Slurm's answers cannot decide that: its
//! acknowledgements get lost, and what was not answered may be done later. A file in the folder of the attempt does: the
//! first to link it wins, at all computers that share the folder. So an attempt begins once at most, however often
//! it was submitted, and never after it was taken back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use gridweave_core::time::Time;
use serde::{Deserialize, Serialize};

/// What becomes of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fate {
    /// It has begun, at this time in microseconds.
    Begun(u64),
    /// It will not begin.
    Withdrawn,
}

impl Fate {
    /// When it began, if it has.
    pub(super) const fn begun(self) -> Option<Time> {
        match self {
            Self::Begun(at) => Some(Time::from_micros(at)),
            Self::Withdrawn => None,
        }
    }

    /// What it is, if it is decided.
    pub(super) fn of(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join("fate")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(text) => Ok(Some(serde_json::from_slice::<Claim>(&text)?.fate)),
        }
    }

    /// Decides it, unless it is decided. Returns whether this call did.
    pub(super) fn decide(self, folder: &Path) -> io::Result<Decided> {
        let by = claimant();
        let draft = folder.join(format!("fate-{by}"));
        let claim = Claim { fate: self, by };
        let text = serde_json::to_vec(&claim)?;
        let mut file = File::create(&draft)?;
        file.write_all(&text)?;
        file.sync_all()?;
        let file = folder.join("fate");
        let linked = fs::hard_link(&draft, &file);
        // The draft has done its work.
        let _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => File::open(folder)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        // A network file system may have linked it, and lost the answer.
        let found: Claim = serde_json::from_slice(&fs::read(&file)?)?;
        Ok(match found == claim {
            true => Decided::Now,
            false => Decided::Before(found.fate),
        })
    }
}

/// How it was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decided {
    /// By this call.
    Now,
    /// Earlier, so.
    Before(Fate),
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    fate: Fate,
    by: String,
}

/// No other call has this name.
fn claimant() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let process = std::process::id();
    format!("{}-{process}-{:08x}", boot.trim(), rand::random::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_claim_decides() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(Fate::of(folder).unwrap(), None);
        assert_eq!(Fate::Begun(7).decide(folder).unwrap(), Decided::Now);
        let before = Decided::Before(Fate::Begun(7));
        assert_eq!(Fate::Withdrawn.decide(folder).unwrap(), before);
        assert_eq!(
            Fate::Begun(7).decide(folder).unwrap(),
            before,
            "another try"
        );
        assert_eq!(Fate::of(folder).unwrap(), Some(Fate::Begun(7)));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        assert!(Fate::Withdrawn.decide(&folder.join("gone")).is_err());
    }

    #[test]
    fn of_many_at_once_one_decides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let won = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|at| scope.spawn(move || Fate::Begun(at).decide(path).unwrap()))
                .collect();
            let all = all.into_iter().map(|one| one.join().unwrap());
            all.filter(|decided| *decided == Decided::Now).count()
        });
        assert_eq!(won, 1);
    }
}
