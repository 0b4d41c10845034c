use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, oneshot};
use tracing::{debug, warn};

use super::{Answer, MOST_LINE, Request};
use crate::driver::{Input, Inputs};
use crate::observe::{Events, Metrics};

/// The most users at once.
const USERS: usize = 64;

/// How long the driver may take for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is answered without the driver.
#[derive(Clone)]
pub struct Elsewhere {
    /// Which peers are connected.
    pub peers: Arc<dyn Fn() -> Value + Send + Sync>,
    /// All figures.
    pub metrics: Arc<Metrics>,
    /// What happens to jobs.
    pub events: Events,
}

/// Takes requests at this socket, which only this user and root can open.
pub async fn serve(socket: &Path, inputs: Inputs, elsewhere: Elsewhere) -> io::Result<()> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    let users = Arc::new(Semaphore::new(USERS));
    loop {
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // There may be too many open files for a while.
                warn!("a user cannot connect: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(permit) = users.clone().acquire_owned().await else {
            return Ok(());
        };
        let (inputs, elsewhere) = (inputs.clone(), elsewhere.clone());
        tokio::spawn(async move {
            if let Err(error) = converse(stream, &inputs, &elsewhere).await {
                debug!("a user has gone: {error}");
            }
            drop(permit);
        });
    }
}

async fn converse(stream: UnixStream, inputs: &Inputs, elsewhere: &Elsewhere) -> io::Result<()> {
    let user = stream.peer_cred()?.uid();
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut reading).take(MOST_LINE as u64);
        if limited.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') {
            let why = format!("a request has at most {MOST_LINE} bytes and ends with a line end");
            return say(&mut writing, &Answer::error(why)).await;
        }
        let answer = match serde_json::from_slice(&line) {
            Ok(Request::Events) => return follow(&mut writing, &elsewhere.events).await,
            Ok(Request::Figures) => Answer::ok(Value::from(elsewhere.metrics.to_text())),
            Ok(Request::Peers) => Answer::ok((elsewhere.peers)()),
            Ok(request) => ask(request, user, inputs).await,
            Err(error) => Answer::error(format!("the request is not understood: {error}")),
        };
        say(&mut writing, &answer).await?;
    }
}

async fn say(writing: &mut OwnedWriteHalf, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    writing.write_all(&line).await
}

async fn ask(request: Request, user: u32, inputs: &Inputs) -> Answer {
    let (sender, answered) = oneshot::channel();
    let given = inputs.give(Input::Request {
        request,
        user,
        answer: Box::new(move |answer| {
            // The user may have gone in the meantime.
            let _ = sender.send(answer);
        }),
    });
    if given.is_err() {
        return Answer::error("the agent is busy: try again");
    }
    match tokio::time::timeout(PATIENCE, answered).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Answer::error("the agent is ending"),
        Err(_) => Answer::error(
            "the agent does not answer: see its log; it may still do what was asked, so look at 'jobs' before asking again",
        ),
    }
}

/// Writes events until the user is gone.
async fn follow(writing: &mut OwnedWriteHalf, events: &Events) -> io::Result<()> {
    let mut events = events.listen();
    // Said first, so that the user knows that no later event is missed.
    say(writing, &Answer::ok(Value::from("events follow"))).await?;
    loop {
        match events.recv().await {
            Ok(line) => {
                writing.write_all(line.as_bytes()).await?;
                writing.write_all(b"\n").await?;
            }
            Err(RecvError::Lagged(missed)) => {
                let line = format!("{{\"event\":\"missed\",\"count\":{missed}}}\n");
                writing.write_all(line.as_bytes()).await?;
            }
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}
