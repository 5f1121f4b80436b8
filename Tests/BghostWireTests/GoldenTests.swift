// SPDX-License-Identifier: Apache-2.0

@testable import BghostWire
import BghostWireMessages
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
            name: "configure, function, traceable",
            message: .configure(
                configure(
                    .function(library: "z", symbol: "crc32", signature: "int()"),
                    isProbe: false,
                    isTraceable: true
                )
            ),
            hex: """
                8b000000 01 01 0200 0000000000000000
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
                    traceparent: "00",
                    tracestate: "a=1",
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
                67000000 02 01 0200 0304000000000000
                0807060504030201 01000000 88130000 00000100  03000000 612e62  02000000 7b7d 00
                0100000000000000 0200000000000000 0300000000000000 0400000000000000
                0500000000000000 02000000 3030 03000000 613d31
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

    private static let checkpoints = [
        Sample(
            name: "reply, checkpoint",
            message: .reply(
                Reply(call: 9, status: 0, body: .checkpoint(.inline([1, 0, 255])))
            ),
            hex: "1d000000 11 01 0000 0900000000000000  00000000 04  00 03000000 0100ff"
        ),
        Sample(
            name: "reply, checkpoint in parts",
            message: .reply(
                Reply(call: 9, status: 0, body: .checkpoint(.parts(bytes: 65_536)))
            ),
            hex: "1e000000 11 01 0000 0900000000000000  00000000 04  02 0000010000000000"
        ),
    ]

    static let all = toWorker + [situation] + checkpoints + toDaemon + notifications + transfers

    @Test(arguments: all)
    func `Is written as`(_ sample: Sample) {
        #expect(Hex.text(sample.message.packet) == Hex.text(Hex.bytes(sample.hex)))
    }

    @Test(arguments: all)
    func `Is read back`(_ sample: Sample) throws {
        #expect(try Message.read(Hex.bytes(sample.hex)) == [sample.message])
    }

    @Test func `All kinds are here`() {
        let kinds = Set(Self.all.map { Hex.bytes($0.hex)[4] })
        #expect(kinds == Set(FrameKind.allCases.map(\.rawValue)))
    }

    private static func configure(
        _ code: Configure.Code,
        isProbe: Bool,
        isTraceable: Bool = false
    ) -> Configure {
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
            hostVersion: "0.1.0",
            isTraceable: isTraceable
        )
    }

    static func call(_ operation: Call.Operation) -> Message {
        .call(Call(number: 7, run: 5, operation: operation))
    }
}
