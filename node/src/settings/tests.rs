use gridweave_core::time::Span;

use super::*;

#[test]
fn settings_that_are_written_are_read_again() {
    let mut settings = Settings::default();
    settings.network.introducers = vec!["n7@10.0.0.1:4850".to_owned().try_into().unwrap()];
    settings.network.banned = vec![Name(NodeId::new(9))];
    settings.times.lease = Some(Length(Span::from_millis(1500)));
    settings.grid.scheduler = Scheduler::Desktop;
    settings.grid.most = Some([64, 256, 8]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    std::fs::write(&file, settings.to_toml()).unwrap();
    assert_eq!(Settings::read(&file).unwrap(), settings);
}

#[test]
fn refused_settings_are_told_in_one_line_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let why = Settings::read(&file).unwrap_err().to_string();
        assert!(!why.contains('\n'), "{why}");
        why
    };
    assert!(refused("[network]\n\nlissen = 3").contains("line 3: unknown field `lissen`"));
    assert!(refused("[times]\nlease = '2 weeks'").contains("line 2: '2 weeks' is no length"));
    assert!(refused("[network]\nintroducers = ['n7']").contains("write NODE@ADDRESS:PORT"));
    assert!(refused("[observe]\nweb = '10.0.0.1:80'").contains("loopback"));
    assert!(refused("[observe]\nlevel = 'loud'").contains("observe.level"));
}

#[test]
fn lengths_have_units() {
    assert_eq!(length("250ms"), Ok(Span::from_millis(250)));
    assert_eq!(length("1d"), Ok(Span::from_secs(86_400)));
    for bad in ["", "5", "s", "-1s", "1.5s", "99999999999999999999d", "9w"] {
        assert!(length(bad).is_err(), "{bad}");
    }
}
