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
    Unwritable(#[from] io::Error),
    /// It holds something that is not ours to replace.
    #[error("exists and is no output of gridweave; choose another folder with --out, or remove it")]
    Foreign,
}

/// The file that tells that a folder was made here.
const MARK: &str = "config.toml";

/// A folder under construction, beside the place where it will be.
///
/// Nothing is seen at that place until [`Draft::publish`]; if the draft is dropped before, nothing is left behind.
#[derive(Debug)]
pub struct Draft {
    folder: PathBuf,
    draft: TempDir,
}

impl Draft {
    /// Begins a folder. Refuses a place that holds anything but an earlier output, and one that cannot be written.
    pub fn new(folder: &Path) -> Result<Self, FolderError> {
        let explain = |problem| FolderError {
            folder: folder.into(),
            problem,
        };
        if !may_replace(folder).map_err(|error| explain(error.into()))? {
            return Err(explain(FolderProblem::Foreign));
        }
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let draft = fs::create_dir_all(parent).and_then(|()| {
            tempfile::Builder::new()
                .prefix(".gridweave-")
                .permissions_of_folders()
                .tempdir_in(parent)
        });
        Ok(Self {
            folder: folder.into(),
            draft: draft.map_err(|error| explain(error.into()))?,
        })
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

    /// Puts the folder in its place, instead of what an earlier run left there.
    pub fn publish(self) -> Result<PathBuf, FolderError> {
        let Self { folder, draft } = self;
        let moved = (|| {
            if !folder.exists() {
                return fs::rename(draft.path(), &folder);
            }
            let beside = draft.path().parent().unwrap_or(Path::new("."));
            let old = TempDir::with_prefix_in(".gridweave-", beside)?;
            let aside = old.path().join("old");
            fs::rename(&folder, &aside)?;
            fs::rename(draft.path(), &folder).or_else(|error| {
                fs::rename(&aside, &folder)?;
                Err(error)
            })
        })();
        match moved {
            Ok(()) => {
                // It has gone to its place; there is nothing left to clean up.
                let _ = draft.keep();
                Ok(folder)
            }
            Err(error) => Err(FolderError {
                folder,
                problem: error.into(),
            }),
        }
    }
}

/// Whether there is nothing at that place, an empty folder, or an output of ours.
fn may_replace(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none() || folder.join(MARK).is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Folders that others may look into, as far as the user's mask allows: temporary ones are private by default.
trait PermissionsOfFolders {
    fn permissions_of_folders(&mut self) -> &mut Self;
}

impl PermissionsOfFolders for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_of_folders(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o777))
    }

    #[cfg(not(unix))]
    fn permissions_of_folders(&mut self) -> &mut Self {
        self
    }
}
