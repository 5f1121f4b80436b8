// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostStore
internal import BghostTransfer
internal import Glibc

/// A host of its own for one subject, put together as the daemon does it.
struct BenchHost {
    let host: Host
    private let folder: String

    /// - Parameters:
    ///   - plugins: each offers the tasks `bench.NAME`, with its place behind it if there are several.
    ///   - handlers: of each plugin.
    ///   - suffix: of each identifier; `.*` makes each task a family.
    ///   - store: what the host finds when it starts.
    init(
        _ subject: Subject,
        plugins: [PluginDefinition],
        handlers: [String],
        limits: RunLimits = RunLimits(kind: .refresh),
        slots: Int = 256,
        suffix: String = "",
        store: any Store = MemoryStore()
    ) async throws {
        var template = Array("/tmp/bghost-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchFailure(description: "cannot make a folder in /tmp")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var manifest = Manifest(host: HostSettings(slots: slots), plugins: plugins)
        for plugin in plugins {
            for handler in handlers {
                guard let identifier = IdentifierPattern("\(plugin.name).\(handler)\(suffix)")
                else {
                    throw BenchFailure(description: "`\(handler)` cannot be a task")
                }
                manifest.tasks.append(
                    TaskDefinition(
                        identifier: identifier,
                        handler: .plugin(name: plugin.name, handler: handler),
                        limits: limits,
                        overlap: .allow
                    )
                )
            }
        }
        var configuration = HostConfiguration(
            manifest: manifest,
            manifestPath: "bench",
            manifestDirectory: subject.files,
            stateDirectory: folder,
            workerPath: subject.programs + "/bghost-worker",
            pluginPath: [],
            openStore: { _ in store },
            fetcher: NoFetcher(),
            log: HostLog(level: .fault)
        )
        if subject.words.contains("open") { configuration.sandbox = [] }
        host = try await Host.running(configuration)
    }

    /// Ends the host and removes what it kept.
    func end() async {
        await host.drain()
        let order = Spawner.Order(
            path: "/bin/rm",
            arguments: ["rm", "-rf", folder],
            environment: [],
            descriptors: []
        )
        if let rm = try? Spawner.spawnHere(order) {
            waitpid(rm.pid, nil, 0)
            close(rm.pidfd)
        }
    }
}

extension Subject {
    /// The plugin that the words name: `c` or `swift`.
    func plugin(
        _ name: String = "bench",
        isolation: Isolation = .worker,
        slotCount: Int = 1
    ) -> PluginDefinition {
        let isSwift = words.contains("swift")
        return PluginDefinition(
            name: name,
            library: isSwift ? programs + "/libBenchSwift.so" : files + "/bench.so",
            isolation: isolation,
            runsPerWorker: slotCount,
            prestart: words.contains("prestarted") ? 1 : 0
        )
    }
}

/// Nothing is fetched here.
private struct NoFetcher: Fetching {
    func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        throw .shutDown
    }
}
