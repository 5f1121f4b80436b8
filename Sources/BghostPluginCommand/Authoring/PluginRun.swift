// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostConfiguration
internal import BghostFacts
internal import BghostHost
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import BghostTerminal
internal import BghostTransfer
internal import BghostTransferRules
internal import BghostViews
internal import Glibc
internal import Synchronization
internal import UnixSignals

/// Runs one handler for its author: a host in this process, which stores nothing, with a real worker.
enum PluginRun {
    /// The name of the plugin in the host.
    private static let plugin = "plugin"

    /// Runs the handler to its end, and returns the exit status.
    static func run(_ options: PluginRunOptions, _ console: Console) async throws -> Int32 {
        // From here on this command handles Ctrl-C, even while the plugin is loaded.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let library = try PluginPath.find(options.file)
        let debugger = try options.isDebugged ? RunDebugger(options.debugger, for: library) : nil
        var definition = PluginDefinition(
            name: plugin,
            library: library,
            permissions: options.permissions,
            config: options.config
        )
        let declared = try DeclaredGrants.find(
            options.manifest,
            file: options.file,
            library: library,
            console
        )
        if let declared {
            declared.apply(to: &definition)
            if !options.isJSON, let remark = declared.remark { console.remark(remark) }
        }
        let handlers = try await handlers(of: definition)
        let handler = try choose(options, handlers)
        // A debugger needs the worker before there is a run.
        if debugger != nil { definition.prestart = 1 }
        let folder = try RunFolder()
        defer { folder.remove() }
        let screen = RunScreen(console, isJSON: options.isJSON)
        let fetcher = HTTPFetcher()
        var content = manifest(definition, handler, options)
        content.sessions = declared?.sessions(of: plugin) ?? []
        var configuration = HostConfiguration(
            manifest: content,
            // Messages about what is not permitted name it.
            manifestPath: declared?.manifest ?? library,
            manifestDirectory: "/",
            stateDirectory: folder.path + "/state",
            workerPath: try InstalledFiles.worker(),
            pluginPath: [],
            openStore: { _ in MemoryStore() },
            fetcher: fetcher,
            log: HostLog(level: .debug, console: screen),
            // A host that adopts orphans would kill the debugger as one.
            isSubreaper: debugger == nil
        )
        configuration.onTransfer = { screen.show(TransferView($0, bytes: $0.point.bytes)) }
        configuration.allowsUntrustedFiles = true
        configuration.allowsDebugger = debugger != nil
        if debugger == nil { Orphan.adopt() }
        ProcessShield.raise()
        FileSizeLimit.fail()
        let host = try await CommandFailure.starting { [configuration] in
            try await Host.running(configuration)
        }
        let end: End
        do {
            try await debugger?.attach(to: plugin, host, screen)
            end = try await perform(
                Self.task(for: handler),
                options,
                host,
                screen,
                signals,
                debugger
            )
        } catch {
            await host.drain()
            await fetcher.shutDown()
            screen.finish()
            throw error
        }
        await fetcher.shutDown()
        await debugger?.waitForEnd()
        screen.finish()
        return show(end, options, console)
    }

    // MARK: What runs

    private static func handlers(
        of definition: PluginDefinition
    ) async throws -> [String] {
        let probe = try PluginProbe.ofFile()
        switch await probe.summary(of: definition) {
        case .success(let summary): return summary.handlers
        case .failure(let failure):
            let file = TerminalText.escaped(definition.library)
            throw CommandFailure(
                .failure,
                "cannot load \(file): " + TerminalText.escaped(failure.message),
                fix: "bghost plugin check \(file)"
            )
        }
    }

    private static func choose(
        _ options: PluginRunOptions,
        _ handlers: [String]
    ) throws(CommandFailure) -> String {
        let file = TerminalText.escaped(options.file)
        guard let wanted = options.handler else {
            if handlers.count == 1 { return handlers[0] }
            throw CommandFailure(
                .usage,
                "the plugin has several handlers, and none is named",
                fix: "type for instance: bghost plugin run \(file) \(handlers[0])",
                candidates: handlers
            )
        }
        guard !handlers.contains(wanted) else { return wanted }
        let nearest = Spelling.nearest(to: wanted, among: handlers)
        throw CommandFailure(
            .notFound,
            "the plugin has no handler `\(TerminalText.escaped(String(wanted.prefix(128))))`",
            fix: nearest.map { "did you mean: bghost plugin run \(file) \($0)" }
                ?? "name one of them",
            candidates: nearest == nil ? handlers : []
        )
    }

    /// The requirement that keeps requests of the handler from running; the run of the author ignores it.
    private static let barrier = RequirementSet.idle

    /// The identifier of the task: the handler's name, as apps for iOS have it, if that can be one.
    private static func task(for handler: String) -> String {
        IdentifierPattern.isValid(handler) ? handler : plugin
    }

    private static func manifest(
        _ definition: PluginDefinition,
        _ handler: String,
        _ options: PluginRunOptions
    ) -> Manifest {
        var manifest = Manifest()
        manifest.plugins = [definition]
        // The run that the author asked for is the only one at a time.
        manifest.host.slots = 1
        if let identifier = IdentifierPattern(task(for: handler)) {
            var loss = RequirementLoss()
            loss[barrier] = .continue
            manifest.tasks = [
                TaskDefinition(
                    identifier: identifier,
                    handler: .plugin(name: plugin, handler: handler),
                    kind: options.kind,
                    limits: options.limits,
                    requirements: barrier,
                    loss: loss,
                    retry: RetryPolicy(backoff: .none)
                )
            ]
        }
        return manifest
    }

