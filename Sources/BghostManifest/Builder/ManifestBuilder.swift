// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Builds the manifest's values from checked definitions.
///
/// Where a check has failed, it uses the default value. The manifest is discarded in that case, but
/// the other parts still get their diagnostics.
struct ManifestBuilder {
    let collector: DiagnosticCollector
    let manifestDirectory: String
    let zones: ZoneSource
    let trust: FileTrust
    let expansion: (ManifestSource) -> SecretExpansion

    // MARK: - Host

    func host(_ main: ManifestSource) -> HostSettings {
        guard let node = main.members.first(where: { $0.key == "host" })?.value else {
            return HostSettings()
        }
        var host = HostSettings()
        if let zone = zone(node["timeZone"], in: main) { host.timeZone = zone }
        host.facts = facts(node["facts"], in: main)
        host.powerPolicy = node["powerPolicy"]?.string.flatMap(PowerPolicy.init) ?? .none
        host.require = layers(node["require"])
        host.history = history(node["history"])
        host.audit = audit(node["audit"])
        host.log = log(node["log"], in: main)
        host.alerts = alerts(node["alerts"], in: main)
        host.heartbeat = heartbeat(node["heartbeat"], in: main)
        host.traces = traces(node["traces"], in: main)
        host.fleet = fleet(node["fleet"], in: main)
        host.slots = node["slots"]?.int64.map { Int(clamping: $0) }
        host.onChange = node["onChange"]?.string.flatMap(ManifestChange.init) ?? .ask
        host.stateDirectory = node["stateDirectory"].flatMap { path($0, in: main) }
        host.controlGroup = node["controlGroup"]?.string
        host.dashboard = dashboard(node["dashboard"])
        if let role = node["controlRole"]?.string.flatMap(ControlRole.init(rawValue:)) {
            host.controlRole = role
        }
        host.controlSocket = node["control"].flatMap { node in
            let path = path(node, in: main, dropping: PathCheck.addressScheme.utf8.count)
            if let path, !SocketPath.fits(path) {
                collector.report(
                    .badPath,
                    at: node.span,
                    in: main,
                    "the path of the control socket has \(path.utf8.count) bytes",
                    label:
                        "at most \(SocketPath.bytesMax), and \(SocketPath.folderBytesMax) of its folder"
                )
            }
            return path
        }
        return host
    }

    private func dashboard(_ node: JSONNode?) -> DashboardSettings? {
        guard let node, let listen = node["listen"]?.string.flatMap(LoopbackAddress.init) else {
            return nil
        }
        var settings = DashboardSettings(listen: listen)
        settings.hosts = (node["hosts"]?.array ?? []).compactMap(\.string)
        settings.session = duration(node["session"]) ?? settings.session
        return settings
    }

    /// Reads an absolute path; messages show it as written, because the resolved path may contain a
    /// secret.
    private func path(
        _ node: JSONNode,
        in source: ManifestSource,
        dropping prefix: Int = 0
    ) -> String? {
        guard let text = node.string else { return nil }
        let expanded = expansion(source).expand(text, at: node.span)
        let path = String(decoding: expanded.utf8.dropFirst(prefix), as: UTF8.self)
        if text != expanded, let fault = PathCheck.fault(in: path) {
            collector.report(
                fault.code,
                at: node.span,
                in: source,
                "\(text.quoted) is no path once its secrets are in place: \(fault.reason)"
            )
        }
        return PathCheck.resolve(path, against: manifestDirectory)
    }

    func signer(_ entry: ManifestEntry) -> SignerDefinition {
        SignerDefinition(name: entry.name, key: entry.node["key"]?.string ?? "")
    }

    // MARK: - Plugins and functions

    func plugin(_ entry: ManifestEntry) -> PluginDefinition {
        let node = entry.node
        let isolation = node["isolation"]?.string.flatMap(Isolation.init) ?? .worker
        if isolation == .inProcess { warnOfWhatInProcessCannot(entry) }
        checkPathBytes(entry)
        return PluginDefinition(
            name: entry.name,
            library: node["library"]?.string ?? "",
            sha256: node["sha256"]?.string,
            signedBy: node["signedBy"]?.string,
            isolation: isolation,
            runsPerWorker: node["runsPerWorker"]?.int64.map { Int(clamping: $0) } ?? 1,
            prestart: node["prestart"]?.int64.map { Int(clamping: $0) } ?? 0,
            permissions: permissions(node["permissions"]),
            require: layers(node["require"]),
            limits: limits(node["limits"]),
            maxPending: maxPending(node["maxPending"]),
            runtimePerDay: RuntimePerDay(
                refresh: duration(node["runtimePerDay"]?["refresh"]),
                processing: duration(node["runtimePerDay"]?["processing"])
            ),
            config: settings("config", of: entry),
            libraries: libraries(node["libraries"]),
            writtenOnChange: node["onChange"]?.string.flatMap(LibraryChange.init),
            origin: entry.location
        )
    }

    private func libraries(_ node: JSONNode?) -> [String: String] {
        var libraries: [String: String] = [:]
        for member in node?.object ?? [] {
            libraries[member.key] = member.value["sha256"]?.string
        }
        return libraries
    }

