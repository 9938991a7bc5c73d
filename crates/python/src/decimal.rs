//! `decimal.Decimal` from text.
//!
//! The ordinary way, calling `Decimal(str)`, costs five times as much as all the rest of a cell. CPython's own
//! implementation keeps the number in a small structure inside the object; where an import-time check shows that this
//! structure is the one we know, it is filled directly. Where the check fails, the ordinary way is used; also where the
//! environment says `ROWFERRY_DECIMAL=portable`.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rowferry_wire::digits;

use crate::cells::Object;

/// `_decimal.Decimal` as CPython 3.10 to 3.14 lay it out on 64-bit platforms.
#[repr(C)]
struct Layout {
    head: ffi::PyObject,
    hash: ffi::Py_hash_t,
    flags: u8,
    exponent: isize,
    digits: isize,
    len: isize,
    alloc: isize,
    data: *mut u64,
    words: [u64; 4],
}

/// Sign of a number below zero (libmpdec's `MPD_NEG`).
const NEGATIVE: u8 = 0x01;
/// The number and its words live inside the object (`MPD_STATIC | MPD_STATIC_DATA`).
const INLINE: u8 = 0x30;
// Words are digits of a number in base 10^19.
const _: () = assert!(digits::MOST == 19);

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DIRECT: AtomicBool = AtomicBool::new(false);
/// The class is a static type without the collector's head in front of its objects: so up to Python 3.11 or 3.12.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Finds the class and checks its layout.
pub fn import(py: Python<'_>) -> PyResult<()> {
    let class = py.import("decimal")?.getattr("Decimal")?.cast_into::<PyType>()?;
    let class = CLASS.get_or_init(py, || class.unbind()).bind(py);
    let known = cfg!(target_pointer_width = "64") && py.version_info() >= (3, 10) && py.version_info() < (3, 15);
    // SAFETY: a type object of the running interpreter.
    let flags = unsafe { ffi::PyType_GetFlags(class.as_type_ptr()) };
    PLAIN.store(flags & (ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_HEAPTYPE) == 0, Ordering::Relaxed);
    DIRECT.store(known && is_wanted(py)? && layout_is_known(class), Ordering::Relaxed);
    Ok(())
}

/// What the environment says of it.
fn is_wanted(py: Python<'_>) -> PyResult<bool> {
    const NAME: &str = "ROWFERRY_DECIMAL";
    match std::env::var_os(NAME) {
        None => Ok(true),
        Some(wanted) if wanted == "direct" || wanted.is_empty() => Ok(true),
        Some(wanted) if wanted == "portable" => Ok(false),
        Some(wanted) => {
            let message = format!("{NAME} is `direct` or `portable`, not `{}`", wanted.to_string_lossy());
            Err(crate::errors::error(py, crate::errors::Class::Interface, None, &message))
        }
    }
}

/// True when numbers are filled in directly.
pub fn is_direct() -> bool {
    DIRECT.load(Ordering::Relaxed)
}

fn layout_is_known(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a type object of the running interpreter.
    let size = unsafe { (*class.as_type_ptr()).tp_basicsize };
    if size != size_of::<Layout>() as ffi::Py_ssize_t {
        return false;
    }
    let samples = [
        "0",
        "-0",
        "-0.00",
        "1",
        "-1.5",
        "12345678.90",
        "0.0000001",
        "9999999999999999999",
        "-0.999999999999999999",
        "1000000000000000000",
        "1844674407370955.161",
        "100",
        "-7E3",
    ];
    samples.into_iter().all(|sample| {
        let check = || -> PyResult<bool> {
            let py = class.py();
            let ordinary = class.call1((sample,))?;
            // Read an object of theirs before writing one of ours.
            // SAFETY: the object is of this size, so every field is memory of its own.
            let seen = unsafe { &*ordinary.as_ptr().cast::<Layout>() };
            if seen.flags & !NEGATIVE != INLINE
                || seen.len != 1
                || seen.alloc != 4
                || seen.data.cast_const() != seen.words.as_ptr()
            {
                return Ok(false);
            }
            let Some(parts) = Parts::parse(sample.as_bytes(), 2) else { return Ok(sample.contains('E')) };
            if (seen.exponent, seen.digits, seen.words[0]) != (parts.exponent, parts.digits, parts.coefficient) {
                return Ok(false);
            }
            // SAFETY: the size and the fields above agree with `Layout`.
            let ours = unsafe { Bound::from_owned_ptr_or_err(py, fill(class.as_type_ptr(), &parts)) }?;
            let same =
                |method: &str| -> PyResult<bool> { ours.call_method0(method)?.eq(ordinary.call_method0(method)?) };
            let spelled = |number: PyResult<Bound<'_, PyAny>>| -> PyResult<String> { Ok(number?.str()?.to_string()) };
            let tracked = |number: &Bound<'_, PyAny>| -> PyResult<bool> {
                py.import("gc")?.call_method1("is_tracked", (number,))?.is_truthy()
            };
            Ok(ours.eq(&ordinary)?
                && ordinary.eq(&ours)?
                && ["__hash__", "__str__", "__repr__", "as_tuple", "__neg__", "__reduce__", "__sizeof__", "adjusted"]
                    .into_iter()
                    .map(same)
                    .try_fold(true, |all, same| same.map(|same| all && same))?
                && spelled(ours.add(&ours))? == spelled(ordinary.add(&ordinary))?
                && spelled(ours.mul(&ours))? == spelled(ordinary.mul(&ordinary))?
                && spelled(ours.sub(&ordinary))? == spelled(ordinary.sub(&ours))?
                && spelled(ours.call_method0("normalize"))? == spelled(ordinary.call_method0("normalize"))?
                && tracked(&ours)? == tracked(&ordinary)?)
        };
        check().unwrap_or(false)
    })
}

