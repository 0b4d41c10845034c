//! Records in a folder: a file for each, named after its key, in the format of `wire`.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use gridweave_core::scheduler::asap::{Key, Record};
use gridweave_core::wire;

/// A folder of records.
pub(super) struct Disk {
    folder: PathBuf,
}

impl Disk {
    pub(super) fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(folder)?;
        let folder = folder.to_owned();
        Ok(Self { folder })
    }

    /// The key in hexadecimal.
    fn file_of(&self, key: &Key) -> Result<PathBuf, Box<dyn Error>> {
        let bytes = wire::encode_key::<Record>(key)?;
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(self.folder.join(name))
    }

    /// Replaces what is under this key. When it returns, the record outlives this process, and the machine too.
    pub(super) fn write(&self, key: &Key, record: &Record) -> Result<(), Box<dyn Error>> {
        let file = self.file_of(key)?;
        // Whole or not at all: it gets its name when it is there.
        let draft = file.with_extension("draft");
        let mut draft_file = File::create(&draft)?;
        draft_file.write_all(&wire::encode_record(key, record)?)?;
        draft_file.sync_all()?;
        fs::rename(draft, file)?;
        // Its name has to last as well.
        Ok(File::open(&self.folder)?.sync_all()?)
    }

    /// Forgets what is under this key.
    pub(super) fn erase(&self, key: &Key) -> Result<(), Box<dyn Error>> {
        match fs::remove_file(self.file_of(key)?) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// All records, without drafts that were never finished.
    pub(super) fn read(&self) -> Result<Vec<(Key, Record)>, Box<dyn Error>> {
        let mut records = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let path = file?.path();
            if path.extension().is_none() {
                let record = wire::decode_record(&fs::read(&path)?);
                records.push(record.map_err(|refused| format!("{}: {refused}", path.display()))?);
            }
        }
        Ok(records)
    }
}
