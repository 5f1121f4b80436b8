// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostServices
internal import Glibc

/// Searches the log's files, from the newest line to the oldest.
///
/// It blocks, reads `bytesMax` bytes at most in one call, and returns where to go on. It changes nothing. The
/// beginning of a time range is found by halving, which needs lines in the order of time: if the clock was set
/// back, lines of the repeated time may be missing from an answer with `until` or `since`.
struct LogFileReader {
    let path: LogPath
    let format: LogSettings.Format
    /// Where the lines of the present daemon begin; `nil` if there is none.
    let start: LogCursor?

    /// The most bytes that one search reads.
    static let bytesMax = 16 << 20
    static let blockBytes = 128 << 10
    /// A longer piece without a line break is no line of the log.
    static let lineBytesMax = 2 << 20
    /// How much later than its neighbours a line of another thread may be, nanoseconds.
    static let disorder: Int64 = 5_000_000_000

    /// An open file of the log.
    private struct File {
        let fd: Int32
        let inode: UInt64
        let size: UInt64
    }

    func search(_ search: LogSearch) -> LogFindings {
        let (files, problem) = open()
        defer { for file in files { close(file.fd) } }
        var findings = LogFindings(problem: problem)
        var pass = Pass(search, needles: LogLineFormat.needles(search.filter, format))
        var rest = files[...]
        if let before = search.before {
            // A file that was deleted since has nothing older behind it either.
            guard let index = files.firstIndex(where: { $0.inode == before.file }) else {
                return findings
            }
            rest = files[index...]
        }
        // Lines before the start are those of earlier daemons; without a daemon, all are.
        if start == nil { pass.isOwn = false }
        if let start, let own = files.firstIndex(where: { $0.inode == start.file }),
            rest.startIndex > own
        {
            pass.isOwn = false
        }
        for file in rest {
            var part = part(of: file, search.filter, &pass)
            if let before = search.before, before.file == file.inode {
                part = min(part.lowerBound, before.offset)..<min(part.upperBound, before.offset)
            }
            guard let stop = look(at: file, part, &pass) else {
                if file.inode == start?.file { pass.isOwn = false }
                continue
            }
            findings.next = stop.isOver ? nil : LogCursor(file: file.inode, offset: stop.offset)
            break
        }
        // Without older lines there is no other page.
        if let next = findings.next, next.offset == 0, next.file == files.last?.inode {
            findings.next = nil
        }
        findings.lines = pass.found
        findings.hasOwnNext = findings.next != nil && pass.isOwn
        return findings
    }

    // MARK: Files

    /// Opens the files, the newest first.
    ///
    /// A rotation in between moves a file to the next number: in this order it is seen twice and not missed.
    private func open() -> (files: [File], problem: String?) {
        var files: [File] = []
        var problem: String?
        for number in 0...LogFileWriter.olderMax {
            let name = number == 0 ? path.live : path.older(number)
            let fd = Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
            guard fd >= 0 else {
                if errno != ENOENT { problem = LogPath.error("read", name).description }
                continue
            }
            var status = stat()
            guard fstat(fd, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                problem = "\(name) is no ordinary file"
                close(fd)
                continue
            }
            let inode = UInt64(status.st_ino)
            guard !files.contains(where: { $0.inode == inode }) else {
                close(fd)
                continue
            }
            files.append(File(fd: fd, inode: inode, size: UInt64(max(0, status.st_size))))
        }
        return (files, problem)
    }

