//! What users ask an agent: over its socket, and over HTTP.

#![allow(missing_docs, unused_crate_dependencies)]

mod grid;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use grid::{Grid, TIMES};
use serde_json::Value;

fn connect(grid: &Grid) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(grid.folder(0).join("control.socket")).unwrap();
    let wait = Some(Duration::from_secs(20));
    stream.set_read_timeout(wait).unwrap();
    BufReader::new(stream)
}

fn say(user: &mut BufReader<UnixStream>, line: &[u8]) {
    user.get_mut().write_all(line).unwrap();
    user.get_mut().write_all(b"\n").unwrap();
}

fn hear(user: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    user.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_socket_that_only_its_user_can_open_takes_lines_of_json() {
    let grid = Grid::new(1, TIMES);
    let socket = grid.folder(0).join("control.socket");
    let mode = fs::metadata(socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut user = connect(&grid);
    for bad in [
        &b"nonsense"[..],
        b"{}",
        b"\xff\xfe",
        br#"{"ask":"dance"}"#,
        br#"{"ask":"submit"}"#,
    ] {
        say(&mut user, bad);
        let why = hear(&mut user)["error"].as_str().unwrap().to_owned();
        assert!(why.starts_with("the request is not understood"), "{why}");
    }
    say(&mut user, br#"{"ask":"status"}"#);
    assert_eq!(hear(&mut user)["ok"]["name"], "node0");
    // A line that is too long is not read to its end, and the connection ends.
    let _ = user.get_mut().write_all(&vec![b'x'; 1_000_000]);
    let mut rest = String::new();
    let _ = user.read_to_string(&mut rest);
    assert!(rest.is_empty() || rest.contains("at most"), "{rest}");
    assert_eq!(grid.status(0)["name"], "node0");
}

#[test]
fn events_of_a_job_are_told_in_their_order() {
    let grid = Grid::new(1, TIMES);
    let mut user = connect(&grid);
    say(&mut user, br#"{"ask":"events"}"#);
    assert_eq!(hear(&mut user)["ok"], "events follow");
    let job = grid.submit(0, &["--time", "5s"], "true");
    let mut events = Vec::new();
    while events.last().is_none_or(|last| last != "finished") {
        let event = hear(&mut user);
        assert_eq!(event["job"], job.as_str());
        events.push(event["event"].as_str().unwrap().to_owned());
    }
    assert_eq!(events, ["assigned", "accepted", "started", "finished"]);
}

#[test]
fn the_status_page_only_reads_and_only_answers_this_computer() {
    let mut grid = Grid::empty(TIMES);
    grid.invite(&[]);
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let file = grid.folder(0).join("node.toml");
    let text = fs::read_to_string(&file).unwrap();
    let web = format!("[observe]\nweb = \"127.0.0.1:{port}\"");
    fs::write(file, text.replace("[observe]", &web)).unwrap();
    grid.start(0);
    let job = grid.submit(0, &["--time", "5s"], "true");
    grid.end_of(0, &job);
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        // A request that is too long is dropped unread, and the connection with it.
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let get = |path: &str| {
        ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        ))
    };
    assert!(get("/").contains("<title>Gridweave node</title>"));
    assert!(!get("/").contains("http"), "it loads nothing from anywhere");
    assert!(get("/status").contains("\"name\":\"node0\""));
    assert!(get("/jobs").contains(&job));
    let figures = get("/metrics");
    assert!(
        figures.contains("gridweave_jobs_total{what=\"finished\"} 1\n"),
        "{figures}"
    );
    assert!(get("/nothing").starts_with("HTTP/1.1 404"));
    assert!(ask("POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    assert!(ask("GET /jobs HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403"));
    assert_eq!(ask(&"x".repeat(10_000)), "", "a long request is dropped");
}

#[test]
fn a_store_is_checked_without_an_agent() {
    let mut grid = Grid::new(1, TIMES);
    let job = grid.submit(0, &["--time", "5s"], "true");
    grid.end_of(0, &job);
    let second = grid.call(&["--folder", "node0", "run"]);
    assert!(String::from_utf8_lossy(&second.stderr).contains("runs already"));
    grid.kill(0);
    let checked = grid.run(&["--folder", "node0", "check"]);
    assert!(checked.contains("unfinished jobs  0\n"), "{checked}");
    let store = grid.folder(0).join("store");
    let bytes = fs::read(&store).unwrap();
    fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
    for order in ["check", "run"] {
        let output = grid.call(&["--folder", "node0", order]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(
            told.contains("node0/store") && !told.contains("panicked"),
            "{told}"
        );
    }
}
