//! How far a long step is: told by collectors, shown by whoever wants to.

use std::fmt;
use std::sync::Arc;

type Listener = dyn Fn(u64, u64) + Send + Sync;

/// Is told how many bytes of how many are done. The default listens to nothing.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Listener>>);

impl Progress {
    /// Calls `listener` with the bytes that are done and the bytes in all, from several threads
    /// and in no particular order.
    pub fn new(listener: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Tells the listener how many bytes of how many are done.
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