    private func read(_ file: File, _ range: Range<UInt64>, _ pass: inout Pass) -> [UInt8] {
        let count = Int(range.upperBound - range.lowerBound)
        pass.bytes += count
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            while length < count {
                let start = buffer.baseAddress.map { $0 + length }
                let got = pread(
                    file.fd,
                    start,
                    count - length,
                    off_t(range.lowerBound) + off_t(length)
                )
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { return }
                length += got
            }
        }
    }

    // MARK: Lines

    /// What a search has found and read so far.
    private struct Pass {
        let search: LogSearch
        let needles: [[UInt8]]
        var found: [LogFindings.Line] = []
        var bytes = 0
        /// Whether the lines are those of the present daemon.
        var isOwn = true

        init(_ search: LogSearch, needles: [[UInt8]]) {
            self.search = search
            self.needles = needles
        }

        var isFull: Bool { found.count >= search.limit || bytes >= LogFileReader.bytesMax }

        /// - Returns: whether older lines can match too.
        mutating func look(
            _ line: ArraySlice<UInt8>,
            _ format: LogSettings.Format,
            at place: LogCursor
        ) -> Bool {
            guard needles.allSatisfy({ LogFileReader.contains(line, $0) }),
                let entry = LogLineFormat.entry(line, format)
            else { return true }
            if let since = search.filter.since, entry.time < since - LogFileReader.disorder {
                return false
            }
            if isOwn, let below = search.belowSequence, entry.sequence >= below { return true }
            if search.filter.matches(entry) {
                found.append(LogFindings.Line(entry, at: place, isOwn: isOwn))
            }
            return true
        }
    }

    private static func contains(_ line: ArraySlice<UInt8>, _ needle: [UInt8]) -> Bool {
        line.withUnsafeBytes { line in
            needle.withUnsafeBytes { needle in
                guard let text = line.baseAddress, let part = needle.baseAddress else {
                    return needle.isEmpty
                }
                var offset = 0
                while offset + needle.count <= line.count {
                    let rest = line.count - needle.count + 1 - offset
                    guard let found = memchr(text + offset, Int32(needle[0]), rest) else { break }
                    offset = UnsafeRawPointer(found) - text
                    if memcmp(text + offset, part, needle.count) == 0 { return true }
                    offset += 1
                }
                return false
            }
        }
    }

    /// Looks at the lines of a part of a file, from the last one to the first.
    ///
    /// - Returns: where and why it stopped; `nil` at the beginning of the file.
    private func look(
        at file: File,
        _ part: Range<UInt64>,
        _ pass: inout Pass
    ) -> (offset: UInt64, isOver: Bool)? {
        var position = part.upperBound
        let begin = part.lowerBound
        // The bytes from `position` to the end of the line there, whose beginning is not read yet.
        var tail: [UInt8] = []
        // What follows the last line break of the file is half a line.
        var isWhole = position < file.size
        while position > begin {
            guard !pass.isFull else { return (position + UInt64(tail.count), false) }
            let length = min(position - begin, UInt64(Self.blockBytes))
            let start = position - length
            let block = read(file, start..<position, &pass) + tail
            // The file is shorter than before if another program has cut it.
            guard block.count == Int(position - start) + tail.count else { return nil }
            position = start
            var last = block.endIndex
            if !isWhole {
                guard let lineBreak = block.lastIndex(of: UInt8(ascii: "\n")) else {
                    tail = block.count > Self.lineBytesMax ? [] : block
                    continue
                }
                last = lineBreak + 1
                isWhole = true
            }
            while last > 0 {
                let body = block[..<(last - 1)]
                let lineBreak = body.lastIndex(of: UInt8(ascii: "\n"))
                guard lineBreak != nil || start == begin else { break }
                let first = lineBreak.map { $0 + 1 } ?? 0
                let offset = start + UInt64(first)
                if file.inode == self.start?.file, offset < self.start?.offset ?? 0 {
                    pass.isOwn = false
                }
                let place = LogCursor(file: file.inode, offset: offset)
                guard pass.look(body[first...], format, at: place) else { return (offset, true) }
                last = first
                if pass.isFull { return (offset, false) }
            }
            tail = last > Self.lineBytesMax ? [] : Array(block[..<last])
        }
        return begin > 0 ? (begin, true) : nil
    }

    /// Halves a file by the time of its lines.
    ///
    /// - Returns: two beginnings of lines: those before the lower one are not later than the time, those from the
    ///   higher one on are later.
    private func halved(
        _ file: File,
        at time: Int64,
        _ pass: inout Pass
    ) -> (low: UInt64, high: UInt64) {
        var (low, high) = (UInt64(0), file.size)
        while high - low > UInt64(Self.blockBytes) {
            let middle = low + (high - low) / 2
            // Of a long line, or of bytes that are no lines, the search looks at each.
            guard let line = line(after: middle, in: file, below: high, &pass) else { break }
            if line.time > time { high = line.offset } else { low = line.offset }
        }
        return (low, high)
    }

    /// The part of a file whose lines may be in the time range.
    private func part(of file: File, _ filter: LogFilter, _ pass: inout Pass) -> Range<UInt64> {
        var (low, high) = (UInt64(0), file.size)
        guard format.isSearchable else { return low..<high }
        if let since = filter.since {
            low = halved(file, at: since.subtractingClamped(Self.disorder), &pass).low
        }
        if let until = filter.until {
            high = halved(file, at: until.addingClamped(Self.disorder), &pass).high
        }
        return low..<max(low, high)
    }

    /// The first readable line that begins after an offset.
    private func line(
        after offset: UInt64,
        in file: File,
        below: UInt64,
        _ pass: inout Pass
    ) -> (offset: UInt64, time: Int64)? {
        let end = min(below, offset + UInt64(Self.blockBytes))
        let block = read(file, offset..<end, &pass)
        var rest = block[...]
        while let lineBreak = rest.firstIndex(of: UInt8(ascii: "\n")) {
            rest = rest[(lineBreak + 1)...]
            guard let next = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            if let entry = LogLineFormat.entry(rest[..<next], format) {
                return (offset + UInt64(rest.startIndex), entry.time)
            }
        }
        return nil
    }
}
