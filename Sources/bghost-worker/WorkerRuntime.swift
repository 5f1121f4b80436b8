// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostPlugin
internal import BghostWire
internal import Glibc

/// Joins the plugin runtime with the sockets: frames in become calls, what the plugin says becomes
/// frames out.
final class WorkerRuntime: Sendable {
    private let configuration: Configure
    private let link: WorkerLink
    private let runtime: PluginRuntime

    init(_ configuration: Configure, link: WorkerLink) {
        self.configuration = configuration
        self.link = link
        runtime = PluginRuntime(
            options: PluginRuntime.Options(
                lanes: Int(configuration.lanes),
                // Alone in its worker, a handler may have the thread that reads starts: cancels and
                // replies come on another. With neighbours it must not keep them waiting.
                threadsForBlocking: configuration.lanes > 1,
                isWorker: true,
                dataDirectory: configuration.dataDirectory,
                config: configuration.config,
                hostVersion: configuration.hostVersion
            ),
            voice: WorkerVoice(link)
        )
    }

    /// Loads what the configuration names and says how that went.
    ///
    /// Ends the process if it cannot be used, or if knowing it is all that was wanted.
    func load() {
        let ready: Ready
        switch configuration.code {
        case .plugin(let path, let isHeld): ready = loadPlugin(path, isHeld: isHeld)
        case .function(let library, let symbol, let signature):
            ready = loadFunction(library, symbol, signature)
        case .nothing: WorkerProcess.end()
        }
        link.send { ready.write(to: &$0) }
        if configuration.isProbe { WorkerProcess.end() }
    }

    private func loadPlugin(_ path: String, isHeld: Bool) -> Ready {
        do {
            let held = isHeld ? WorkerDescriptors.library : nil
            defer { if let held { close(held) } }
            try runtime.load(path: path, held: held)
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

    /// Reads starts for as long as there is a daemon.
    func carryRuns() -> Never {
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
        WorkerProcess.end()
    }

    // MARK: The control socket

    /// Starts the thread that takes cancels and replies, and runs no foreign code.
    ///
    /// It sees that the daemon is gone even while a handler has the other thread.
    func listenForControl() {
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<WorkerRuntime>.fromOpaque(argument).takeRetainedValue().takeControl()
            },
            Unmanaged.passRetained(self).toOpaque()
        )
    }

    private func takeControl() -> Never {
        let buffer = WorkerLink.makeBuffer()
        while true {
            link.receive(WorkerDescriptors.control, into: buffer) {
                (packet, descriptor) throws(WireError) in
                try self.control(packet, &descriptor)
            }
        }
    }

    private func control(_ packet: RawSpan, _ descriptor: inout Int32) throws(WireError) {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            switch frame.kind {
            case .cancel:
                let cancel = try Cancel(frame)
                // A completion that waits to be sent with what follows must not wait for ever.
                link.flush()
                runtime.cancel(run: cancel.run, why: cancel.why)
            case .reply:
                let reply = try Reply(frame)
                runtime.answer(reply.call, HostAnswer(reply, &descriptor))
            default: throw .wrongDirection
            }
        }
    }
}

extension HostAnswer {
    fileprivate init(_ reply: Reply, _ descriptor: inout Int32) {
        switch reply.body {
        case .none: self.init(status: reply.status)
        case .transfer(let id): self.init(status: reply.status, body: .transfer(id: id))
        case .needs(let count): self.init(status: reply.status, body: .needs(count))
        case .transfers(.inline(let bytes)):
            self.init(status: reply.status, body: .transfers(bytes))
        case .transfers(.descriptor(let count)):
            let bytes = descriptor >= 0 ? MemoryFile.consume(descriptor, count: count) : nil
            descriptor = -1
            self.init(status: reply.status, body: .transfers(bytes ?? []))
        case .situation(let situation):
            self.init(status: reply.status, body: .situation(situation))
        case .pending(let entries):
            self.init(
                status: reply.status,
                body: .pending(entries.map { ($0.task, $0.kind, $0.earliestUnixMilliseconds) })
            )
        case .fetched(let http, let headers, let message, .inline(let bytes)):
            self.init(
                status: reply.status,
                body: .fetched(httpStatus: http, headers: headers, message: message, body: bytes)
            )
        case .fetched(let http, let headers, let message, .descriptor(let count)):
            let bytes = descriptor >= 0 ? MemoryFile.consume(descriptor, count: count) : nil
            descriptor = -1
            self.init(
                status: reply.status,
                body: .fetched(
                    httpStatus: http,
                    headers: headers,
                    message: message,
                    body: bytes ?? []
                )
            )
        }
    }
}
