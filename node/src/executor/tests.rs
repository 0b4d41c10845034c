use std::path::PathBuf;

use gridweave_core::job::Payload;

use super::*;

fn program(argv: &[&str]) -> Program {
    Program {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        ..Program::default()
    }
}

#[test]
fn a_program_travels_as_a_payload() {
    let mut given = program(&["sh", "-c", "echo $X"]);
    given.environment.insert("X".to_owned(), "y z".to_owned());
    given.limits.memory = Some(1 << 30);
    let payload = given.to_payload().unwrap();
    assert_eq!(Program::from_payload(&payload), Ok(given));
}

#[test]
fn what_cannot_be_run_is_refused_at_both_ends() {
    assert_eq!(program(&[]).to_payload(), Err(ProgramError::Empty));
    assert_eq!(program(&[""]).to_payload(), Err(ProgramError::Empty));
    let unusable = program(&["a\0b"]).to_payload();
    assert_eq!(unusable, Err(ProgramError::Unusable("a\\0b".to_owned())));
    let mut named = program(&["a"]);
    named.environment.insert("A=B".to_owned(), String::new());
    assert!(matches!(named.to_payload(), Err(ProgramError::Unusable(_))));
    let long = program(&[&"x".repeat(4096)]).to_payload();
    assert!(matches!(long, Err(ProgramError::TooLong(_))));
    let foreign = |text: &[u8]| Program::from_payload(&Payload::new(text).unwrap());
    for bad in [
        &b""[..],
        b"\xff",
        b"{}",
        br#"{"argv":[]}"#,
        br#"{"argv":["a"],"b":1}"#,
    ] {
        assert!(foreign(bad).is_err());
    }
}

#[test]
fn attempts_are_named_in_one_way() {
    let attempt = AttemptId {
        job: JobId::new(7),
        number: Epoch::new(1),
    };
    assert_eq!(AttemptId::from_name("7-1"), Some(attempt));
    for bad in ["7", "7-", "-1", "07-1", "7-1.draft", "a-b", "7-1-2"] {
        assert_eq!(AttemptId::from_name(bad), None, "{bad}");
    }
}

#[test]
fn nothing_runs_as_root_unless_the_administrator_says_so() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let site = |allow_root, user: Option<&str>| Site {
        folder: folder.path().to_owned(),
        program: PathBuf::from("/bin/false"),
        jobs: crate::settings::Jobs {
            allow_root,
            user: user.map(str::to_owned),
            ..crate::settings::Jobs::default()
        },
        clock_offset: 0,
    };
    let made = |site| Processes::new(site, || {}).map(|_| ());
    assert!(matches!(made(site(false, None)), Err(ExecutorError::Root)));
    assert!(matches!(
        made(site(false, Some("root"))),
        Err(ExecutorError::Root)
    ));
    let unknown = made(site(false, Some("no-such-user")));
    assert!(matches!(unknown, Err(ExecutorError::NoUser(_))));
    assert!(made(site(true, None)).is_ok());
    assert!(made(site(false, Some("nobody"))).is_ok());
}
