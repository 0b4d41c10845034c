//! Prints the digest of the history of each small grid: on a host, and on a bare Cortex-M3 through its debugger.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

#[path = "../../../core/tests/suites/same_history/grids.rs"]
mod grids;

/// The seed of the network and of the nodes' random choices.
const SEED: u64 = 7;

#[cfg(not(target_os = "none"))]
fn main() {
    for scheduler in grids::SCHEDULERS {
        if let Some(history) = grids::run(scheduler, SEED, &mut || {}) {
            println!("{scheduler} {history}");
        }
    }
}

#[cfg(target_os = "none")]
mod bare {
    use cortex_m::peripheral::syst::SystClkSource;
    use cortex_m_rt::entry;
    use cortex_m_semihosting::{debug, hprintln};
    use panic_semihosting as _;

    use crate::{SEED, grids};

    /// The memory for the machines, their hosts and the network between them.
    const HEAP: usize = 256 << 10;

    #[global_allocator]
    static ALLOCATOR: emballoc::Allocator<HEAP> = emballoc::Allocator::new();

    /// The number of ticks after which the clock of the board wraps around.
    const LAP: u32 = 1 << 24;

    #[entry]
    fn main() -> ! {
        let mut clock = cortex_m::Peripherals::take()
            .expect("nobody took them before")
            .SYST;
        clock.set_clock_source(SystClkSource::Core);
        clock.set_reload(LAP - 1);
        clock.clear_current();
        clock.enable_counter();
        for scheduler in grids::SCHEDULERS {
            // Events are far shorter than a lap.
            let (mut ticks, mut before) = (0_u64, cortex_m::peripheral::SYST::get_current());
            let mut watch = || {
                let current = cortex_m::peripheral::SYST::get_current();
                // The clock counts down.
                ticks += u64::from(before.wrapping_sub(current) % LAP);
                before = current;
            };
            if let Some(history) = grids::run(scheduler, SEED, &mut watch) {
                hprintln!("{} {}", scheduler, history);
                hprintln!("# {} ticks of {}", ticks, scheduler);
            }
        }
        debug::exit(debug::EXIT_SUCCESS);
        loop {}
    }
}
