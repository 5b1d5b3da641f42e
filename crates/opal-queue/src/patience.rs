//! Trying again while the server is away.

use std::time::Duration;

use tokio::time::Instant;

/// How long to wait before a request is sent again.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);

/// Tries something again until it succeeds, for so long. Answers the last error.
pub(crate) async fn persist<T, E>(
    limit: Duration,
    mut work: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, E> {
    let begun = Instant::now();
    loop {
        match work().await {
            Err(_) if begun.elapsed() < limit => tokio::time::sleep(PAUSE).await,
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    }

    #[test]
    fn work_is_tried_again_until_it_succeeds_or_the_limit_has_passed() {
        let mut times = 0;
        let third = persist(Duration::from_secs(60), async || {
            times += 1;
            if times < 3 { Err("away") } else { Ok(times) }
        });
        assert_eq!(run(third), Ok(3));
        let never = persist(Duration::ZERO, async || Err::<(), _>("away"));
        assert_eq!(run(never), Err("away"));
    }
}
