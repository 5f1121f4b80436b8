/// What a plugin states and an app does not: on iOS it is in Info.plist.
extension TemplateNameIOSApp {
    static var pluginID: String { "org.example.template-name" }
    static var pluginVersion: String { "0.1.0" }
}