/// A number of at most 19 digits, taken apart.
struct Parts {
    negative: bool,
    coefficient: u64,
    digits: isize,
    exponent: isize,
}

impl Parts {
    /// Reads `[-]digits[.digits]`, most likely with so many `decimals`. `None` for anything else, and for numbers of more
    /// digits.
    #[inline]
    fn parse(text: &[u8], decimals: usize) -> Option<Self> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (coefficient, decimals) = digits::parse_fixed(text, decimals)?;
        let digits = match text {
            // Without a zero in front, all that stands there counts.
            [b'1'..=b'9', ..] => text.len() - usize::from(decimals > 0 || text.last() == Some(&b'.')),
            _ => coefficient.checked_ilog10().unwrap_or(0) as usize + 1,
        } as isize;
        Some(Self { negative, coefficient, digits, exponent: -(decimals as isize) })
    }
}

/// # Safety
/// `class` has instances of the layout `Layout`.
#[inline]
unsafe fn fill(class: *mut ffi::PyTypeObject, parts: &Parts) -> Object {
    // SAFETY: both ways answer an object of the type's size (104 bytes, checked at import), or null. The shorter one
    // leaves the words behind `len` as they are, which is where nobody looks.
    unsafe {
        let object = if PLAIN.load(Ordering::Relaxed) {
            ffi::PyObject_New(class)
        } else {
            let Some(alloc) = (*class).tp_alloc else { return ptr::null_mut() };
            alloc(class, 0)
        };
        if !object.is_null() {
            let layout = object.cast::<Layout>();
            (*layout).hash = -1;
            (*layout).flags = INLINE | if parts.negative { NEGATIVE } else { 0 };
            (*layout).exponent = parts.exponent;
            (*layout).digits = parts.digits;
            (*layout).len = 1;
            (*layout).alloc = 4;
            (*layout).words[0] = parts.coefficient;
            (*layout).data = (&raw mut (*layout).words).cast();
        }
        object
    }
}

/// An exact number from its spelling, most likely with so many `decimals`. A `decimal.InvalidOperation` when it is none.
#[inline]
pub fn from_ascii(text: &[u8], decimals: u8) -> Object {
    // SAFETY: the GIL is held by whoever builds cells; it is what makes `attach_unchecked` true.
    let py = unsafe { Python::assume_attached() };
    let Some(class) = CLASS.get(py) else { return ptr::null_mut() };
    if DIRECT.load(Ordering::Relaxed)
        && let Some(parts) = Parts::parse(text, usize::from(decimals))
    {
        // SAFETY: `import` has checked the layout.
        return unsafe { fill(class.as_ptr().cast(), &parts) };
    }
    // SAFETY: the references are counted as the C API says.
    unsafe {
        let spelled = crate::cells::text(text);
        if spelled.is_null() {
            return spelled;
        }
        let number = ffi::PyObject_CallOneArg(class.as_ptr(), spelled);
        ffi::Py_DECREF(spelled);
        number
    }
}
