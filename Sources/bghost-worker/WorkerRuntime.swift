// SPDX-License-Identifier: Apache-2.0

internal import BghostFunctionCalls
internal import BghostPlugin
internal import BghostWire
internal import CBghostSystem
internal import Glibc

/// Connects the plugin runtime with the sockets: it turns received frames into calls, and the
/// plugin's output into frames.
final class WorkerRuntime: Sendable {
    /// The time for reporting stacks, which is less than the daemon allows before it kills the
    /// worker.
    private static let stacksMilliseconds: Int32 = 80

    private let configuration: Configure
    private let link: WorkerLink
    private let runtime: PluginRuntime

    init(_ configuration: Configure, link: WorkerLink) {
        self.configuration = configuration
        self.link = link
        var options = PluginRuntime.Options(
            slotCount: Int(configuration.slotCount),
            // With one slot, a handler may block the thread that reads starts: cancels and replies
            // arrive on another thread. With more slots it would delay the other runs.
            threadsForBlocking: configuration.slotCount > 1,
            isWorker: true,
            dataDirectory: configuration.dataDirectory,
            config: configuration.config,
            hostVersion: configuration.hostVersion
        )
        options.servesMain = true
        runtime = PluginRuntime(options: options, events: WorkerEventSink(link))
    }

    /// Loads the configured plugin or function and reports the result.
    ///
    /// It ends the process if that fails, or if the daemon only asked for the description.
    func load() {
        let ready: Ready
        switch configuration.code {
        case .plugin(let path, let isHeld, let heldNeeds):
            ready = loadPlugin(path, isHeld: isHeld, heldNeeds: heldNeeds)
        case .function(let library, let symbol, let signature):
            ready = loadFunction(library, symbol, signature)
        case .nothing: WorkerProcess.end()
        }
        if configuration.isProbe { declareSchemas() }
        link.send { ready.write(to: &$0) }
        if configuration.isProbe {
            bgs_flush_output()
            WorkerProcess.end()
        }
    }

    /// Reports the schemas of the plugin's table, one frame each.
    private func declareSchemas() {
        for handler in runtime.plugin?.handlers ?? [] where !handler.parametersSchema.isEmpty {
            let declared = Declared(handler: handler.name, schema: handler.parametersSchema)
            link.send { declared.write(to: &$0) }
        }
    }

    private func loadPlugin(_ path: String, isHeld: Bool, heldNeeds: UInt8) -> Ready {
        do {
            let held = isHeld ? WorkerDescriptors.library : nil
            let needs = (0..<Int32(heldNeeds)).map { WorkerDescriptors.needs + $0 }
            defer { for fd in needs + (held.map { [$0] } ?? []) { close(fd) } }
            try runtime.load(path: path, held: held, heldNeeds: needs) { entry in
                // Register the library now: its entry function and open() may crash too.
                let file = held ?? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                bgs_note_libraries(file, entry, path)
                if held == nil, file >= 0 { close(file) }
            }
        } catch {
            refuse(error.code, error.message)
        }
        guard let plugin = runtime.plugin else { refuse("load-failed", "nothing was loaded") }
        return Ready(
            id: plugin.id,
            version: plugin.version,
            vendor: plugin.vendor,
            handlers: plugin.handlers.map { Ready.Handler(name: $0.name, flags: $0.flags.rawValue) }
        )
    }

    private func loadFunction(_ library: String, _ symbol: String, _ signature: String) -> Ready {
        do throws(FunctionError) {
            runtime.load(
                function: try ForeignFunction(
                    library: library,
                    symbol: symbol,
                    signature: signature
                )
            )
        } catch {
            refuse("function", error.description)
        }
        return Ready(
            id: configuration.name,
            version: "",
            vendor: "",
            handlers: [Ready.Handler(name: symbol, flags: 1)]
        )
    }

    private func refuse(_ code: String, _ message: String) -> Never {
        link.refuse(code, message)
    }

    // MARK: The work socket

