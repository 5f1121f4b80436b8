// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Synchronization
import Testing

@Suite struct DataRoomTests {
    private static let limit: UInt64 = 64 << 20

    @Test func `Used room is unavailable at once, also between two measurements`() {
        let refusals = Mutex(0)
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {
            refusals.withLock { $0 += 1 }
        }
        room.counted(32 << 20, files: 0, since: DataRoom.Mark())
        #expect(room.take(16 << 20))
        #expect(!room.take(16 << 20))
        #expect(refusals.withLock { $0 } == 1)
        // Smaller ones fit, but for the margin of a mebibyte.
        #expect(room.take(15 << 20))
        #expect(!room.take(1))
    }

    @Test func `A measurement covers only room used before it started`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(room.take(20 << 20))
        room.wrote(20 << 20)
        let before = room.mark
        #expect(room.take(20 << 20))
        room.wrote(20 << 20)
        room.counted(20 << 20, files: 0, since: before)
        #expect(room.mark.bytes == 20 << 20)
        #expect(!room.take(24 << 20))
        #expect(room.take(23 << 20))
    }

    @Test func `A measurement does not cover room that is used and not written yet`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(room.take(40 << 20))
        // It finds nothing, since the bytes are still on their way to the disk.
        room.counted(0, files: 0, since: room.mark)
        #expect(!room.take(24 << 20))
        room.wrote(40 << 20)
        #expect(!room.take(24 << 20))
        room.counted(40 << 20, files: 0, since: room.mark)
        #expect(!room.take(24 << 20))
        #expect(room.take(23 << 20))
    }

    @Test func `A reservation keeps others out, and its own bytes are not counted twice`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(room.reserve(40 << 20))
        #expect(!room.reserve(40 << 20))
        #expect(!room.take(24 << 20))
        var reservation: UInt64 = 40 << 20
        let isTaken = room.take(30 << 20, from: &reservation)
        #expect(isTaken && reservation == 10 << 20)
        room.wrote(30 << 20)
        #expect(room.mark.bytes == 30 << 20)
        // A measurement sees what was written, and not what is still to come.
        room.counted(30 << 20, files: 0, since: room.mark)
        #expect(!room.take(24 << 20))
        room.release(reservation)
        #expect(room.take(24 << 20))
    }

    @Test func `Files are counted as they are created`() {
        let refusals = Mutex(0)
        let room = DataRoom(folder: "/data", bytesMax: Self.limit, filesMax: 3) {
            refusals.withLock { $0 += 1 }
        }
        room.counted(0, files: 1, since: DataRoom.Mark())
        #expect(room.takeFile())
        let before = room.mark
        #expect(room.takeFile())
        #expect(!room.takeFile())
        #expect(refusals.withLock { $0 } == 1)
        room.counted(0, files: 1, since: before)
        #expect(room.takeFile())
        #expect(!room.takeFile())
        room.counted(0, files: 4, since: room.mark)
        #expect(!room.takeFile())
        room.setLimits(bytes: Self.limit, files: 5)
        #expect(room.takeFile())
    }

    @Test func `A file uses whole blocks`() {
        #expect([0, 1, 4096, 4097, .max].map(DataRoom.space) == [0, 4096, 4096, 8192, 1 << 63])
    }

    @Test func `Bytes beyond the reservation need further room`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(room.reserve(1 << 20))
        var reservation: UInt64 = 1 << 20
        let isAll = room.take(64 << 20, from: &reservation)
        #expect(!isAll && reservation == 1 << 20)
        let isSome = room.take(2 << 20, from: &reservation)
        #expect(isSome && reservation == 0)
    }

    @Test func `A folder of the largest size leaves no room`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(room.reserve(1 << 20))
        #expect(room.take(1 << 20))
        room.counted(.max - (1 << 20), files: 0, since: DataRoom.Mark())
        #expect(!room.take(1))
        #expect(!room.reserve(1))
    }

    @Test func `Lengths that no disk has are refused`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        #expect(!room.reserve(.max))
        #expect(!room.take(.max))
        #expect(room.reserve(1 << 20) && !room.reserve(.max))
    }

    @Test func `A measurement or a higher limit frees room`() {
        let room = DataRoom(folder: "/data", bytesMax: Self.limit) {}
        for size: UInt64? in [.max / 2, .max, nil] {
            room.counted(size, files: 0, since: DataRoom.Mark())
            #expect(!room.take(1), "\(size.map(String.init) ?? "unknown")")
        }
        room.counted(0, files: 0, since: DataRoom.Mark())
        #expect(room.take(1))
        room.setLimits(bytes: 0, files: .max)
        #expect(!room.take(1))
    }
}

extension DataRoom {
    fileprivate func take(_ bytes: UInt64) -> Bool {
        var none: UInt64 = 0
        return take(bytes, from: &none)
    }
}
