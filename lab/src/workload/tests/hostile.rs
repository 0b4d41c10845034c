//! Hostile input, and input that is no trace.

use super::*;

/// So many bytes of one value.
fn endless(byte: u8, bytes: u64) -> impl std::io::Read {
    std::io::Read::take(std::io::repeat(byte), bytes)
}

#[test]
fn a_line_without_end_is_skipped_in_bounded_memory() {
    let lines = std::io::Read::chain(&b"1 0 -1 9 2\n"[..], endless(b'7', 64 << 20));
    let lines = std::io::Read::chain(lines, &b"\n2 1 -1 9 2\n"[..]);
    let trace = read_from("test", lines, Origin::FirstJob).unwrap();
    assert_eq!(numbers(&trace.workload), [1, 2]);
    assert_eq!(trace.skipped.count(Reason::LineTooLong), 1);
    assert_eq!(trace.skipped.first()[0].line, 2);
}

#[test]
fn zeros_without_end_are_refused_at_once() {
    let error = read_from("test", std::io::repeat(0), Origin::FirstJob).expect_err("no trace");
    assert!(
        matches!(error, ReadError::Binary { line: 1, .. }),
        "{error}"
    );
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    let record = "1 0 -1 9 2 ";
    let padding = LONGEST_LINE - record.len();
    let text = format!("{record}{}\n", " ".repeat(padding));
    assert_eq!(trace(&text).workload.jobs.len(), 1);
    let text = format!("2 1 -1 9 2\n{record}{}\n", " ".repeat(padding + 1));
    assert_eq!(trace(&text).skipped.count(Reason::LineTooLong), 1);
}

#[test]
fn huge_numbers_are_skipped_and_do_not_wrap() {
    let huge = "99999999999999999999999999";
    let text = format!(
        "{huge} 0 -1 9 2\n1 {huge} -1 9 2\n2 0 -1 {huge} 2\n3 0 -1 9 {huge}\n4 0 -1 9 4294967296\n\
        5 0 -1 1e300 2\n6 0 -1 9 2 -1 -1 -1 {huge}\n"
    );
    let trace = trace(&text);
    assert_eq!(numbers(&trace.workload), [6]);
    assert_eq!(trace.workload.jobs[0].requested_time, Some(LONGEST));
    assert_eq!(trace.skipped.count(Reason::OutOfRange), 4);
    assert_eq!(trace.skipped.count(Reason::RunsTooLong), 2);
}

