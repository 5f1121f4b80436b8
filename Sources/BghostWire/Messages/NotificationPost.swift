// SPDX-License-Identifier: Apache-2.0

/// A notification that a plugin posts.
package struct NotificationPost: Equatable, Sendable {
    package static let nameBytesMax = 128
    package static let textBytesMax = 4 << 10
    package static let actionsBytesMax = 8 << 10

    package var id: String
    package var level: UInt32
    package var title: String
    package var subtitle: String
    package var body: String
    package var thread: String
    package var category: String
    /// JSON, or "".
    package var userInfo: String
    /// JSON, or "".
    package var actions: String
    package var atUnixMilliseconds: Int64
    package var everyMilliseconds: Int64
    package var calendar: String
    package var timeZone: String

    package init(
        id: String,
        level: UInt32,
        title: String,
        subtitle: String,
        body: String,
        thread: String,
        category: String,
        userInfo: String,
        actions: String,
        atUnixMilliseconds: Int64,
        everyMilliseconds: Int64,
        calendar: String,
        timeZone: String
    ) {
        self.id = id
        self.level = level
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.thread = thread
        self.category = category
        self.userInfo = userInfo
        self.actions = actions
        self.atUnixMilliseconds = atUnixMilliseconds
        self.everyMilliseconds = everyMilliseconds
        self.calendar = calendar
        self.timeZone = timeZone
    }

    func write(to fields: inout FieldWriter) {
        fields.text(id)
        fields.integer(level)
        fields.text(title)
        fields.text(subtitle)
        fields.text(body)
        fields.text(thread)
        fields.text(category)
        fields.text(userInfo)
        fields.text(actions)
        fields.integer(atUnixMilliseconds)
        fields.integer(everyMilliseconds)
        fields.text(calendar)
        fields.text(timeZone)
    }

    init(_ fields: inout FieldReader) throws(WireError) {
        id = try fields.text(bytesMax: Self.nameBytesMax)
        level = try fields.integer()
        title = try fields.text(bytesMax: Self.textBytesMax)
        subtitle = try fields.text(bytesMax: Self.textBytesMax)
        body = try fields.text(bytesMax: Self.textBytesMax)
        thread = try fields.text(bytesMax: Self.nameBytesMax)
        category = try fields.text(bytesMax: Self.nameBytesMax)
        userInfo = try fields.text(bytesMax: Self.textBytesMax)
        actions = try fields.text(bytesMax: Self.actionsBytesMax)
        atUnixMilliseconds = try fields.integer()
        everyMilliseconds = try fields.integer()
        calendar = try fields.text(bytesMax: 1024)
        timeZone = try fields.text(bytesMax: 256)
    }
}
