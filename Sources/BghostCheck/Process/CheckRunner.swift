// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
internal import Glibc

/// Performs the checks of one plugin, each in its own process.
package struct CheckRunner: Sendable {
    /// The plugin to check, and the settings.
    package struct Options: Sendable {
        /// Absolute path.
        var file: String
        package var strictness = CheckCatalog.strictnessUsual
        /// Perform only these checks and those that they need; empty means all.
        package var checks: [String] = []
        /// Check only this handler; `nil` means all.
        package var handler: String?
        /// A JSON object for each run.
        package var parameters = "{}"
        /// A JSON object for open().
        package var config = "{}"
        var seed: UInt64
        package var runtimeMilliseconds: UInt32 = 2000
        package var graceMilliseconds: UInt32 = 1000
        /// The resident memory limit of a check.
        package var memoryMebibytes: UInt64 = 1024

        package init(file: String, seed: UInt64) {
            self.file = file
            self.seed = seed
        }
    }

    private let options: Options
    private let wanted: [Check]

    package init(_ options: Options) {
        self.options = options
        var names = Set(options.checks)
        // Reverse order, since each check comes after those that it needs.
        for check in CheckCatalog.checks.reversed() where names.contains(check.id) {
            names.formUnion(check.needs)
        }
        wanted = CheckCatalog.checks.filter {
            options.checks.isEmpty ? $0.level <= options.strictness : names.contains($0.id)
        }
    }

    /// Performs the checks, and passes on each result as it arrives.
    ///
    /// The calling thread must not end before this returns. No plugin code runs in this process.
    package func run(_ told: (CheckResult) -> Void) throws(SystemError) -> CheckReport {
        // Processes that a plugin started become children of this process when their own parent has
        // ended.
        Orphan.adopt()
        let program = try programPath()
        let progress = CheckProgress(wanted, handler: options.handler)
        // They wait more than they compute. Fewer do too, where the machine has no more threads.
        let lines = (0..<4).map { _ in Line() }.filter { $0.begin() }
        guard !lines.isEmpty else {
            throw SystemError("start a thread for the checks", code: EAGAIN)
        }
        for line in lines {
            // A thread that lives until all is done: a child dies with the thread that started it.
            line.perform {
                while let unit = progress.next() {
                    progress.finish(
                        unit,
                        Result { () throws(SystemError) in
                            var made = try make(unit.check, unit.handler, program)
                            for _ in 1..<unit.check.attempts where made.0.verdict == .warned {
                                made = try make(unit.check, unit.handler, program)
                            }
                            return made
                        }
                    )
                }
            }
        }
        var results: [CheckResult] = []
        while let more = progress.results(after: results.count) {
            for result in more { told(result) }
            results += more
        }
        if let error = progress.error { throw error }
        return CheckReport(
            file: options.file,
            plugin: progress.plugin,
            strictness: options.strictness,
            seed: options.seed,
            results: results
        )
    }

    /// The path of this program, to start it again.
    private func programPath() throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw SystemError("find this program", code: errno) }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    private func make(
        _ check: Check,
        _ handler: String?,
        _ program: String
    ) throws(SystemError) -> (CheckResult, CheckedPlugin?) {
        let folder = try DataFolder()
        defer { folder.remove() }
        let order = order(check, handler, folder.path)
        let child = child(check, program)
        let accounts =
            check.isForTwo
            ? try CheckPair.run(order, child) : [try child(order, nil).get()]
        let told = accounts.map { ($0, $0.finding(of: check, options.memoryMebibytes)) }
        // Of two processes, report the one with a finding.
        let (account, finding) = told.first { $0.1 != nil } ?? told[0]
        var result = CheckResult(of: check, handler: handler, finding)
        result.milliseconds = account.milliseconds
        if finding != nil { result.output = String(account.output.prefix(500)) }
        return (result, account.plugin)
    }

    /// Runs a process with an order and, if there is one, its end of a meeting.
    private func child(
        _ check: Check,
        _ program: String
    ) -> @Sendable (CheckOrder, Int32?) -> Result<CheckChild.Account, SystemError> {
        let bytes = options.memoryMebibytes << 20
        return { order, meeting in
            Result { () throws(SystemError) in
                try CheckChild.run(
                    order,
                    program: program,
                    meeting: meeting,
                    within: CheckProcess.allowance(of: check, order),
                    memoryBytes: bytes
                )
            }
        }
    }

    private func order(_ check: Check, _ handler: String?, _ folder: String) -> CheckOrder {
        CheckOrder(
            file: options.file,
            check: check.id,
            handler: handler,
            parameters: options.parameters,
            config: options.config,
            seed: options.seed,
            runtimeMilliseconds: options.runtimeMilliseconds,
            graceMilliseconds: options.graceMilliseconds,
            dataDirectory: folder
        )
    }

    /// Performs one check in this process, for a debugger.
    ///
    /// - Returns: the finding; `nil` if the check passed.
    package func runHere(_ check: Check) throws(SystemError) -> Finding? {
        let folder = try DataFolder()
        defer { folder.remove() }
        let order = order(check, options.handler, folder.path)
        let reporter = CheckReporter(descriptor: nil)
        guard check.isForTwo else { return CheckProcess.make(check, order, reporter) }
        let (here, account) = try CheckPair.runHere(
            order,
            child(check, try programPath())
        ) { CheckProcess.make(check, order, reporter, $0) }
        return here ?? account.finding(of: check, options.memoryMebibytes)
    }
}
