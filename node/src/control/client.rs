use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::{Answer, Request, socket_of};

/// How long an agent may take for an answer.
const PATIENCE: Duration = Duration::from_secs(40);

/// A connection with an agent of this computer.
pub struct Client {
    reading: BufReader<UnixStream>,
    writing: UnixStream,
}

/// Why an agent does not do what is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No agent is there.
    #[error(
        "no agent answers at {socket}: {error}; start one with 'gridweave-node run', or name its folder with --folder"
    )]
    NotThere {
        /// The socket.
        socket: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the agent does not answer: {0}")]
    Broken(#[from] io::Error),
    /// The agent refuses.
    #[error("{0}")]
    Refused(String),
}

impl Client {
    /// Connects with the agent of this folder.
    pub fn connect(folder: &Path) -> Result<Self, ClientError> {
        let socket = socket_of(folder);
        let stream = UnixStream::connect(&socket);
        let stream = stream.map_err(|error| ClientError::NotThere { socket, error })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            reading: BufReader::new(stream.try_clone()?),
            writing: stream,
        })
    }

    /// Asks, and returns the answer.
    pub fn ask(&mut self, request: &Request) -> Result<Value, ClientError> {
        let mut line = serde_json::to_vec(request).map_err(io::Error::from)?;
        line.push(b'\n');
        self.writing.write_all(&line)?;
        let answer = self.line()?;
        match serde_json::from_str(&answer).map_err(io::Error::from)? {
            Answer::Ok(value) => Ok(value),
            Answer::Error(why) => Err(ClientError::Refused(why)),
        }
    }

    /// Waits as long as it takes for the lines that follow.
    pub fn wait_for_ever(&self) -> io::Result<()> {
        self.writing.set_read_timeout(None)
    }

    /// The next line.
    pub fn line(&mut self) -> Result<String, ClientError> {
        let mut line = String::new();
        if self.reading.read_line(&mut line)? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
