//! Where this kernel has the fields that the programs read.

use super::convention::HERE;
use crate::bpf::KernelTypes;
use std::io;

/// The types that are asked for here.
pub(super) const TYPES: [&str; 21] = [
    "task_struct",
    "thread_info",
    "signal_struct",
    "files_struct",
    "fdtable",
    "fs_struct",
    "file",
    "inode",
    "super_block",
    "dentry",
    "qstr",
    "mount",
    "vfsmount",
    "path",
    "io_kiocb",
    "io_rw",
    "kiocb",
    "io_uring_cqe",
    "pt_regs",
    SUBMITTED,
    COMPLETED,
];
/// Gives an address a type, so that the fields there can be loaded as they are (Linux 6.2).
pub(super) const CAST: &str = "bpf_rdonly_cast";
const SUBMITTED: &str = "btf_trace_io_uring_submit_req";
const COMPLETED: &str = "btf_trace_io_uring_complete";

/// Offsets, named for their struct.
pub(super) struct Fields {
    pub(super) task_status: i32,
    pub(super) task_pid: i32,
    pub(super) task_process: i32,
    pub(super) task_files: i32,
    pub(super) task_fs: i32,
    pub(super) task_mm: i32,
    pub(super) task_signal: i32,
    pub(super) signal_live: i32,
    pub(super) files_count: i32,
    pub(super) files_table: i32,
    /// How many descriptors there may be; the address of the table follows.
    pub(super) table_most: i32,
    pub(super) table_open: i32,
    pub(super) fs_directory: i32,
    pub(super) file_path: i32,
    pub(super) file_inode: i32,
    pub(super) file_position: i32,
    pub(super) file_flags: i32,
    pub(super) inode_number: i32,
    pub(super) inode_mode: i32,
    pub(super) inode_bytes: i32,
    pub(super) inode_links: i32,
    pub(super) inode_system: i32,
    pub(super) system_device: i32,
    pub(super) system_magic: i32,
    pub(super) dentry_parent: i32,
    pub(super) dentry_name: i32,
    pub(super) mount_of_view: i32,
    pub(super) mount_parent: i32,
    pub(super) mount_point: i32,
    pub(super) view_root: i32,
}

impl Fields {
    pub(super) fn of(types: &KernelTypes) -> io::Result<Self> {
        let at = |of: &str, field: &str| types.offset(of, field);
        let fields = Self {
            task_status: at("task_struct", "thread_info")? + at("thread_info", HERE.status)?,
            task_pid: at("task_struct", "pid")?,
            task_process: at("task_struct", "tgid")?,
            task_files: at("task_struct", "files")?,
            task_fs: at("task_struct", "fs")?,
            task_mm: at("task_struct", "mm")?,
            task_signal: at("task_struct", "signal")?,
            signal_live: at("signal_struct", "live")?,
            files_count: at("files_struct", "count")?,
            files_table: at("files_struct", "fdt")?,
            table_most: at("fdtable", "max_fds")?,
            table_open: at("fdtable", "open_fds")?,
            fs_directory: at("fs_struct", "pwd")?,
            file_path: at("file", "f_path")?,
            file_inode: at("file", "f_inode")?,
            file_position: at("file", "f_pos")?,
            file_flags: at("file", "f_flags")?,
            inode_number: at("inode", "i_ino")?,
            inode_mode: at("inode", "i_mode")?,
            inode_bytes: at("inode", "i_size")?,
            inode_links: at("inode", "i_nlink")?,
            inode_system: at("inode", "i_sb")?,
            system_device: at("super_block", "s_dev")?,
            system_magic: at("super_block", "s_magic")?,
            dentry_parent: at("dentry", "d_parent")?,
            dentry_name: at("dentry", "d_name")? + at("qstr", "name")?,
            mount_of_view: at("mount", "mnt")?,
            mount_parent: at("mount", "mnt_parent")?,
            mount_point: at("mount", "mnt_mountpoint")?,
            view_root: at("vfsmount", "mnt_root")?,
        };
        let is_as_thought = at("fdtable", "fd")? == fields.table_most + 8
            && at("path", "mnt")? == 0
            && at("path", "dentry")? == 8;
        if is_as_thought {
            return Ok(fields);
        }
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel's tables are laid out otherwise",
        ))
    }
}

/// The numbers of the function [`CAST`] and of the types that it gives.
#[derive(Clone, Copy)]
pub(super) struct Casts {
    pub(super) function: i32,
    pub(super) task: i32,
    pub(super) registers: i32,
    /// One that begins with a number of eight bytes.
    pub(super) word: i32,
    pub(super) file: i32,
    pub(super) inode: i32,
    pub(super) dentry: i32,
    pub(super) view: i32,
}

impl Casts {
    /// `None` if this kernel has no such function.
    pub(super) fn of(types: &KernelTypes) -> Option<Self> {
        Some(Self {
            function: types.function()?,
            task: types.structure("task_struct")?,
            registers: types.structure("pt_regs")?,
            word: types.structure("pt_regs")?,
            file: types.structure("file")?,
            inode: types.structure("inode")?,
            dentry: types.structure("dentry")?,
            view: types.structure("vfsmount")?,
        })
    }
}

/// Where a request of io_uring has the reported fields.
pub(super) struct RingFields {
    pub(super) operation: i32,
    pub(super) file: i32,
    pub(super) offset: i32,
    pub(super) length: i32,
    /// In the entry of the completion queue.
    pub(super) result: i32,
}

impl RingFields {
    /// `None` if this kernel has no io_uring, or reports it in another way (before Linux 6.3).
    pub(super) fn of(types: &KernelTypes) -> Option<Self> {
        let at = |of: &str, field: &str| types.offset(of, field).ok();
        // The context of the program comes first.
        let hands_over =
            |place: &str, arguments: usize| types.arguments(place) == Some(1 + arguments);
        if !hands_over(SUBMITTED, 1) || !hands_over(COMPLETED, 3) {
            return None;
        }
        let own = at("io_kiocb", "cmd")?;
        Some(Self {
            operation: at("io_kiocb", "opcode")?,
            file: at("io_kiocb", "file")?,
            offset: own + at("io_rw", "kiocb")? + at("kiocb", "ki_pos")?,
            length: own + at("io_rw", "len")?,
            result: at("io_uring_cqe", "res")?,
        })
    }
}
