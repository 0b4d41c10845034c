//! A status page and figures, over HTTP on a loopback address. It only reads, and needs no network.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::Metrics;
use crate::control::{Answer, Request};
use crate::driver::{Input, Inputs};

/// The most readers at once.
const READERS: usize = 16;

/// The most bytes of a request.
const MOST_REQUEST: usize = 4096;

/// How long a reader may take.
const PATIENCE: Duration = Duration::from_secs(5);

const PAGE: &str = include_str!("status.html");

/// Answers `/`, `/status`, `/jobs` and `/metrics` at this listener.
pub async fn serve_web(
    listener: TcpListener,
    metrics: Arc<Metrics>,
    inputs: Inputs,
    peers: Arc<dyn Fn() -> Value + Send + Sync>,
) -> io::Result<()> {
    let readers = Arc::new(Semaphore::new(READERS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(permit) = readers.clone().acquire_owned().await else {
            return Ok(());
        };
        let (metrics, inputs, peers) = (metrics.clone(), inputs.clone(), peers.clone());
        tokio::spawn(async move {
            let answering = answer(stream, &metrics, &inputs, &*peers);
            // A slow reader is dropped.
            let _ = tokio::time::timeout(PATIENCE, answering).await;
            drop(permit);
        });
    }
}

async fn answer(
    mut stream: TcpStream,
    metrics: &Metrics,
    inputs: &Inputs,
    peers: &(dyn Fn() -> Value + Send + Sync),
) -> io::Result<()> {
    let mut request = Vec::new();
    let mut room = [0; 1024];
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = stream.read(&mut room).await?;
        if count == 0 || request.len() + count > MOST_REQUEST {
            return Ok(());
        }
        request.extend(room.iter().take(count));
    }
    let text = String::from_utf8_lossy(&request);
    let line = text.lines().next().unwrap_or_default();
    // A page of another site cannot read this through a name that it makes point here.
    let host = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host")
            .then(|| value.trim().to_owned())
    });
    let local = host.is_none_or(|host| {
        let name = host
            .rsplit_once(':')
            .map_or(host.as_str(), |(name, _)| name);
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    });
    let path = line
        .strip_prefix("GET ")
        .and_then(|rest| rest.split(' ').next());
    let (status, kind, body) = match (local, path) {
        (false, _) => (
            "403 Forbidden",
            "text/plain",
            "use a loopback address\n".to_owned(),
        ),
        (_, Some("/")) => ("200 OK", "text/html; charset=utf-8", PAGE.to_owned()),
        (_, Some("/metrics")) => ("200 OK", "text/plain; version=0.0.4", metrics.to_text()),
        (_, Some("/peers")) => ("200 OK", "application/json", peers().to_string()),
        (_, Some("/status")) => ask(inputs, Request::Status).await,
        (_, Some("/jobs")) => ask(inputs, Request::Jobs { all: true }).await,
        (_, Some(_)) => (
            "404 Not Found",
            "text/plain",
            "there is no such page\n".to_owned(),
        ),
        (_, None) => (
            "405 Method Not Allowed",
            "text/plain",
            "only GET\n".to_owned(),
        ),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'self' 'unsafe-inline'; img-src data:\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

async fn ask(inputs: &Inputs, request: Request) -> (&'static str, &'static str, String) {
    let (sender, answered) = tokio::sync::oneshot::channel();
    let given = inputs.give(Input::Request {
        request,
        user: u32::MAX,
        answer: Box::new(move |answer| {
            // The reader may have gone in the meantime.
            let _ = sender.send(answer);
        }),
    });
    let busy = (
        "503 Service Unavailable",
        "text/plain",
        "the agent is busy\n".to_owned(),
    );
    if given.is_err() {
        return busy;
    }
    match answered.await {
        Ok(Answer::Ok(value)) => ("200 OK", "application/json", value.to_string()),
        Ok(Answer::Error(why)) => ("500 Internal Server Error", "text/plain", why),
        Err(_) => busy,
    }
}
