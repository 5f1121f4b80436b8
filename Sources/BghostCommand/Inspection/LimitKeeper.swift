// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostTerminal
internal import Glibc

/// Reports how limits of memory, threads and processor shares are enforced on this machine.
struct LimitKeeper {
    /// Whether the kernel enforces them, for a daemon with its own control group.
    let isKernel: Bool
    let text: String

    /// Inspects this machine.
    static func here() -> LimitKeeper {
        let found = ControlGroup.detect()
        let controllers = found?.controllers ?? []
        let place = found.map { TerminalText.escaped($0.group) } ?? ""
        let processors =
            controllers.contains("cpu")
            ? "" : "; without a cpu controller no plugin with limits.cpuQuota is run"
        guard controllers.contains("memory") else {
            return LimitKeeper(
                isKernel: false,
                text:
                    "memory of workers is watched by bghost, ten times a second and after each 10 ms of"
                    + " processor time, with RLIMIT_AS as the backstop, and shared memory is refused to"
                    + " them: \(reason(found == nil, place)); a unit with Delegate=yes, or a container with a"
                    + " group of its own, has the kernel do it" + processors
            )
        }
        return LimitKeeper(
            isKernel: true,
            text:
                "memory of workers can be held by the kernel (cgroup v2, \(place)) for a bghost that has"
                + " a group of its own: Delegate=yes in its unit" + processors
        )
    }

    private static func reason(_ isAbsent: Bool, _ place: String) -> String {
        guard isAbsent else {
            return "cgroup v2 has no memory controller in \(place) (where v1 has it, boot with"
                + " systemd.unified_cgroup_hierarchy=1)"
        }
        let hasFirst = access("/sys/fs/cgroup/memory/cgroup.procs", F_OK) == 0
        return hasFirst
            ? "only cgroup v1 is here, which bghost does not use (boot with"
                + " systemd.unified_cgroup_hierarchy=1)"
            : "there is no cgroup v2 here"
    }

    /// Prints the report as one line.
    func show(_ console: Console) {
        console.answer("\(console.out.painted(isKernel ? Style.Mark.good : .warning)) \(text)\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("heldBy", isKernel ? "kernel" : "bghost")
            writer.member("detail", text)
        }
    }
}
