//! Talks to an agent as its users do: lines of JSON over the Unix socket in the folder of its node.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// How long an agent may take for an answer. A submission may wait for a link of its node.
const PATIENCE: Duration = Duration::from_secs(15);

pub(crate) struct Client {
    reading: BufReader<UnixStream>,
    writing: UnixStream,
}

impl Client {
    pub(crate) fn connect(folder: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(folder.join("control.socket"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            reading: BufReader::new(stream.try_clone()?),
            writing: stream,
        })
    }

    /// The answer, or why the agent refuses. An error if there is no answer.
    pub(crate) fn ask(&mut self, request: &Value) -> io::Result<Result<Value, String>> {
        self.writing.write_all(format!("{request}\n").as_bytes())?;
        let answer = self.line()?;
        let answer: Value = serde_json::from_str(&answer)?;
        match (answer.get("ok"), answer.get("error")) {
            (Some(done), None) => Ok(Ok(done.clone())),
            (None, Some(why)) => Ok(Err(why.as_str().unwrap_or_default().to_owned())),
            _ => Err(io::Error::other(format!("not an answer: {answer}"))),
        }
    }

    /// The next line, as of events.
    pub(crate) fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.reading.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

/// Asks the agent of this folder once.
pub(crate) fn ask(folder: &Path, request: &Value) -> io::Result<Value> {
    let answer = Client::connect(folder)?.ask(request)?;
    answer.map_err(io::Error::other)
}

/// Asks without arguments, as for `status`.
pub(crate) fn ask_for(folder: &Path, what: &str) -> io::Result<Value> {
    ask(folder, &json!({ "ask": what }))
}
