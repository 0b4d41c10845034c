//! The program as a user meets it.

use std::process::{Command, Output};

fn gridweave(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridweave"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

#[test]
fn the_bare_command_and_help_say_what_it_is() {
    for arguments in [&[][..], &["--help"]] {
        let output = gridweave(arguments);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).expect("help is text");
        assert!(text.contains("Decentralised grid scheduling"), "{text}");
        assert!(text.contains("--version"), "{text}");
    }
}

#[test]
fn an_unknown_flag_is_bad_usage() {
    let output = gridweave(&["--fly"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--fly"));
}
