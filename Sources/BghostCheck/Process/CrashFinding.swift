// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghostSystem
internal import Glibc

extension CheckChild.Account {
    /// The finding of the process, or a finding about how it ended.
    func finding(of check: Check, _ mebibytes: UInt64) -> Finding? {
        // A verdict counts only if the process ended by itself with status 0.
        guard let verdict, exit?.exited == true, exit?.code == 0 else {
            return ending(of: check, mebibytes)
        }
        return verdict
    }

    /// The finding about a process without a verdict.
    private func ending(of check: Check, _ mebibytes: UInt64) -> Finding {
        let place = phase.isEmpty ? "" : " in \(phase)"
        if isOverdue {
            return .failed(
                "it did not come back\(place) within \(milliseconds / 1000) s",
                fix: "look where it waits: --check \(check.id) --in-process under a debugger"
            )
        }
        if isTooLarge {
            return .failed(
                "it takes more than \(mebibytes) MiB of memory\(place)",
                fix: "take less at a time: a worker is ended when it exceeds its limit"
            )
        }
        guard let exit else {
            return .failed("its process did not end, not even when it was killed\(place)")
        }
        if exit.exited {
            return Finding(
                verdict: .crashed,
                message: "it ended the process with exit code \(exit.code)\(place)"
                    + (exit.code == 0 ? ", or closed descriptors that are not its own" : ""),
                fix: "never call exit() or _exit(): return a status. A run that ends this way is"
                    + " recorded as crashed"
            )
        }
        if let fault, !fault.region.isEmpty {
            return Finding(
                verdict: .crashed,
                message: "\(name(of: exit.code)) at an access to \(fault.region),\(place)",
                fix: check.id == "late-reads"
                    ? "copy in start() what you need after the run is released"
                    : "the host's tables and texts are for reading only"
            )
        }
        return Finding(
            verdict: .crashed,
            message: "\(name(of: exit.code))\(place)" + lastLine.map { ": \($0)" }.orEmpty,
            fix: advice
        )
    }

    private var advice: String {
        if output.contains("terminate called") || output.contains("libc++abi") {
            return "no exception may leave a function that the host calls: catch all in start(),"
                + " cancel() and release()"
        }
        if output.contains("panicked at") {
            return "no panic may leave a function that the host calls: std::panic::catch_unwind"
                + " around all of it"
        }
        return "run it under a debugger with --in-process, or built with -fsanitize=address"
    }

    /// The last line of the output, which often contains the reason of a crash.
    private var lastLine: String? {
        output.split(separator: "\n").last { !$0.allSatisfy(\.isWhitespace) }.map {
            String($0.prefix(160))
        }
    }

    private func name(of signal: Int32) -> String {
        "SIG" + (bgs_signal_name(signal).map { String(cString: $0) } ?? String(signal))
    }
}

extension Optional where Wrapped == String {
    fileprivate var orEmpty: String { self ?? "" }
}