#[test]
fn a_row_that_cannot_be_is_named_by_its_line() {
    let day = 86_400;
    let text = format!("1 0 -1 {} 2\n2 0 -1 {} 2\n", 365 * day, 365 * day + 1);
    let trace = trace(&text);
    assert_eq!(numbers(&trace.workload), [1]);
    let expected = "1 skipped: 1 with a run time above 365 days (first: line 2)";
    assert_eq!(trace.skipped.to_string(), expected);
    let text = format!("1 0 -1 9 2\n2 {} -1 9 2\n3 5 -1 9 2\n", 101_u64 * 365 * day);
    let error = read_from("far", text.as_bytes(), Origin::FirstJob).unwrap_err();
    let expected =
        "far, line 2: submitted 101 years after the first job; correct the row, or remove it";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn lines_without_end_and_without_a_record_are_given_up() {
    let blank = std::io::repeat(b'\n');
    let error = read_from("blank", blank, Origin::FirstJob).unwrap_err();
    let expected =
        "blank, line 1000001: no record in the last 1000000 lines; give a trace in SWF or GWF";
    assert_eq!(error.to_string(), expected);
    let comments = "; x\n".repeat(1_000_001);
    let error = read_from("x", comments.as_bytes(), Origin::FirstJob).unwrap_err();
    assert!(matches!(
        error,
        ReadError::NoRecords {
            line: 1_000_001,
            ..
        }
    ));
}

#[test]
fn what_is_not_a_number_is_skipped() {
    for field in [
        "x", "1x", "-", "+", ".", "--1", "1.2.3", "nan", "inf", "0x10", "1e", "\u{fc}",
    ] {
        let text = format!("1 0 -1 9 2\n2 {field} -1 9 2\n");
        let trace = trace(&text);
        assert_eq!(trace.skipped.count(Reason::NotANumber), 1, "{field}");
    }
}

#[test]
fn binary_data_is_refused_where_it_is() {
    let error = refusal(b"; a trace\n1 0 -1 9 2\n\x00\x01\n");
    assert!(
        matches!(error, ReadError::Binary { line: 3, .. }),
        "{error}"
    );
    let error = refusal(&compressed(b"SQLite format 3\0"));
    assert!(
        matches!(error, ReadError::Binary { line: 1, .. }),
        "{error}"
    );
}

#[test]
fn other_files_are_refused_with_their_kind() {
    for (bytes, with) in [
        (&b"BZh91AY"[..], "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
    ] {
        assert!(refusal(bytes).to_string().contains(with));
    }
    for text in [
        "<html>",
        "{\"jobs\": []}",
        "a,b,c\n1,2,3",
        "1 2 3",
        "0 0 0 0 x",
    ] {
        let error = refusal(text.as_bytes());
        assert!(
            matches!(error, ReadError::UnknownFormat { line: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_gzip_file_cut_anywhere_is_an_error_and_no_workload() {
    let record = "1 0 -1 9 2 -1 -1 3 10 -1 1 4 5 -1 -1 6 -1 -1\n";
    let whole = compressed(record.repeat(500).as_bytes());
    for length in 2..whole.len() {
        let error = refusal(&whole[..length]);
        assert!(
            matches!(error, ReadError::Damaged { .. }),
            "{length}: {error}"
        );
    }
    let mut damaged = whole.clone();
    let checksum = whole.len() - 5;
    damaged[checksum] ^= 1;
    assert!(matches!(refusal(&damaged), ReadError::Damaged { .. }));
}

#[test]
fn a_trace_without_a_usable_job_is_an_error() {
    for text in ["", "\n\n", "; only\n; comments\n", "# none\n"] {
        let error = refusal(text.as_bytes());
        assert!(matches!(error, ReadError::NoUsableJob { .. }), "{error}");
    }
    let error = refusal(b"1 0 -1 0 4\n2 0 -1 9 0\n");
    assert_eq!(
        error.to_string(),
        "test: no usable job in 2 lines, 2 skipped: 1 with no run time, 1 with no processors (first: line 1); \
        a job needs a submit time, a run time and processors"
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error_of_one_line() {
    let error = read("/no/such\nfile.swf", Origin::FirstJob).expect_err("no such file");
    let text = error.to_string();
    assert!(
        text.starts_with("/no/such?file.swf: cannot be read: "),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_header_without_end_is_kept_only_in_part() {
    let many = "; Note: a\n;  and more of it\n".repeat(50_000);
    let trace = trace(&format!("{many}1 0 -1 9 2\n"));
    assert_eq!(trace.header.entries().count(), 1_000);
    let long = format!("; Note: a\n{}1 0 -1 9 2\n", "; more\n".repeat(50_000));
    let trace = super::trace(&long);
    let kept: usize = trace.header.values("Note").map(str::len).sum();
    assert!(kept <= 4_096, "{kept}");
}

#[test]
fn a_trace_has_so_many_jobs_and_not_one_more() {
    let line = "1 0 -1 60 4 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n";
    let read = |most| {
        let text = line.repeat(3);
        reader::read_at_most(most, "test", text.as_bytes(), Origin::FirstJob)
    };
    assert_eq!(read(3).unwrap().workload.jobs.len(), 3);
    let error = read(2).unwrap_err().to_string();
    assert_eq!(
        error,
        "test, line 3: more than 2 jobs; cut the trace into parts first"
    );
}
