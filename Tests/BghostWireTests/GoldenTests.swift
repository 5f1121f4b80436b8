// SPDX-License-Identifier: Apache-2.0

import BghostFuzz
@testable import BghostWire
import Testing

/// The bytes of each frame: a daemon and a worker of different builds must agree on them.
@Suite struct GoldenTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String
        var message: Message
        var hex: String

        var testDescription: String { name }
    }

    static let toWorker: [Sample] = [
        Sample(
            name: "configure, plugin",
            message: .configure(
                configure(.plugin(path: "/p.so", isHeld: false), isProbe: false)
            ),
            hex: """
                7d000000 01 01 0000 0000000000000000
                01000000 6e  00 05000000 2f702e736f  02000000 2f64  02000000 7b7d
                0300 0000004000000000 07000000 40000000 10000000
                03000000 01000000 09000000 1000000000000000
                0100 02000000 2f67 03  08000000 0102030405060708 0100 0000  00000000 0000
                05000000 302e312e30
                """
        ),
        Sample(
            name: "configure, function, probe",
            message: .configure(
                configure(
                    .function(library: "z", symbol: "crc32", signature: "int()"),
                    isProbe: true
                )
            ),
            hex: """
                8b000000 01 01 0100 0000000000000000
                01000000 6e  01 01000000 7a 05000000 6372633332 05000000 696e742829
                02000000 2f64  02000000 7b7d
                0300 0000004000000000 07000000 40000000 10000000
                03000000 01000000 09000000 1000000000000000
                0100 02000000 2f67 03  08000000 0102030405060708 0100 0000  00000000 0000
                05000000 302e312e30
                """
        ),
        Sample(
            name: "start",
            message: .start(
                Start(
                    run: 0x0403,
                    handler: 2,
                    attempt: 1,
                    deadline: 0x0102_0304_0506_0708,
                    graceMilliseconds: 5000,
                    resultBytesMax: 65536,
                    task: "a.b",
                    parameters: "{}",
                    names: RunNames(
                        runHigh: 1,
                        runLow: 2,
                        requestHigh: 3,
                        requestLow: 4,
                        epoch: 5
                    )
                )
            ),
            hex: """
                5a000000 02 01 0200 0304000000000000
                0807060504030201 01000000 88130000 00000100  03000000 612e62  02000000 7b7d 00
                0100000000000000 0200000000000000 0300000000000000 0400000000000000
                0500000000000000
                """
        ),
        Sample(
            name: "explain",
            message: .explain(Explain()),
            hex: "10000000 13 01 0000 0000000000000000"
        ),
        Sample(
            name: "finish",
            message: .finish(run: 5),
            hex: "10000000 03 01 0000 0500000000000000"
        ),
        Sample(
            name: "cancel",
            message: .cancel(Cancel(run: 0x0807_0605_0403_0201, why: 3)),
            hex: "10000000 10 01 0300 0102030405060708"
        ),
        Sample(
            name: "reply",
            message: .reply(Reply(call: 9, status: -5)),
            hex: "15000000 11 01 0000 0900000000000000  fbffffff 00"
        ),
        Sample(
            name: "reply, pending",
            message: .reply(
                Reply(
                    call: 9,
                    status: 0,
                    body: .pending(
                        [
                            PendingEntry(
                                task: "t",
                                kind: 1,
                                earliestUnixMilliseconds: -1,
                                needs: 3
                            )
                        ],
                        next: 256
                    )
                )
            ),
            hex: """
                36000000 11 01 0000 0900000000000000  00000000 01
                01000000  01000000 74 01000000 ffffffffffffffff 03000000  0001000000000000
                """
        ),
        Sample(
            name: "reply, fetched",
            message: .reply(
                Reply(
                    call: 9,
                    status: 0,
                    body: .fetched(
                        httpStatus: 200,
                        headers: "A: b\n",
                        message: "",
                        body: .inline([0, 255])
                    )
                )
            ),
            hex: """
                2d000000 11 01 0000 0900000000000000  00000000 02
                c8000000  05000000 413a20620a  00000000  00 02000000 00ff
                """
        ),
        Sample(
            name: "reply, fetched in parts",
            message: .reply(
                Reply(
                    call: 9,
                    status: 0,
                    body: .fetched(
                        httpStatus: 404,
                        headers: "",
                        message: "m",
                        body: .parts(bytes: 65536)
                    )
                )
            ),
            hex: """
                2b000000 11 01 0000 0900000000000000  00000000 02
                94010000  00000000  01000000 6d  02 0000010000000000
                """
        ),
        Sample(
            name: "part",
            message: .part(ReplyPart(call: 9, bytes: [1, 2])),
            hex: "16000000 12 01 0000 0900000000000000  02000000 0102"
        ),
    ]

    private static let situation = Sample(
        name: "reply, situation",
        message: .reply(
            Reply(
                call: 9,
                status: 0,
                body: .situation(
                    Situation(
                        refresh: 3,
                        reasons: 8,
                        missedCount: 2,
                        missedFromUnixMilliseconds: -1
                    )
                )
            )
        ),
        hex: """
            2d000000 11 01 0000 0900000000000000  00000000 03
            03000000 08000000  0200000000000000 ffffffffffffffff
            """
    )

    static let toDaemon: [Sample] = [
        Sample(
            name: "ready",
            message: .ready(
                Ready(
                    id: "i",
                    version: "1",
                    vendor: "",
                    handlers: [.init(name: "h", flags: 2), .init(name: "", flags: 0)]
                )
            ),
            hex: """
                31000000 81 01 0000 0000000000000000
                01000000 69  01000000 31  00000000  0200
                01000000 68 02000000  00000000 00000000
                """
        ),
        Sample(
            name: "refused",
            message: .refused(Refused(code: "abi-major", message: "é")),
            hex: """
                23000000 82 01 0000 0000000000000000
                09000000 6162692d6d616a6f72  02000000 c3a9
                """
        ),
        Sample(
            name: "confined",
            message: .confined(
                Confined(
                    layers: [Confined.Layer(bit: 2, state: 1, detail: "d")],
                    absent: ["/x"],
                    trials: [Confined.Trial(name: "t", error: 13)]
                )
            ),
            hex: """
                2c000000 88 01 0000 0000000000000000
                01 02000000 01 01000000 64  01 02000000 2f78  01 01000000 74 0d000000
                """
        ),
        // As `crash_report.c` writes it.
        Sample(
            name: "report",
            message: .report(
                Report(
                    isOfThreads: false,
                    signal: 11,
                    place: "x+0x1",
                    address: "0x2",
                    threads: [Report.Thread(name: "t 7", frames: ["y"])]
                )
            ),
            hex: """
                31000000 89 01 0000 0000000000000000  1d000000
                532031310a 5020782b3078310a 41203078320a 54207420370a 4620790a
                """
        ),
        Sample(
            name: "completed",
            message: .completed(
                Completed(
                    run: 5,
                    status: -3,
                    retryAfterMilliseconds: 1000,
                    message: "m",
                    payload: "[]",
                    isReleased: true
                )
            ),
            hex: """
                27000000 83 01 0100 0500000000000000
                e803000000000000 fdffffff  01000000 6d  02000000 5b5d
                """
        ),
        Sample(
            name: "released",
            message: .released(run: 5),
            hex: "10000000 84 01 0000 0500000000000000"
        ),
        Sample(
            name: "progress",
            message: .progress(Progress(run: 5, done: 1, total: .max, phase: "p")),
            hex: """
                25000000 85 01 0000 0500000000000000
                0100000000000000 ffffffffffffffff  01000000 70
                """
        ),
        Sample(
            name: "log",
            message: .log(LogLine(run: 5, level: 4, dropped: 1, text: "x")),
            hex: "19000000 86 01 0400 0500000000000000  01000000 01000000 78"
        ),
        Sample(
            name: "call, submit",
            message: call(
                .submit(
                    task: "t",
                    parameters: "{}",
                    kind: 1,
                    earliestUnixMilliseconds: 256,
                    needs: 3
                )
            ),
            hex: """
                33000000 87 01 0100 0700000000000000  0500000000000000
                01000000 74  02000000 7b7d  01000000 0001000000000000 03000000
                """
        ),
        Sample(
            name: "call, cancel pending",
            message: call(.cancelPending(task: "t")),
            hex: "1d000000 87 01 0200 0700000000000000  0500000000000000  01000000 74"
        ),
        Sample(
            name: "call, cancel all pending",
            message: call(.cancelAllPending),
            hex: "18000000 87 01 0300 0700000000000000  0500000000000000"
        ),
        Sample(
            name: "call, pending",
            message: call(.pending(from: 256)),
            hex: "20000000 87 01 0400 0700000000000000  0500000000000000  0001000000000000"
        ),
        Sample(
            name: "call, fetch",
            message: call(
                .fetch(
                    FetchCall(
                        url: "u",
                        method: "GET",
                        headers: "",
                        body: [1],
                        bodyFile: "",
                        sendsDigest: true,
                        bytesMax: 16,
                        timeoutMilliseconds: 255
                    )
                )
            ),
            hex: """
                42000000 87 01 0500 0700000000000000  0500000000000000
                01000000 75  03000000 474554  00000000  01000000 01  00000000
                01 1000000000000000 ff00000000000000
                """
        ),
        Sample(
            name: "call, cancel fetch",
            message: call(.cancelFetch(call: 6)),
            hex: "20000000 87 01 0600 0700000000000000  0500000000000000  0600000000000000"
        ),
        Sample(
            name: "call, situation",
            message: call(.situation(run: 6)),
            hex: "20000000 87 01 0700 0700000000000000  0500000000000000  0600000000000000"
        ),
    ]

    static let all = toWorker + [situation] + toDaemon + notifications + transfers

    @Test(arguments: all)
    func isWrittenAs(_ sample: Sample) {
        #expect(Hex.text(sample.message.packet) == Hex.text(Hex.bytes(sample.hex)))
    }

    @Test(arguments: all)
    func isReadBack(_ sample: Sample) throws {
        #expect(try Message.read(Hex.bytes(sample.hex)) == [sample.message])
    }

    @Test func allKindsAreHere() {
        let kinds = Set(Self.all.map { Hex.bytes($0.hex)[4] })
        #expect(kinds == Set(FrameKind.allCases.map(\.rawValue)))
    }

    private static func configure(_ code: Configure.Code, isProbe: Bool) -> Configure {
        Configure(
            name: "n",
            code: code,
            dataDirectory: "/d",
            config: "{}",
            slotCount: 3,
            limits: WorkerRlimits(
                addressSpaceBytes: 1 << 30,
                cpuSeconds: 7,
                descriptors: 64,
                processes: 16
            ),
            confinement: Confinement(
                wanted: 3,
                required: 1,
                user: 9,
                grants: [Confinement.Grant(path: "/g", access: 3)],
                scratchBytes: 16,
                filter: Confinement.Filter(
                    instructions: [1, 2, 3, 4, 5, 6, 7, 8],
                    ownProcess: [0]
                ),
                filterAmongFiles: Confinement.Filter(instructions: [], ownProcess: [])
            ),
            isProbe: isProbe,
            hostVersion: "0.1.0"
        )
    }

    static func call(_ operation: Call.Operation) -> Message {
        .call(Call(number: 7, run: 5, operation: operation))
    }
}
