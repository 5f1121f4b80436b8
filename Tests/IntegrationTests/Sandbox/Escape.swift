// SPDX-License-Identifier: Apache-2.0

/// One way out of a worker, and what must be answered to it.
struct Escape: Sendable {
    enum Number: Sendable {
        case none
        case daemon
        case port
    }

    var act: String
    /// `SCENE` stands for the scene's folder, `OUTSIDE` for one that the manifest does not grant.
    var path: String
    var number: Number
    /// Every other answer is an escape, or stopped by accident.
    var answers: Set<String>
    /// Whether root can do it here without a sandbox.
    var isOpenWithoutSandbox: Bool

    init(
        _ act: String,
        _ path: String = "",
        _ number: Number = .none,
        _ answers: Set<String> = ["EPERM"],
        open isOpenWithoutSandbox: Bool = true
    ) {
        self.act = act
        self.path = path
        self.number = number
        self.answers = answers
        self.isOpenWithoutSandbox = isOpenWithoutSandbox
    }

    /// Not in its file system, or not by Landlock's rules.
    private static let hidden: Set<String> = ["EACCES", "ENOENT"]

    static let all: [Escape] = [
        // Files
        Escape("read_file", "/etc/passwd", .none, hidden),
        Escape("read_file", "/etc/shadow", .none, hidden),
        Escape("read_file", "OUTSIDE/secret", .none, hidden),
        Escape("write_file", "OUTSIDE/secret", .none, hidden),
        Escape("write_file", "/usr/escape-not-there", .none, ["EACCES", "EROFS"], open: false),
        Escape("write_file", "/escape-not-there", .none, ["EACCES", "EROFS"], open: false),
        Escape("list_folder", "/", .none, ["EACCES"]),
        Escape("list_folder", "/root", .none, hidden),
        Escape("climb", "/etc/passwd", .none, hidden),
        Escape("own_program", "", .none, ["EACCES", "ETXTBSY", "EROFS", "ENOENT"], open: false),
        Escape("change_mode", "OUTSIDE/secret", .none, ["ENOENT", "EPERM", "EROFS"]),
        Escape("change_times", "OUTSIDE/secret", .none, ["ENOENT", "EPERM", "EROFS"]),
        Escape("change_attribute", "OUTSIDE/secret", .none, ["ENOENT", "EPERM", "EROFS"]),
        Escape("cut_off", "OUTSIDE/secret", .none, ["ENOENT", "EACCES", "EPERM", "EROFS"]),
        Escape("change_mode", "/usr/bin/env", .none, ["EROFS", "EPERM"], open: false),
        // A program with these bits would give others the rights of the daemon's user.
        Escape("set_id_chmod"),
        Escape("set_id_fchmod"),
        Escape("set_id_fchmodat"),
        Escape("set_id_fchmodat2", "", .none, ["EPERM", "ENOSYS"]),
        Escape("set_id_creat"),
        Escape("set_id_open"),
        Escape("set_id_unnamed"),
        Escape("set_id_in_memory", "", .none, ["ENOSYS"]),
        Escape("set_id_folder"),
        Escape("set_id_node"),
        Escape("set_id_fifo"),
        Escape("set_capability"),
        Escape("file_handle"),
        Escape("lease"),
        Escape("preallocate", "", .none, ["EOPNOTSUPP", "ENOTSUP"]),
        Escape("mount_memory", "SCENE/place"),
        Escape("change_root"),
        // The daemon's process
        Escape("process_memory", "", .daemon, hidden),
        Escape("process_environment", "", .daemon, hidden),
        Escape("process_descriptors", "", .daemon, hidden),
        // Without a sandbox it would trace the test's own process, which would then stop.
        Escape("trace", "", .daemon, ["EPERM"], open: false),
        Escape("read_memory", "", .daemon),
        Escape("signal_process", "", .daemon),
        Escape("signal_thread", "", .daemon),
        Escape("take_descriptor", "", .daemon),
        Escape("limit_process", "", .daemon),
        Escape("slow_process", "", .daemon),
        Escape("owned_by_process", "", .daemon),
        // Sockets
        Escape("unix_socket", "OUTSIDE/secret", .none, ["EPERM"], open: false),
        Escape("unix_datagram"),
        Escape("socket_pair"),
        Escape("tcp", "", .port),
        Escape("udp"),
        Escape("raw"),
        Escape("packet"),
        Escape("netlink"),
        Escape("vsock", "", .none, ["EPERM"], open: false),
        // Processes and programs
        Escape("start_process"),
        Escape("sibling", "", .none, ["EPERM"], open: false),
        Escape("start_program", "/usr/bin/true"),
        Escape("become_program"),
        // Parts of the kernel
        Escape("namespaces"),
        Escape("user_namespace"),
        Escape("unshared_table"),
        Escape("thread_of_own_table"),
        Escape("enter_namespace", "", .none, ["EPERM"]),
        Escape("memory_file"),
        Escape("shared_memory"),
        // Memory that a look at the worker's own does not show.
        Escape("shared_pages"),
        Escape("shared_device", "", .none, hidden),
        Escape("huge_pages"),
        Escape("secret_memory", "", .none, ["EPERM"], open: false),
        Escape("semaphores"),
        Escape("messages"),
        Escape("message_queue"),
        Escape("pipe_size"),
        Escape("lent_pages"),
        Escape("own_memory", "", .none, hidden),
        Escape("terminal", "", .none, hidden, open: false),
        Escape("add_key", "", .none, ["EPERM"], open: false),
        Escape("performance", "", .none, ["EPERM"], open: false),
        Escape("watch_mounts", "", .none, ["EPERM"], open: false),
        Escape("io_uring"),
        Escape("bpf"),
        Escape("page_faults"),
        Escape("keyring", "", .none, ["EPERM"], open: false),
        Escape("persona"),
        Escape("host_name", "", .none, ["EPERM"], open: false),
        Escape("become_root"),
        // By the kernel's own rule, or by the filter where it has none.
        Escape("writable_code", "", .none, ["EACCES", "EPERM"]),
        Escape("code_of_data", "", .none, ["EACCES", "EPERM"]),
        Escape("code_of_file", "/tmp/code", .none, ["EPERM"]),
    ]

    /// With permissions for it; the same acts, so that it is not their own fault that they fail.
    static let permitted: [Escape] = [
        Escape("read_file", "SCENE/readable/text"),
        Escape("list_folder", "SCENE/readable"),
        Escape("write_file", "SCENE/writable/made"),
        Escape("read_file", "SCENE/writable/made"),
        Escape("change_mode", "SCENE/writable/made"),
        Escape("cut_off", "SCENE/writable/made"),
        Escape("write_file", "/tmp/scratch"),
        Escape("read_file", "/usr/share/zoneinfo/UTC"),
        Escape("read_file", "/dev/urandom"),
        Escape("tcp", "", .port),
        Escape("udp"),
        Escape("start_process"),
        Escape("start_program", "/usr/bin/true"),
        Escape("writable_code"),
        Escape("code_of_data"),
        Escape("code_of_file", "/tmp/code"),
    ]
}
