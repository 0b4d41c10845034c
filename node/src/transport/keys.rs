use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use quinn_proto::HashedConnectionIdGenerator;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// The secrets by which a restarted node tells peers that it has forgotten their connections.
pub(super) struct Keys([u8; LENGTH]);

const LENGTH: usize = 40;

impl Keys {
    /// Those in this file; new ones if there is no such file.
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        if let Ok(bytes) = fs::read(file)
            && let Ok(bytes) = bytes.try_into()
        {
            return Ok(Self(bytes));
        }
        let mut bytes = [0; LENGTH];
        let failed = |_| io::Error::other("the operating system gives no random numbers");
        SystemRandom::new().fill(&mut bytes).map_err(failed)?;
        let mut written = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(file)?;
        written.write_all(&bytes)?;
        written.sync_all()?;
        Ok(Self(bytes))
    }

    pub(super) fn reset(&self) -> hmac::Key {
        let (reset, _) = self.0.split_at(32);
        hmac::Key::new(hmac::HMAC_SHA256, reset)
    }

    pub(super) fn names(&self) -> HashedConnectionIdGenerator {
        let (_, names) = self.0.split_at(32);
        let number = names
            .iter()
            .fold(0, |all, byte| (all << 8) | u64::from(*byte));
        HashedConnectionIdGenerator::from_key(number)
    }
}
