use super::*;
use std::string::ToString;

#[test]
fn values_that_cannot_work_together_are_refused() {
    let error = |config| Custody::new(id(ME), config).err();
    let second = Span::from_secs(1);
    let wrong = [
        (
            Config {
                retry: Span::ZERO,
                ..CONFIG
            },
            ConfigError::ZeroTime,
        ),
        (
            Config {
                search: Span::ZERO,
                ..CONFIG
            },
            ConfigError::ZeroTime,
        ),
        (
            Config {
                lease: Span::from_secs(27) - second,
                ..CONFIG
            },
            ConfigError::ShortLease,
        ),
        (
            Config {
                retention: CONFIG.retry - second,
                ..CONFIG
            },
            ConfigError::ShortRetention,
        ),
        (
            Config {
                rounds: 0,
                ..CONFIG
            },
            ConfigError::NoRounds,
        ),
    ];
    for (config, expected) in wrong {
        assert_eq!(error(config), Some(expected));
        assert!(!expected.to_string().is_empty());
    }
    let shortest = Config {
        lease: Span::from_secs(27),
        ..CONFIG
    };
    assert_eq!(error(shortest), None);
    let told_once = Config {
        retention: CONFIG.retry,
        ..CONFIG
    };
    assert_eq!(error(told_once), None);
    assert_eq!(error(Config::default()), None);
}
