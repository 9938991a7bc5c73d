//! Large buffers that are used again.
//!
//! Fresh memory costs a page fault for every 4 KiB, which is more than filling it with decoded cells costs. Buffers of
//! batches that nobody needs any more are therefore kept for the next ones, up to a bound.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arrow_buffer::{ArrowNativeType, Buffer};

/// Smaller buffers are cheap.
const LEAST: usize = 64 * 1024;

/// Bytes that may lie idle.
const MOST: usize = 32 * 1024 * 1024;

#[derive(Default)]
struct Shelf {
    /// Vectors by the type of their elements.
    idle: HashMap<TypeId, Vec<Box<dyn Any + Send>>>,
    bytes: usize,
}

static SHELF: LazyLock<Mutex<Shelf>> = LazyLock::new(Mutex::default);

/// A vector that goes back to the shelf when the last buffer over it is gone.
struct Lent<T: Copy + Send + 'static>(Vec<T>);

impl<T: Copy + Send + 'static> Drop for Lent<T> {
    fn drop(&mut self) {
        let mut idle = std::mem::take(&mut self.0);
        idle.clear();
        let bytes = idle.capacity() * size_of::<T>();
        let mut shelf = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.bytes + bytes <= MOST {
            shelf.bytes += bytes;
            shelf.idle.entry(TypeId::of::<T>()).or_default().push(Box::new(idle));
        }
    }
}

/// Makes room for `more` elements in `values`, in a used vector where one is large enough.
pub fn reserve<T: Copy + Send + 'static>(values: &mut Vec<T>, more: usize) {
    let needed = values.len().saturating_add(more);
    if values.capacity() >= needed {
        return;
    }
    if needed.saturating_mul(size_of::<T>()) >= LEAST
        && let Some(mut used) = take::<T>(needed)
    {
        used.extend_from_slice(values);
        *values = used;
        return;
    }
    values.reserve_exact(more);
}

fn take<T: Copy + Send + 'static>(needed: usize) -> Option<Vec<T>> {
    let mut shelf = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
    let idle = shelf.idle.get_mut(&TypeId::of::<T>())?;
    let capacity = |kept: &Box<dyn Any + Send>| kept.downcast_ref::<Vec<T>>().map_or(0, Vec::capacity);
    // The smallest that is large enough, so that the larger are there for what needs them.
    let fitting = idle.iter().map(capacity).enumerate().filter(|&(_, capacity)| capacity >= needed);
    let (at, _) = fitting.min_by_key(|&(_, capacity)| capacity)?;
    let used = idle.swap_remove(at).downcast::<Vec<T>>().ok()?;
    shelf.bytes = shelf.bytes.saturating_sub(used.capacity() * size_of::<T>());
    Some(*used)
}

/// The values as a buffer of Arrow's, without a copy.
pub fn buffer<T: ArrowNativeType>(values: Vec<T>) -> Buffer {
    if values.capacity() * size_of::<T>() < LEAST {
        return Buffer::from_vec(values);
    }
    let lent = Lent(values);
    let (start, len) = (NonNull::from(lent.0.as_slice()).cast::<u8>(), size_of_val(lent.0.as_slice()));
    // SAFETY: the bytes are those of the vector, which stays where it is and is not changed until the buffer drops it.
    unsafe { Buffer::from_custom_allocation(start, len, Arc::new(AssertUnwindSafe(lent))) }
}
