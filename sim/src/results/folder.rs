//! Output folders that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Why a folder could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", folder.display())]
pub struct FolderError {
    /// Which.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub problem: FolderProblem,
}

/// What is wrong with a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderProblem {
    /// The operating system says no.
    #[error("cannot be written ({0}); choose another folder with --out")]
    Unwritable(io::Error),
    /// It holds something that is not ours to replace.
    #[error("exists and is no output of gridweave; choose another folder with --out, or remove it")]
    Foreign,
    /// It is where the program was started, or above that.
    #[error("is no place for results; name a folder of its own with --out")]
    Here,
    /// What was to be there could not be put there, and is kept under another name.
    #[error("{why}. What was written is in {}", kept.display())]
    Unpublished {
        /// Why.
        why: Box<FolderProblem>,
        /// Where it is.
        kept: PathBuf,
    },
}

impl From<io::Error> for FolderProblem {
    fn from(error: io::Error) -> Self {
        Self::Unwritable(error)
    }
}

/// The file that tells that a folder was made here.
const MARK: &str = "config.toml";

/// All files that we write into a folder.
const FILES: [&str; 12] = [
    MARK,
    "summary.json",
    "jobs.csv",
    "series.csv",
    "engine.json",
    "report.html",
    "request.toml",
    "p1.json",
    "p2.json",
    "p3.json",
    "p4.json",
    "zones.json",
];

/// All folders that we write into a folder, besides one per seed.
const FOLDERS: [&str; 7] = ["gangs", "serial", "jobs", "p1", "p2", "p3", "p4"];

/// A folder under construction, beside the place where it will be.
///
/// Nothing is seen at that place until [`Draft::publish`]; if the draft is dropped before, nothing is left behind.
#[derive(Debug)]
pub struct Draft {
    folder: PathBuf,
    // The draft goes first, so that the folders around it are empty when they go.
    draft: TempDir,
    _around: NewFolders,
}

impl Draft {
    /// Begins a folder. Refuses a place that holds anything but an earlier output, and one that cannot be written. A link to a
    /// folder stands for that folder.
    pub fn new(folder: &Path) -> Result<Self, FolderError> {
        let explain = |problem| FolderError {
            folder: folder.into(),
            problem,
        };
        let place = place_of(folder).map_err(explain)?;
        let parent = place.parent().unwrap_or(Path::new("/"));
        let (around, draft) = NewFolders::create(parent)
            .and_then(|around| {
                let mut builder = tempfile::Builder::new();
                let builder = builder.prefix(".gridweave-").permissions_of_folders();
                Ok((around, builder.tempdir_in(parent)?))
            })
            .map_err(|error| explain(error.into()))?;
        Ok(Self {
            folder: place,
            draft,
            _around: around,
        })
    }

    /// Where it is under construction.
    pub fn path(&self) -> &Path {
        self.draft.path()
    }

    /// Writes one file of the folder; `name` may lead into a folder below.
    pub fn write(
        &self,
        name: impl AsRef<Path>,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let path = self.draft.path().join(name);
        let written = (|| {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut file = BufWriter::new(File::create(&path)?);
            content(&mut file)?;
            file.flush()?;
            file.get_ref().sync_all()
        })();
        written.map_err(|error| FolderError {
            folder: self.folder.clone(),
            problem: error.into(),
        })
    }

    /// Puts the folder in its place, instead of what an earlier run left there. If that fails, it stays under another name,
    /// which the error tells.
    pub fn publish(self) -> Result<(), FolderError> {
        let moved = self.take_place();
        // Either it is in its place, or whoever waited for it wants to have it all the same.
        let kept = self.draft.keep();
        moved.map_err(|why| FolderError {
            folder: self.folder,
            problem: FolderProblem::Unpublished {
                why: Box::new(why),
                kept,
            },
        })
    }

    fn take_place(&self) -> Result<(), FolderProblem> {
        let (folder, draft) = (&self.folder, self.draft.path());
        // Someone may have put something there while it was written.
        if !may_replace(folder)? {
            return Err(FolderProblem::Foreign);
        }
        if !folder.exists() {
            return Ok(fs::rename(draft, folder)?);
        }
        let beside = draft.parent().unwrap_or(Path::new("."));
        let old = TempDir::with_prefix_in(".gridweave-", beside)?;
        let aside = old.path().join("old");
        fs::rename(folder, &aside)?;
        fs::rename(draft, folder).or_else(|error| {
            fs::rename(&aside, folder)?;
            Err(error)
        })?;
        Ok(())
    }
}

/// Where a folder really is, if results may go there.
fn place_of(folder: &Path) -> Result<PathBuf, FolderProblem> {
    if folder.file_name().is_none() {
        return Err(FolderProblem::Here);
    }
    let place = match fs::canonicalize(folder) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is there, and is not ours.
            if fs::symlink_metadata(folder).is_ok() {
                return Err(FolderProblem::Foreign);
            }
            // Without dots at its end, which the system does not take for a name.
            std::path::absolute(folder)?.components().collect()
        }
        Err(error) => return Err(error.into()),
    };
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(&place)) {
        return Err(FolderProblem::Here);
    }
    if !may_replace(&place)? {
        return Err(FolderProblem::Foreign);
    }
    Ok(place)
}

/// Whether there is nothing at that place, an empty folder, or an output of ours and nothing else.
fn may_replace(folder: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let (mut empty, mut marked) = (true, false);
    for entry in entries {
        let entry = entry?;
        if !is_ours(&entry)? {
            return Ok(false);
        }
        empty = false;
        marked |= entry.file_name() == MARK;
    }
    Ok(empty || marked)
}

/// Whether it has a name that we write, and is what we write under that name.
fn is_ours(entry: &fs::DirEntry) -> io::Result<bool> {
    let name = entry.file_name();
    let Some(name) = name.to_str() else {
        return Ok(false);
    };
    let kind = entry.file_type()?;
    Ok(if kind.is_dir() {
        FOLDERS.contains(&name) || name.starts_with("seed-")
    } else {
        kind.is_file() && FILES.contains(&name)
    })
}

/// Folders that were made for something to be put into; those that stay empty go with this.
#[derive(Debug)]
pub struct NewFolders {
    /// The innermost first.
    made: Vec<PathBuf>,
}

impl NewFolders {
    /// Makes a folder and what is missing above it.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let missing = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let new = Self {
            made: missing.map(Path::to_owned).collect(),
        };
        fs::create_dir_all(folder)?;
        Ok(new)
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.made {
            // Refused if there is something in it, as it should be.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Writes a file that is there whole or not at all, and that others may read as far as the user's mask allows.
pub fn write_whole(
    to: &Path,
    content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .prefix(".gridweave-")
        .permissions_of_files()
        .tempfile_in(parent.unwrap_or(Path::new(".")))?;
    let mut buffered = BufWriter::new(file.as_file());
    content(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.persist(to).map_err(|error| error.error)?;
    Ok(())
}

/// What others may look into, as far as the user's mask allows: temporary files and folders are private by default.
trait Shared {
    fn permissions_of_folders(&mut self) -> &mut Self;
    fn permissions_of_files(&mut self) -> &mut Self;
}

#[cfg(unix)]
impl Shared for tempfile::Builder<'_, '_> {
    fn permissions_of_folders(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o777))
    }

    fn permissions_of_files(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o666))
    }
}

#[cfg(not(unix))]
impl Shared for tempfile::Builder<'_, '_> {
    fn permissions_of_folders(&mut self) -> &mut Self {
        self
    }

    fn permissions_of_files(&mut self) -> &mut Self {
        self
    }
}
