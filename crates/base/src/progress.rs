//! Progress of a long step: reported by collectors, displayed by an optional listener.

use std::fmt;
use std::sync::Arc;

type Listener = dyn Fn(u64, u64) + Send + Sync;

/// Passes the numbers of finished and total bytes to a listener. The default has no listener.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Listener>>);

impl Progress {
    /// Calls `listener` with the finished and the total bytes, from several threads and in no
    /// particular order.
    pub fn new(listener: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Passes the finished and the total bytes to the listener.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(listener) = &self.0 {
            listener(done, total);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(listener)" } else { "Progress" })
    }
}