    func function(_ entry: ManifestEntry) -> FunctionDefinition {
        FunctionDefinition(
            name: entry.name,
            library: entry.node["library"]?.string ?? "",
            symbol: entry.node["symbol"]?.string ?? "",
            signature: entry.node["signature"]?.string ?? "",
            limits: limits(entry.node["limits"]),
            origin: entry.location
        )
    }

    private func warnOfWhatInProcessCannot(_ entry: ManifestEntry) {
        let fields = entry.node.object ?? []
        for key in fields where ["runsPerWorker", "prestart"].contains(key.key) {
            collector.report(
                .sharedInProcess,
                severity: .warning,
                at: key.keySpan,
                in: entry.source,
                "`\(key.key)` says nothing of plugin \(entry.name.quoted), which is in-process",
                help: "remove it; `slots` and `overlap` bound the runs"
            )
        }
        let limits = entry.node["limits"]?.object ?? []
        let unenforced = Set(ManifestKeys.workerLimits.keys.map(\.name))
            .subtracting(Self.limitsInProcess)
        for key in limits where unenforced.contains(key.key) {
            collector.report(
                .unenforcedInProcess,
                severity: .warning,
                at: key.keySpan,
                in: entry.source,
                """
                the limit `\(key.key)` cannot be enforced for plugin \(entry.name.quoted), which \
                is in-process
                """,
                help: "remove it, or use `\"isolation\": \"worker\"`"
            )
        }
    }

    /// The keys of `limits` that hold for in-process plugins too; the others need a worker.
    static let limitsInProcess: Set = ["output", "result"]

    private func permissions(_ node: JSONNode?) -> Permissions {
        func texts(_ key: String) -> [String] {
            node?[key]?.array?.compactMap(\.string) ?? []
        }
        func paths(_ key: String) -> [String] {
            texts(key).map { PathCheck.resolve($0, against: manifestDirectory) }
        }
        return Permissions(
            // `TextFormat` has reported a text that is none.
            network: texts("network").compactMap { try? NetworkGrant(parsing: $0) },
            directNetwork: node?["directNetwork"]?.bool ?? false,
            read: paths("read"),
            write: paths("write"),
            submit: texts("submit").compactMap { IdentifierPattern($0) },
            notify: node?["notify"]?.bool ?? false,
            jit: node?["jit"]?.bool ?? false
        )
    }

    /// Checks the total length of all paths, which a worker receives in one frame beside its
    /// settings.
    private func checkPathBytes(_ entry: ManifestEntry) {
        guard let node = entry.node["permissions"] else { return }
        let granted = permissions(node)
        let bytes = (granted.read + granted.write).reduce(0) { $0 + $1.utf8.count + 5 }
        guard bytes > Self.pathBytesMax else { return }
        collector.report(
            .outOfRange,
            at: node.span,
            in: entry.source,
            "the paths that `permissions` of \(entry.name.quoted) grants have \(bytes) bytes together",
            label: "32KiB are the most",
            help: "grant a folder instead of the files in it"
        )
    }

    private static let pathBytesMax = 32 << 10

    private func layers(_ node: JSONNode?) -> Set<SandboxLayer> {
        Set(node?.array?.compactMap { $0.string.flatMap(SandboxLayer.init) } ?? [])
    }

    private func maxPending(_ node: JSONNode?) -> PendingLimits {
        var limits = PendingLimits()
        func whole(_ key: String) -> Int? { node?[key]?.int64.map { Int(clamping: $0) } }
        limits.refresh = whole("refresh") ?? limits.refresh
        limits.processing = whole("processing") ?? limits.processing
        return limits
    }

    private func limits(_ node: JSONNode?) -> WorkerLimits {
        var limits = WorkerLimits()
        func whole(_ key: String) -> Int? { node?[key]?.int64.map { Int(clamping: $0) } }
        func size(_ key: String) -> UInt64? { amount(node?[key], .size) }
        limits.memoryBytes = size("memory") ?? limits.memoryBytes
        limits.cpu = duration(node?["cpu"])
        limits.cpuQuota = amount(node?["cpuQuota"], .share).map { Int(clamping: $0) }
        limits.processes = whole("processes") ?? limits.processes
        limits.descriptors = whole("descriptors") ?? limits.descriptors
        limits.outputBytes = size("output").map { Int(clamping: $0) } ?? limits.outputBytes
        limits.resultBytes = size("result").map { Int(clamping: $0) } ?? limits.resultBytes
        limits.dataBytes = size("data") ?? limits.dataBytes
        limits.files = whole("files") ?? limits.files
        return limits
    }

    // MARK: - Tasks

