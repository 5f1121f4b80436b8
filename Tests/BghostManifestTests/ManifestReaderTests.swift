// SPDX-License-Identifier: Apache-2.0

import BghostCalendar
import BghostFacts
import BghostManifest
@testable import BghostModel
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ManifestReaderTests {
    /// Keys of every section, with values that are not their defaults; other tests read the rest.
    ///
    /// Tests below name its lines, so a new key goes into an existing line.
    static let everything = """
        // A manifest that uses all there is.
        {
          "$schema": "./tasks.schema.json", "x-owner": { "any": ["thing"] },
          "version": 1,
          "host": {
            "stateDirectory": "state", "control": "unix:/run/bghost/${env:NAME}.sock", "slots": 4,\
            "history": { "runs": 9, "age": "90d", "size": "1GiB", "output": "2MiB", "rollups": 30 },\
            "audit": { "required": false, "submissions": true, "rows": 5000, "age": "2d", "size": "2MiB" },\
            "log": { "file": "logs/bghost.log", "format": "logfmt", "maxSize": "2MiB", "files": 3, "runs": "summary", "rate": 50 },\
            "facts": { "ups": "rack@[::1]:4000", "meteredLinks": ["wwan0"], "probes": {\
              "vpn": { "run": ["/usr/bin/test", "-e", "vpn"], "interval": "1m", "timeout": "2s" },\
              "disk": { "run": ["/bin/true"] } } },
          },
          "plugins": {
            "weather-check": {
              "library": "libWeatherCheck.so",
              "sha256": "\(String(repeating: "0af9", count: 16))",
              "isolation": "worker",
              "runsPerWorker": 3, "prestart": 2,
              "runtimePerDay": { "refresh": "20m", "processing": "30d" }, "require": ["user", "landlock"], "permissions": {
                "network": ["API.Open-Meteo.com:443", "*.example.org:8443", "[0:0::1]:80", "10.0.0.1:1"],
                "directNetwork": true,
                "read": ["/srv/photos", "./maps"], "write": ["spool"],
                "submit": ["com.example.stormy.*", "StormyNoon"], "notify": true, "jit": true
              },
              "limits": {
                "memory": "128MiB", "cpu": "10s", "cpuQuota": "150%", "processes": 17, "descriptors": 65,
                "output": "1MB", "result": "8kB", "x-why": "small"
              },
              "config": { "storm codes": [95, 96.0, 99], "token": "Bearer ${file:token}", "n": {} }
            },
            "inside": { "library": "/opt/inside.so", "isolation": "in-process" },
          },
          "functions": {
            "checksum": {
              "library": "libz.so.1", "symbol": "crc32", "signature": "ulong(ulong, bytes, uint)",
              "limits": { "memory": "1GiB" }
            }
          },
          "tasks": {
            "StormyNoon": {
              "plugin": "weather-check", "handler": "weather.check", "kind": "processing",
              "submitAtStart": { "ifAbsent": true }, "every": "1d", "tolerance": "10m", "learnsUse": true, "tags": ["nightly", "eu-1"], "history": { "runs": 5, "age": "2d" },
              "limits": { "runtime": "250ms", "grace": "2m" },
              "overlap": "replace", "priority": 900, "onLost": { "probes": "expire" },\
              "requires": { "idle": true, "probes": ["disk"] },
              "parameters": { "latitude": 52.52, "price": "$${env:NAME}", "é": "${credential:ntfy}" }, "parametersSchema": { "properties": { "price": { "pattern": "^[$]{1,2}" } } }
            },
            "com.example.stormy.*": { "plugin": "weather-check" },
            "com.example.stormy.notify": { "plugin": "inside", "submitAtStart": true },
            "sum": { "function": "checksum", "kind": "processing", "limits": { "grace": "1s" } },
          },
          "sessions": {
            "isStormy": { "plugin": "weather-check" },
            "photos.2": {
              "plugin": "inside", "handler": "h", "launchEvents": false, "discretionary": true,
              "resourceTimeout": "2d", "fileSize": "1GiB", "limits": { "runtime": "1s", "grace": "2s" }
            }
          }
        }
        """

    static let secrets = [
        "${env:NAME}": "control", "${file:/etc/bghost/token}": "a\"b\\c\n",
        "${credential:ntfy}": "${env:NAME}",
    ]

    @Test
    func `Reads every key`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(Self.everything, secrets: Self.secrets)
        #expect(diagnostics.isEmpty)
        let read = try #require(manifest)
        #expect(
            read.host
                == HostSettings(
                    stateDirectory: "/etc/bghost/state",
                    controlSocket: "/run/bghost/control.sock",
                    slots: 4,
                    facts: FactDefinitions(
                        ups: UPSAddress(supply: "rack", host: "::1", port: 4000),
                        meteredLinks: ["wwan0"],
                        probes: [
                            ProbeDefinition(
                                name: "vpn",
                                arguments: ["/usr/bin/test", "-e", "vpn"],
                                interval: .seconds(60),
                                timeout: .seconds(2)
                            ), ProbeDefinition(name: "disk", arguments: ["/bin/true"]),
                        ]
                    ),
                    history: HistorySettings(
                        runs: 9,
                        age: .seconds(90 * 86_400),
                        bytes: 1 << 30,
                        outputBytes: 2 << 20,
                        rollups: 30
                    ),
                    audit: AuditSettings(
                        isRequired: false,
                        notesSubmissions: true,
                        rows: 5000,
                        age: .seconds(2 * 86_400),
                        bytes: 2 << 20
                    ),
                    log: LogSettings(
                        file: "logs/bghost.log",
                        format: .logfmt,
                        bytesMax: 2 << 20,
                        olderFiles: 3,
                        runs: .summary,
                        linesPerSecond: 50
                    )
                )
        )
        let pattern = try #require(IdentifierPattern("com.example.stormy.*"))
        let exact = try #require(IdentifierPattern("StormyNoon"))
        let weather = PluginDefinition(
            name: "weather-check",
            library: "libWeatherCheck.so",
            sha256: String(repeating: "0af9", count: 16),
            isolation: .worker,
            runsPerWorker: 3,
            prestart: 2,
            permissions: Permissions(
                network: [
                    NetworkGrant(host: "api.open-meteo.com", port: 443),
                    NetworkGrant(host: "*.example.org", port: 8443),
                    NetworkGrant(host: "::1", port: 80), NetworkGrant(host: "10.0.0.1", port: 1),
                ],
                directNetwork: true,
                read: ["/srv/photos", "/etc/bghost/maps"],
                write: ["/etc/bghost/spool"],
                submit: [pattern, exact],
                notify: true,
                jit: true
            ),
            require: [.user, .landlock],
            limits: WorkerLimits(
                memoryBytes: 128 << 20,
                cpu: .seconds(10),
                cpuQuota: 150,
                processes: 17,
                descriptors: 65,
                outputBytes: 1_000_000,
                resultBytes: 8000
            ),
            runtimePerDay: RuntimePerDay(refresh: .seconds(1200), processing: .seconds(2_592_000)),
            config: #"{"storm codes":[95,96.0,99],"token":"Bearer a\"b\\c\n","n":{}}"#,
            origin: SourceLocation(file: "tasks.json", line: 9, column: 5)
        )
        #expect(read.plugins.first == weather)
        #expect(read.plugins.last?.isolation == .inProcess)
        #expect(
            read.functions == [
                FunctionDefinition(
                    name: "checksum",
                    library: "libz.so.1",
                    symbol: "crc32",
                    signature: "ulong(ulong, bytes, uint)",
                    limits: WorkerLimits(memoryBytes: 1 << 30),
                    origin: SourceLocation(file: "tasks.json", line: 29, column: 5)
                )
            ]
        )
        try checkTasks(read.tasks)
        #expect(read.sessions.first?.handler == "urlSession.isStormy")
        #expect(read.sessions.first?.limits == RunLimits(kind: .refresh))
        #expect(
            read.sessions.last
                == SessionDefinition(
                    name: "photos.2",
                    plugin: "inside",
                    handler: "h",
                    sendsLaunchEvents: false,
                    isDiscretionary: true,
                    resourceTimeout: .seconds(2 * 86_400),
                    fileBytesMax: 1 << 30,
                    limits: RunLimits(runtime: .seconds(1), grace: .seconds(2)),
                    origin: SourceLocation(file: "tasks.json", line: 48, column: 5)
                )
        )
    }

    private func checkTasks(_ tasks: [TaskDefinition]) throws {
        let names = ["StormyNoon", "com.example.stormy.*", "com.example.stormy.notify", "sum"]
        #expect(tasks.map(\.identifier.description) == names)
        var loss = RequirementLoss()
        loss[.anyProbe] = .expire
        let noon = TaskDefinition(
            identifier: try #require(IdentifierPattern("StormyNoon")),
            handler: .plugin(name: "weather-check", handler: "weather.check"),
            kind: .processing,
            limits: RunLimits(runtime: .milliseconds(250), grace: .seconds(120)),
            overlap: .replace,
            priority: 900,
            submitAtStart: true,
            schedule: TaskSchedule(times: .every(.seconds(86_400))),
            tolerance: .seconds(600),
            learnsUse: true,
            requirements: [.idle, .probe(1)],
            loss: loss,
            history: TaskHistory(runs: 5, age: .seconds(2 * 86_400)),
            // The content of a secret is not expanded again.
            parameters: #"{"latitude":52.52,"price":"${env:NAME}","é":"${env:NAME}"}"#,
            parametersSchema: #"{"properties":{"price":{"pattern":"^[$]{1,2}"}}}"#,
            tags: ["nightly", "eu-1"],
            origin: SourceLocation(file: "tasks.json", line: 35, column: 5)
        )
        #expect(tasks[0] == noon)
        // A family's handler is its stem, since handlers are named without `*`.
        #expect(
            tasks[1].handler == .plugin(name: "weather-check", handler: "com.example.stormy")
        )
        #expect(tasks[2].submitAtStart)
        #expect(
            tasks[2].handler == .plugin(name: "inside", handler: "com.example.stormy.notify")
        )
        #expect(tasks[3].handler == .function(name: "checksum"))
        #expect(tasks[3].limits == RunLimits(runtime: .seconds(600), grace: .seconds(1)))
    }

    @Test
    func `Takes defaults for what is not written`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            """
            { "version": 1, "plugins": { "p": { "library": "libp.so" } },
              "functions": { "f": { "library": "libc.so.6", "symbol": "abs", "signature": "int(int)" } },
              "tasks": { "t": { "plugin": "p" } } }
            """
        )
        #expect(diagnostics.isEmpty)
        let read = try #require(manifest)
        #expect(read.host == HostSettings())
        let plugin = try #require(read.plugins.first)
        let expected = PluginDefinition(name: "p", library: "libp.so", origin: plugin.origin)
        #expect(plugin == expected)
        let identifier = try #require(IdentifierPattern("t"))
        let task = try #require(read.tasks.first)
        let expectedTask = TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: "p", handler: "t"),
            origin: task.origin
        )
        #expect(task == expectedTask)
        #expect(read.functions.first?.limits == WorkerLimits())
        #expect(ManifestFixture.read("{\"version\":1}").manifest == Manifest())
    }

    @Test
    func `Refuses every prefix`() {
        let bytes = Array(Self.everything.utf8)
        let reader = ManifestFixture.reader(secrets: Self.secrets)
        let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for count in 0...end {
            let file = ManifestFile(name: "tasks.json", bytes: Array(bytes.prefix(count)))
            let (manifest, diagnostics) = reader.read(file)
            #expect(manifest == nil, "cut off after \(count) bytes")
            let isEmpty = bytes.prefix(count).split(separator: UInt8(ascii: "\n")).count < 2
            let codes: Set<DiagnosticCode> = isEmpty ? [.emptyFile, .cutOff] : [.cutOff]
            let code = diagnostics.first?.code
            #expect(code.map(codes.contains) == true, "\(String(describing: code)) at \(count)")
        }
    }

    /// Whatever the bytes, there is a manifest or an error, and never both.
    @Test(arguments: SeededGenerator.seeds(6))
    func `Mutated manifests are read or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let source = Array(Self.everything.utf8)
        let reader = ManifestFixture.reader(secrets: Self.secrets)
        for _ in 0..<250 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch UInt8.random(in: 0...3, using: &random) {
                case 0: bytes[index] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                case 2: bytes.swapAt(index, .random(in: 0..<bytes.count, using: &random))
                default:
                    bytes.insert(bytes[.random(in: 0..<bytes.count, using: &random)], at: index)
                }
            }
            let (manifest, diagnostics) = reader.read(ManifestFile(name: "m", bytes: bytes))
            let hasError = diagnostics.contains { $0.severity == .error }
            #expect((manifest == nil) == hasError)
            for diagnostic in diagnostics {
                #expect(diagnostic.rendered(color: false).contains(diagnostic.code.rawValue))
            }
        }
    }

    @Test
    func `Collects all problems in order`() {
        let (manifest, diagnostics) = ManifestFixture.read(
            """
            {
              "version": 2,
              "plugins": { "p": { "libary": "libp.so" } },
              "tasks": {
                "t": { "plugin": "q", "every": 5, "limits": { "runtime": "30 s" } },
                ".t": { "function": "f" }
              }
            }
            """
        )
        #expect(manifest == nil)
        #expect(
            diagnostics.map { "\($0.code.rawValue) \($0.location.line):\($0.location.column)" } == [
                "BG1012 2:14", "BG1022 3:16", "BG1021 3:23", "BG1034 5:22", "BG1024 5:36",
                "BG1025 5:62", "BG1031 6:5", "BG1034 6:25",
            ]
        )
    }

    @Test
    func `Stops at a hundred`() {
        let keys = (0..<5000).map { "\"k\($0)\":0" }.joined(separator: ",")
        let diagnostics = ManifestFixture.read("{\"version\":1,\(keys)}").diagnostics
        #expect(diagnostics.count == 101)
        #expect(diagnostics.last?.code == .tooManyProblems)
        #expect(diagnostics.last?.message == "4900 more problems are not shown")
        #expect(diagnostics.last?.severity == .error)
    }
}
