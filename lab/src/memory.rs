//! How much memory there is, if the system tells.

use std::fs;

/// How many bytes this process may still take, by free memory and by its limits. `None` if the system does not tell.
pub(crate) fn free_bytes() -> Option<u64> {
    let machine = kilobytes("/proc/meminfo", "MemAvailable:");
    let group = number("/sys/fs/cgroup/memory.max").map(|most| {
        let taken = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
        most.saturating_sub(taken)
    });
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = field(&limits, "Max address space").map(|most| {
        let taken = kilobytes("/proc/self/status", "VmSize:").unwrap_or(0);
        most.saturating_sub(taken)
    });
    [machine, group, limit].into_iter().flatten().min()
}

/// The most bytes that this process has had at one time.
pub(crate) fn peak_bytes() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn kilobytes(path: &str, name: &str) -> Option<u64> {
    Some(field(&fs::read_to_string(path).ok()?, name)? * 1024)
}

/// The first number in the line that begins with this name.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_line_counts_and_no_limit_is_none() {
        let text = "MemFree: 17 kB\nMax address space  unlimited unlimited bytes\n";
        assert_eq!(field(text, "MemFree:"), Some(17));
        assert_eq!(field(text, "Max address space"), None);
        assert_eq!(field(text, "MemAvailable:"), None);
    }
}