    // MARK: The run

    /// How it ended.
    private struct End {
        /// `nil` if it was stopped before it had a record.
        var run: RunRecord?
        /// The requests that the handler submitted.
        var requests: [PendingRequest] = []
        /// The transfers that were not over at its end.
        var transfers: [TransferView] = []
        /// The signal that asked for the stop.
        var signal: Int32?
    }

    /// Runs the task, and ends the host.
    private static func perform(
        _ task: String,
        _ options: PluginRunOptions,
        _ host: Host,
        _ screen: RunScreen,
        _ signals: UnixSignalsSequence,
        _ debugger: RunDebugger?
    ) async throws -> End {
        let request: PendingRequest
        // Known texts: no refusal is possible.
        _ = try await host.simulate(fact: "\(StandardRequirement.idle.rawValue)=off")
        do throws(SubmitError) {
            request = try await host.trigger(
                Submission(
                    task: task,
                    parameters: options.parameters,
                    ignoresRequirements: true
                )
            )
        } catch  where error.code == .unfitParameters {
            throw CommandFailure(ControlFault(error))
        } catch {
            throw CommandFailure(.failure, TerminalText.escaped(error.message))
        }
        let stop = StopRequest()
        var end = End()
        await withTaskGroup(of: RunRecord??.self) { group in
            group.addTask { .some(await host.waitForRun(ofRequest: request.id)) }
            group.addTask { await watch(task, host, screen) }
            group.addTask { await obey(signals, task, host, screen, stop, debugger) }
            while let event = await group.next() {
                guard case .some(let run) = event else { continue }
                end.run = run
                end.requests = await host.pending(task: nil, limit: 20).requests
                end.transfers = await host.transfers().filter { !$0.isOver }
                group.cancelAll()
            }
        }
        await host.drain()
        end.signal = stop.signal
        return end
    }

    /// Asks the run to stop at the first signal, and kills it at the second.
    private static func obey(
        _ signals: UnixSignalsSequence,
        _ task: String,
        _ host: Host,
        _ screen: RunScreen,
        _ stop: StopRequest,
        _ debugger: RunDebugger?
    ) async -> RunRecord?? {
        for await signal in signals {
            // Ctrl-C is the debugger's while there is one.
            if signal == .sigint, debugger?.isRunning == true { continue }
            let isFirst = stop.signal == nil
            stop.signal = signal.rawValue
            let run = await host.runs(task: task, limit: 1).first
            if isFirst, let run, run.state != .ended {
                screen.remark("asked to stop; Ctrl-C again kills it")
                // A run that has ended meanwhile needs no stop.
                _ = await host.stop(run: run.id)
            } else {
                await host.forceShutdown()
                await host.drain()
            }
        }
        return nil
    }

    /// Shows the progress of the run and of its transfers until the wait is cancelled.
    ///
    /// The host has no stream of progress, so this asks ten times a second, which a person sees as movement.
    private static func watch(
        _ task: String,
        _ host: Host,
        _ screen: RunScreen
    ) async -> RunRecord?? {
        while !Task.isCancelled {
            if let progress = await host.runs(task: task, limit: 1).first?.progress {
                screen.show(progress)
            }
            for transfer in await host.transfers() where !transfer.isOver { screen.show(transfer) }
            // A sleep that is cancelled ends the loop.
            try? await Task.sleep(for: .milliseconds(100))
        }
        if let progress = await host.runs(task: task, limit: 1).first?.progress {
            screen.show(progress)
        }
        return nil
    }

    // MARK: Output

    private static func show(_ end: End, _ options: PluginRunOptions, _ console: Console) -> Int32 {
        if let run = end.run, options.isJSON {
            console.answer(json: APICoder.text(Schema.run, API.RunAnswer(run: API.Run(run))))
        } else if let run = end.run {
            let view = RunView(run: run, now: unixNow())
            console.answer(view.summary(console.out))
            console.prompt(view.remarks(console.error))
        }
        for request in end.requests where !options.isJSON {
            console.remark(
                "submitted a request for \(TerminalText.escaped(request.task)); it is not run here"
            )
        }
        for transfer in end.transfers where !options.isJSON {
            console.remark(
                TransfersView.standing(transfer, console.error)
                    + "; a daemon goes on with it after the run, and here it ends"
            )
        }
        if let signal = end.signal { return ExitStatus.signal(signal) }
        return status(of: end.run?.outcome).rawValue
    }

    private static func status(of outcome: Outcome?) -> ExitStatus {
        switch outcome {
        case .succeeded: .success
        case .cancelledClean: .tryLater
        default: .failure
        }
    }
}

/// The last signal that asked for a stop.
private final class StopRequest: Sendable {
    private let number = Atomic<Int32>(0)

    /// `nil` if there was none.
    var signal: Int32? {
        get {
            let number = number.load(ordering: .relaxed)
            return number == 0 ? nil : number
        }
        set { number.store(newValue ?? 0, ordering: .relaxed) }
    }
}

/// A folder for the state of one run.
private struct RunFolder {
    let path: String

    init() throws(CommandFailure) {
        var template = Array("/tmp/bghost-run-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(.taken, "cannot make a folder in /tmp: \(reason)")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() { FileTree.remove(path) }
}
