/// Settings that cannot be used.
struct SettingsError: Error, CustomStringConvertible {
    let description: String
    var status = ExitStatus.usage
}