    /// Reads starts.
    ///
    /// If the plugin uses the main thread, which is the calling thread, another thread reads them.
    func serve() -> Never {
        guard runtime.wantsMain, WorkerThread.begin({ [self] in carryRuns() }) else { carryRuns() }
        runtime.serveMain()
    }

    /// Reads starts until the daemon is gone.
    private func carryRuns() -> Never {
        let buffer = WorkerLink.makeBuffer()
        while true {
            link.receive(WorkerDescriptors.work, into: buffer) { packet throws(WireError) in
                try self.carry(packet)
            }
            link.flush()
        }
    }

    private func carry(_ packet: RawSpan) throws(WireError) {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            switch frame.kind {
            case .start:
                let began = runtime.start(try Start(frame))
                guard began else { throw .wrongState }
            case .finish: finish()
            default: throw .wrongDirection
            }
        }
    }

    private func finish() -> Never {
        link.flush()
        runtime.drain()
        runtime.close()
        link.flush()
        bgs_flush_output()
        WorkerProcess.end()
    }

    // MARK: The control socket

    /// Starts the thread that receives cancels and replies; it runs no plugin code.
    ///
    /// It notices the end of the daemon even while a handler blocks the other thread.
    ///
    /// - Returns: `false` if no thread can be created.
    func listenForControl() -> Bool {
        WorkerThread.begin { [self] in takeControl() }
    }

    private func takeControl() -> Never {
        let buffer = WorkerLink.makeBuffer()
        // The parts of bodies whose replies have not arrived yet, by call number.
        var parts: [UInt64: [UInt8]] = [:]
        while true {
            link.receive(WorkerDescriptors.control, into: buffer) { packet throws(WireError) in
                try self.control(packet, &parts)
            }
        }
    }

    private func control(
        _ packet: RawSpan,
        _ parts: inout [UInt64: [UInt8]]
    ) throws(WireError) {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            switch frame.kind {
            case .cancel:
                let cancel = try Cancel(frame)
                // Send a completion that waits for later frames, since there may be none.
                link.flush()
                runtime.cancel(run: cancel.run, why: cancel.why)
            case .explain:
                _ = try Explain(frame)
                bgs_flush_output()
                bgs_report_stacks(Self.stacksMilliseconds)
            case .reply:
                let reply = try Reply(frame)
                let gathered = parts.removeValue(forKey: reply.call) ?? []
                runtime.answer(reply.call, HostAnswer(reply, gathered))
            case .part:
                let part = try ReplyPart(frame)
                parts[part.call, default: []] += part.bytes
            default: throw .wrongDirection
            }
        }
    }
}

extension HostAnswer {
    /// - Parameter parts: the body, if it was too long for the reply.
    fileprivate init(_ reply: Reply, _ parts: [UInt8]) {
        switch reply.body {
        case .none: self.init(status: reply.status)
        case .transfer(let id): self.init(status: reply.status, body: .transfer(id: id))
        case .needs(let count): self.init(status: reply.status, body: .needs(count))
        case .transfers(.inline(let bytes)):
            self.init(status: reply.status, body: .transfers(bytes))
        case .transfers(.parts):
            self.init(status: reply.status, body: .transfers(parts))
        case .checkpoint(.inline(let bytes)):
            self.init(status: reply.status, body: .checkpoint(bytes))
        case .checkpoint(.parts):
            self.init(status: reply.status, body: .checkpoint(parts))
        case .situation(let situation):
            self.init(status: reply.status, body: .situation(situation))
        case .pending(let entries, let next):
            self.init(status: reply.status, body: .pending(entries, next: next))
        case .fetched(let http, let headers, let message, .inline(let bytes)):
            self.init(
                status: reply.status,
                body: .fetched(httpStatus: http, headers: headers, message: message, body: bytes)
            )
        case .fetched(let http, let headers, let message, .parts):
            self.init(
                status: reply.status,
                body: .fetched(httpStatus: http, headers: headers, message: message, body: parts)
            )
        }
    }
}
