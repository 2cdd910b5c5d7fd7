//! The content of a file as Python sees it: a read-only `memoryview` of the store's own memory.
//!
//! A `memoryview` needs an object that has the buffer protocol. The stable interface of CPython
//! 3.10 does not offer it to classes made with PyO3 (that of 3.11 does), although the interpreter
//! supports it: so the class is made here, by `PyType_FromSpec`, with the numbers that these two
//! slots have had since 3.9 and that 3.11 made official.

#![expect(unsafe_code, reason = "a class with the buffer protocol, in C's terms")]

use crate::fork::OfProcess;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use seekless::io::Buffer;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::size_of;

/// A share of a file's content, as an object of C.
#[repr(C)]
struct Object {
    head: ffi::PyObject,
    content: *mut OfProcess<Buffer>,
}

unsafe extern "C" {
    /// Part of every CPython, and of the stable interface since 3.11.
    fn PyBuffer_FillInfo(
        view: *mut c_void,
        object: *mut ffi::PyObject,
        bytes: *mut c_void,
        length: ffi::Py_ssize_t,
        readonly: c_int,
        flags: c_int,
    ) -> c_int;
}

const BF_GETBUFFER: c_int = 1;
const READ_ONLY: c_int = 1;
/// `Py_TPFLAGS_DISALLOW_INSTANTIATION`: only a load makes one.
const NO_NEW: std::ffi::c_ulong = 1 << 7;

unsafe extern "C" fn get_buffer(
    object: *mut ffi::PyObject,
    view: *mut c_void,
    flags: c_int,
) -> c_int {
    // SAFETY: Python calls it with an object of our class, whose content lives as long as it does,
    // and with a view to fill. The bytes are never written to, since the view is read-only.
    unsafe {
        let content = &*(*object.cast::<Object>()).content;
        // A fork leaves the memory as it is.
        let bytes: &[u8] = content.anywhere().map_or(&[], |buffer| buffer);
        let start = bytes.as_ptr().cast_mut().cast();
        PyBuffer_FillInfo(view, object, start, bytes.len() as isize, READ_ONLY, flags)
    }
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: Python calls it once, with the last reference to an object of our class. An object of
    // a class on the heap owns a reference to the class.
    unsafe {
        drop(Box::from_raw((*object.cast::<Object>()).content));
        let class = ffi::Py_TYPE(object);
        let free: ffi::freefunc = std::mem::transmute(ffi::PyType_GetSlot(class, ffi::Py_tp_free));
        free(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}

static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let make = || {
        let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
        let mut slots = [
            slot(BF_GETBUFFER, get_buffer as *mut c_void),
            slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
            slot(
                ffi::Py_tp_doc,
                c"The content of a file of a store, read-only.".as_ptr().cast_mut().cast(),
            ),
            slot(0, std::ptr::null_mut()),
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"seekless._seekless.Content".as_ptr(),
            basicsize: size_of::<Object>() as c_int,
            itemsize: 0,
            flags: (ffi::Py_TPFLAGS_DEFAULT | NO_NEW) as c_uint,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: name and documentation live for ever; Python copies the rest.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec)) }
            .map(Bound::unbind)
    };
    Ok(CLASS.get_or_try_init(py, make)?.bind(py))
}

/// A read-only `memoryview` of the buffer, which lives as long as the view and its parts do.
pub(crate) fn view(py: Python<'_>, buffer: Buffer) -> PyResult<Bound<'_, PyAny>> {
    let class = class(py)?.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: the class is ours, so that a new object of it has room for `Object`. Its content is
    // set before anything else sees it.
    let object = unsafe {
        let object = ffi::PyType_GenericAlloc(class, 0);
        if object.is_null() {
            return Err(PyMemoryError::new_err("there is no memory for a view"));
        }
        (*object.cast::<Object>()).content = Box::into_raw(Box::new(OfProcess::new(buffer)));
        Bound::from_owned_ptr(py, object)
    };
    // SAFETY: returns a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromObject(object.as_ptr())) }
}
