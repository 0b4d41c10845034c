//! Output folders that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::ours::may_replace;

/// Why a folder could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", folder.display())]
pub struct FolderError {
    /// The folder.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub problem: FolderProblem,
}

/// What is wrong with a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderProblem {
    /// The operating system refuses to write there.
    #[error("cannot be written ({0}); choose another folder with --out")]
    Unwritable(io::Error),
    /// It holds files that the program did not write, and must not replace.
    #[error("exists and is no output of gridweave; choose another folder with --out, or remove it")]
    Foreign,
    /// It is the folder in which the program was started, or one above it.
    #[error("is no place for results; name a folder of its own with --out")]
    Here,
    /// The results could not be put there, and are kept under another name.
    #[error("{why}. What was written is in {}", kept.display())]
    Unpublished {
        /// Why they could not be put there.
        why: Box<FolderProblem>,
        /// Where they are kept.
        kept: PathBuf,
    },
}

impl From<io::Error> for FolderProblem {
    fn from(error: io::Error) -> Self {
        Self::Unwritable(error)
    }
}

/// The prefix of drafts; the id of the process that makes them follows.
const DRAFT: &str = ".gridweave-";

fn draft_prefix() -> String {
    format!("{DRAFT}{}-", std::process::id())
}

/// A folder under construction, beside its final place.
///
/// Nothing appears at that place before [`Draft::publish`]. If the draft is dropped before, nothing is left behind.
#[derive(Debug)]
pub struct Draft {
    folder: PathBuf,
    // The draft is dropped first, so that the folders around it are empty when they are dropped.
    draft: TempDir,
    around: NewFolders,
}

impl Draft {
    /// Begins a folder. Refuses a place that cannot be written, or that holds anything but an earlier output. A link to
    /// a folder stands for that folder.
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

    /// The path of the draft.
    pub fn path(&self) -> &Path {
        self.draft.path()
    }

    /// The folders that were made around it, the innermost first.
    pub fn around(&self) -> &[PathBuf] {
        self.around.made()
    }

    /// Writes one file of the folder; `name` may contain folders. A draft that was removed is not made again.
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

    /// Moves the folder to its final place, instead of an earlier output. If that fails, it stays under another name,
    /// which the error tells.
    pub fn publish(self) -> Result<(), FolderError> {
        let moved = self.take_place();
        // It is kept in any case: at its final place, or under another name for the user to find.
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
        // Another process may have put something there in the meantime.
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

/// The real path of a folder; refused if results may not go there.
fn place_of(folder: &Path) -> Result<PathBuf, FolderProblem> {
    if folder.file_name().is_none() {
        return Err(FolderProblem::Here);
    }
    let place = match fs::canonicalize(folder) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A broken link exists, and was not made by this program.
            if fs::symlink_metadata(folder).is_ok() {
                return Err(FolderProblem::Foreign);
            }
            // Removes dots at the end, which the system does not take for a name.
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

/// Makes a folder for a draft inside this one.
pub fn draft_in(folder: &Path) -> io::Result<TempDir> {
    let prefix = draft_prefix();
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&prefix)
        .permissions_of_folders()
        .tempdir_in(folder)
}

/// Renames a draft that stays, so that it is not hidden and not removed as abandoned.
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

/// Removes the drafts in a folder whose process has ended, if the system can tell.
pub fn remove_abandoned(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(DRAFT));
        let process = process.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(has_ended) {
            // A draft that cannot be removed does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether no process has this id any more, if the system can tell.
fn has_ended(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// New folders around something; when dropped, the empty ones are removed.
#[derive(Debug)]
pub struct NewFolders {
    /// The new folders, the innermost first.
    made: Vec<PathBuf>,
}

impl NewFolders {
    /// Makes a folder and all missing folders above it.
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

    /// The folders that were made, the innermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.made
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.made {
            // This fails if the folder is not empty, as it should.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file under construction, beside its final place. It appears whole or not at all, and other users may read it as
/// far as the user's mask allows.
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

    /// The path of the draft.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes the content.
    pub fn write(
        &self,
        content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffered = BufWriter::new(self.file.as_file());
        content(&mut buffered)?;
        buffered.flush()
    }

    /// Moves the file to its final place.
    pub fn publish(self) -> io::Result<()> {
        self.file.persist(self.to).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Makes temporary files and folders readable as far as the user's mask allows; by default they are private.
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
