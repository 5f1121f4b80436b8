// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension Diagnostic {
    /// The diagnostic as text for people, in the style of the Rust compiler, with a final newline.
    ///
    /// - Parameter color: whether to use ANSI colours; they carry no additional information.
    package func rendered(color: Bool) -> String {
        let paint = Paint(isOn: color)
        let tint = severity == .error ? Paint.red : Paint.yellow
        let head = paint("\(severity.rawValue)[\(code.rawValue)]", tint)
        // One gutter for all parts, as wide as the largest line number.
        let lines = [place.location.line] + notes.map(\.place.location.line)
        let gutter = String(lines.max() ?? 0).utf8.count
        var text = head + paint(": \(message)", Paint.bold) + "\n"
        text += place.rendered(label: label, mark: "^", tint: tint, gutter: gutter, paint)
        if let help {
            text += String(repeating: " ", count: gutter + 1) + paint("=", Paint.dim)
            text += " " + paint("help", Paint.bold) + ": \(help)\n"
        }
        for note in notes {
            text += paint("note", Paint.bold) + ": \(note.message)\n"
            text += note.place.rendered(
                label: nil,
                mark: "-",
                tint: Paint.dim,
                gutter: gutter,
                paint
            )
        }
        return text
    }
}

extension Diagnostic.Place {
    fileprivate func rendered(
        label: String?,
        mark: Character,
        tint: String,
        gutter: Int,
        _ paint: Paint
    ) -> String {
        let margin = String(repeating: " ", count: gutter)
        let file = location.file.escapedForMessage
        let arrow = margin + paint("-->", Paint.dim)
        guard location.line > 0 else { return "\(arrow) \(file)\n" }
        var text = "\(arrow) \(file):\(location.line):\(location.column)\n"
        guard let excerpt else { return text }
        let bar = paint("|", Paint.dim)
        let number = String(location.line)
        let pad = String(repeating: " ", count: max(0, gutter - number.utf8.count))
        let marks = String(repeating: mark, count: excerpt.width)
        text += "\(margin) \(bar)\n"
        text += "\(pad)\(paint(number, Paint.dim)) \(bar) \(excerpt.text)\n"
        text += "\(margin) \(bar) " + String(repeating: " ", count: excerpt.indent)
        text += paint(label.map { "\(marks) \($0)" } ?? marks, tint) + "\n"
        return text
    }
}

/// Applies ANSI colours, if enabled.
private struct Paint {
    static let red = "1;31"
    static let yellow = "1;33"
    static let bold = "1"
    static let dim = "2"

    var isOn: Bool

    func callAsFunction(_ text: String, _ style: String) -> String {
        isOn ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}
