//! Output folders that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::ours::may_replace;

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

/// What drafts are called until they are in their place; the number of the process that makes them follows.
const DRAFT: &str = ".gridweave-";

fn draft_prefix() -> String {
    format!("{DRAFT}{}-", std::process::id())
}

/// A folder under construction, beside the place where it will be.
///
/// Nothing is seen at that place until [`Draft::publish`]; if the draft is dropped before, nothing is left behind.
#[derive(Debug)]
pub struct Draft {
    folder: PathBuf,
    // The draft goes first, so that the folders around it are empty when they go.
    draft: TempDir,
    around: NewFolders,
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
        remove_abandoned(parent);
        let (around, draft) = NewFolders::create(parent)
            .and_then(|around| Ok((around, draft_in(parent)?)))
            .map_err(|error| explain(error.into()))?;
        Ok(Self {
            folder: place,
            draft,
            around,
        })
    }

    /// Where it is under construction.
    pub fn path(&self) -> &Path {
        self.draft.path()
    }

    /// The folders that were made for it to be put into, the innermost first.
    pub fn around(&self) -> &[PathBuf] {
        self.around.made()
    }

    /// Writes one file of the folder; `name` may lead into a folder below. Once a draft is removed it does not come back.
    pub fn write(
        &self,
        name: impl AsRef<Path>,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let (name, path) = (name.as_ref(), self.draft.path().join(name.as_ref()));
        let written = (|| {
            let mut folder = self.draft.path().to_owned();
            for below in name.parent().into_iter().flat_map(Path::components) {
                folder.push(below);
                match fs::create_dir(&folder) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    other => other?,
                }
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
                kept: shown(kept),
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
        let old = TempDir::with_prefix_in(draft_prefix(), beside)?;
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

/// Makes a folder for a draft in this one.
pub fn draft_in(folder: &Path) -> io::Result<TempDir> {
    let prefix = draft_prefix();
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&prefix)
        .permissions_of_folders()
        .tempdir_in(folder)
}

/// Gives a draft that stays a name that is not hidden, and that nobody takes for one that was given up.
fn shown(draft: PathBuf) -> PathBuf {
    let name = draft.file_name().and_then(|name| name.to_str());
    let unique = name.and_then(|name| name.strip_prefix(DRAFT));
    let Some(unique) = unique else {
        return draft;
    };
    let shown = draft.with_file_name(format!("gridweave-unpublished-{unique}"));
    match fs::rename(&draft, &shown) {
        Ok(()) => shown,
        Err(_) => draft,
    }
}

/// Whether this is the name of a draft.
pub fn is_draft(name: &str) -> bool {
    name.starts_with(DRAFT)
}

/// Removes the drafts in a folder whose process ended without doing so, where that can be told.
pub fn remove_abandoned(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(DRAFT));
        let process = process.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(has_ended) {
            // What cannot be removed does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether there is no process of this number any more, where the system tells.
fn has_ended(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
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

    /// Which were made, the innermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.made
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

/// A file under construction, beside the place where it will be: it is there whole or not at all, and others may read it as far as the
/// user's mask allows.
#[derive(Debug)]
pub struct DraftFile {
    to: PathBuf,
    file: NamedTempFile,
}

impl DraftFile {
    /// Begins a file.
    pub fn new(to: &Path) -> io::Result<Self> {
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let file = tempfile::Builder::new()
            .prefix(&draft_prefix())
            .permissions_of_files()
            .tempfile_in(parent.unwrap_or(Path::new(".")))?;
        Ok(Self {
            to: to.into(),
            file,
        })
    }

    /// Where it is under construction.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes what is in it.
    pub fn write(
        &self,
        content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffered = BufWriter::new(self.file.as_file());
        content(&mut buffered)?;
        buffered.flush()
    }

    /// Puts it in its place.
    pub fn publish(self) -> io::Result<()> {
        self.file.persist(self.to).map_err(|error| error.error)?;
        Ok(())
    }
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
