//! Where this kernel has the fields that the programs read.

use crate::bpf::KernelTypes;
use crate::call_events::convention::HERE;
use std::io;

/// The types that are asked for here.
pub(super) const TYPES: [&str; 16] = [
    "task_struct",
    "thread_info",
    "signal_struct",
    "files_struct",
    "fdtable",
    "fs_struct",
    "path",
    "dentry",
    "file",
    "inode",
    "super_block",
    "address_space",
    "linux_binprm",
    "pt_regs",
    RANGE,
    FAULT,
];
/// Gives an address a type, so that the fields there can be loaded as they are (Linux 6.2).
pub(super) const CAST: &str = "bpf_rdonly_cast";
const RANGE: &str = "btf_trace_mm_filemap_get_pages";
const FAULT: &str = "btf_trace_mm_filemap_fault";

/// Offsets, named for their struct, and the numbers of types.
pub(super) struct Fields {
    pub(super) cast: i32,
    pub(super) task: i32,
    pub(super) registers: i32,
    /// A type that begins with a number of eight bytes.
    pub(super) word: i32,
    pub(super) file: i32,
    pub(super) inode: i32,
    pub(super) mapping: i32,
    pub(super) program: i32,
    pub(super) task_status: i32,
    pub(super) task_process: i32,
    pub(super) task_files: i32,
    pub(super) task_fs: i32,
    pub(super) task_signal: i32,
    pub(super) signal_live: i32,
    pub(super) files_table: i32,
    pub(super) table_most: i32,
    pub(super) table_files: i32,
    pub(super) fs_directory: i32,
    pub(super) dentry_inode: i32,
    pub(super) file_inode: i32,
    pub(super) inode_number: i32,
    pub(super) inode_system: i32,
    pub(super) system_device: i32,
    pub(super) mapping_inode: i32,
    pub(super) program_name: i32,
    pub(super) program_interpreter: i32,
}

impl Fields {
    pub(super) fn of(types: &KernelTypes) -> io::Result<Self> {
        let lacks = |what: &str| {
            let why = format!("this kernel has no {what}");
            io::Error::new(io::ErrorKind::Unsupported, why)
        };
        // The context of the program comes first.
        if types.arguments(RANGE) != Some(1 + 3) || types.arguments(FAULT) != Some(1 + 2) {
            return Err(lacks("tracepoints of the page cache as Linux 6.12 has them"));
        }
        let at = |of: &str, field: &str| types.offset(of, field);
        let number = |of: &str| types.structure(of).ok_or_else(|| lacks(of));
        Ok(Self {
            cast: types.function().ok_or_else(|| lacks(CAST))?,
            task: number("task_struct")?,
            registers: number("pt_regs")?,
            word: number("pt_regs")?,
            file: number("file")?,
            inode: number("inode")?,
            mapping: number("address_space")?,
            program: number("linux_binprm")?,
            task_status: at("task_struct", "thread_info")? + at("thread_info", HERE.status)?,
            task_process: at("task_struct", "tgid")?,
            task_files: at("task_struct", "files")?,
            task_fs: at("task_struct", "fs")?,
            task_signal: at("task_struct", "signal")?,
            signal_live: at("signal_struct", "live")?,
            files_table: at("files_struct", "fdt")?,
            table_most: at("fdtable", "max_fds")?,
            table_files: at("fdtable", "fd")?,
            fs_directory: at("fs_struct", "pwd")? + at("path", "dentry")?,
            dentry_inode: at("dentry", "d_inode")?,
            file_inode: at("file", "f_inode")?,
            inode_number: at("inode", "i_ino")?,
            inode_system: at("inode", "i_sb")?,
            system_device: at("super_block", "s_dev")?,
            mapping_inode: at("address_space", "host")?,
            program_name: at("linux_binprm", "filename")?,
            program_interpreter: at("linux_binprm", "interp")?,
        })
    }
}