    func task(_ entry: ManifestEntry, _ host: HostSettings) -> TaskDefinition? {
        guard let identifier = IdentifierPattern(entry.name) else { return nil }
        let node = entry.node
        let kind = node["kind"]?.string.flatMap(TaskKind.init) ?? .refresh
        var limits = RunLimits(kind: kind)
        limits.runtime = duration(node["limits"]?["runtime"]) ?? limits.runtime
        limits.grace = duration(node["limits"]?["grace"]) ?? limits.grace
        let handler: HandlerReference
        if let function = node["function"]?.string {
            handler = .function(name: function)
        } else {
            let own = identifier.isFamily ? String(entry.name.dropLast(2)) : entry.name
            handler = .plugin(
                name: node["plugin"]?.string ?? "",
                handler: node["handler"]?.string ?? own
            )
        }
        let schedule = schedule(entry, identifier, host)
        return TaskDefinition(
            identifier: identifier,
            handler: handler,
            kind: kind,
            limits: limits,
            overlap: node["overlap"]?.string.flatMap(Overlap.init) ?? .queue,
            priority: node["priority"]?.int64.map { Int(clamping: $0) } ?? 500,
            submitAtStart: submitAtStart(entry, identifier),
            schedule: schedule,
            isOnceInFleet: isOnceInFleet(entry, host, schedule, limits),
            isInFleet: isInFleet(entry, host),
            tolerance: duration(node["tolerance"]) ?? .zero,
            learnsUse: learnsUse(entry),
            requirements: requirements(node["requires"]).union(
                probes(node["requires"]?["probes"], of: entry, host)
            ),
            loss: loss(node["onLost"]),
            retry: retry(node["retry"], kind),
            throttle: throttle(node["throttle"]),
            history: taskHistory(entry, host),
            expect: expect(entry, host, isScheduled: schedule != nil, limits),
            parameters: settings("parameters", of: entry),
            parametersSchema: node["parametersSchema"]?.text,
            tags: tags(entry),
            then: followers(entry),
            origin: entry.location
        )
    }

    private func submitAtStart(_ entry: ManifestEntry, _ identifier: IdentifierPattern) -> Bool {
        guard let node = entry.node["submitAtStart"] else { return false }
        let ifAbsent = node["ifAbsent"]
        if ifAbsent?.bool == false, let span = ifAbsent?.span {
            collector.report(
                .notHonoured,
                at: span,
                in: entry.source,
                """
                `submitAtStart` in task \(entry.name.quoted) cannot replace a pending request: \
                this version cannot honour `"ifAbsent": false` yet
                """,
                help: "write `\"submitAtStart\": true`, or remove it"
            )
        }
        let isWanted = node.bool ?? ifAbsent?.bool ?? false
        if isWanted, identifier.isFamily { refuse("submitAtStart", of: entry) }
        return isWanted
    }

    private func retry(_ node: JSONNode?, _ kind: TaskKind) -> RetryPolicy {
        guard let node, let policy = node["policy"]?.string else { return RetryPolicy(kind: kind) }
        func whole(_ key: String, _ other: Int) -> Int {
            node[key]?.int64.map { Int(clamping: $0) } ?? other
        }
        return RetryPolicy(
            backoff: policy == "none"
                ? .none
                : .exponential(
                    base: duration(node["base"]) ?? .seconds(30),
                    cap: duration(node["cap"]) ?? .seconds(5 * 3600)
                ),
            attemptsMax: whole("max", 5),
            lossesMax: whole("lossLimit", 3)
        )
    }

    private func throttle(_ node: JSONNode?) -> ThrottlePolicy {
        guard let node else { return ThrottlePolicy() }
        if let word = node.string {
            return ThrottlePolicy(mode: ThrottlePolicy.Mode(rawValue: word) ?? .on)
        }
        var policy = ThrottlePolicy(mode: node["dryRun"]?.bool == true ? .dryRun : .on)
        policy.stopWithin = duration(node["stopWithin"])
        policy.delayMax = duration(node["delayMax"]) ?? policy.delayMax
        return policy
    }

    func refuse(_ key: String, of entry: ManifestEntry) {
        let span = entry.node.object?.first { $0.key == key }?.keySpan
        collector.report(
            .needsExactIdentifier,
            at: span ?? entry.keySpan,
            in: entry.source,
            "`\(key)` cannot stand in the family \(entry.name.quoted)",
            label: "which identifier is to be submitted?",
            help: "define the exact identifier as a task of its own"
        )
    }

    // MARK: - Values

    private func settings(_ key: String, of entry: ManifestEntry) -> String {
        let node = entry.node[key]
        let text = expansion(entry.source).settings(node)
        if let node, text.utf8.count > Self.settingsBytesMax {
            collector.report(
                .outOfRange,
                at: node.span,
                in: entry.source,
                "`\(key)` of \(entry.name.quoted) has \(text.utf8.count) bytes without white space",
                label: "64KiB are the most",
                help: "put large data into a file and name that"
            )
        }
        return text
    }

    /// The settings share one frame with other fields.
    private static let settingsBytesMax = 64 << 10

    func duration(_ node: JSONNode?) -> Duration? {
        amount(node, .duration).map { .milliseconds(Int64(clamping: $0)) }
    }

    func amount(_ node: JSONNode?, _ notation: QuantityNotation) -> UInt64? {
        // `TextFormat` has reported a text that is none.
        node?.string.flatMap { try? notation.parse($0) }
    }
}
