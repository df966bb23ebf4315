internal import Configuration
internal import Foundation
internal import Indexing
internal import Logging
internal import QoSCore
internal import SystemPackage
internal import TreeScan

/// Combines the settings: the arguments override the environment, and the environment overrides the file.
///
/// A key is `rescanInterval` in the file, `QOS_SERVICE_RESCAN_INTERVAL` in the environment, and `--rescan-interval`
/// among the arguments.
struct SettingsReader {
    private let reader: ConfigReader
    private let environment: [String: String]

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - arguments: The settings on the command line.
    ///   - environment: The environment.
    ///   - file: The path of a JSON file, or nil if there is none.
    /// - Throws: `SettingsError` when the file cannot be read.
    init(arguments: [String: ConfigContent], environment: [String: String], file: String?) async throws {
        self.environment = environment
        let values = arguments.map { (AbsoluteConfigKey([$0.key]), ConfigValue($0.value, isSecret: false)) }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "arguments", values: Dictionary(uniqueKeysWithValues: values)),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "qosService"),
        ]
        if let file {
            do {
                providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(file)))
            } catch {
                throw SettingsError(
                    description: "The settings in \(file) cannot be read: \(error). Write a JSON object.")
            }
        }
        reader = ConfigReader(providers: providers)
    }

    /// Returns the settings for a folder, with the defaults that depend on the machine.
    ///
    /// - Throws: `SettingsError`.
    func settings(folder: String) async throws -> ServiceSettings {
        do {
            _ = try RootFolder(folder)
        } catch {
            throw SettingsError(description: "\(error)", status: .noInput)
        }
        let location = IndexLocation(folder: folder, environment: environment)
        guard let directory = try await text("indexDir") ?? location.directory else {
            throw SettingsError(
                description: "Neither XDG_STATE_HOME nor HOME is set. Name a place for the index with --index-dir."
            )
        }
        var settings = ServiceSettings(folder: location.folder, directory: directory)
        if let path = try await text("socket") {
            settings.address = .socket(path: path)
        } else {
            settings.address = .network(
                host: try await text("host") ?? "127.0.0.1",
                port: try await number("port", in: 0...65_535) ?? 8080
            )
        }
        settings.tokenFile = try await text("tokenFile")
        settings.allowedHosts = try await list("allowedHost")
        settings.access = try await choice("access") ?? settings.access
        settings.logLevel = try await choice("logLevel") ?? settings.logLevel
        settings.connections = try await number("connections", in: 1...100_000) ?? settings.connections
        settings.rescanInterval = try await seconds("rescanInterval") ?? settings.rescanInterval
        settings.searchTime = try await seconds("searchTime") ?? settings.searchTime
        settings.idleTime = try await seconds("idleTime") ?? settings.idleTime
        settings.requestTime = try await seconds("requestTime") ?? settings.requestTime
        settings.governor = try await governor()
        settings.backup = try await backup(of: settings.folder)
        settings.sync = try await sync()
        settings.substrings = try await isOn("substrings")
        settings.stemming = try await list("stem").map { name in
            guard let language = StemLanguage(rawValue: name) else {
                throw SettingsError(description: "--stem is \"\(name)\". Choose english or german, or both.")
            }
            return language
        }.sorted { $0.rawValue < $1.rawValue }
        settings.isQuiet = try await isOn("quiet")
        return settings
    }

    private func isOn(_ key: String) async throws -> Bool {
        try await read(key, "true or false") { try await reader.fetchBool(forKey: $0) } ?? false
    }

    private func governor() async throws -> GovernorSettings {
        var settings = GovernorSettings()
        settings.isOn = try await choice("governor") != Switch.off
        if let milliseconds = try await number("latencyLimit", in: 1...60_000) {
            settings.latencyLimit = .milliseconds(milliseconds)
        }
        settings.simulationFile = try await text("simulateFrom")
        for state in try await list("simulate") where !settings.simulated.set(state) {
            throw SettingsError(
                description: "--simulate is \"\(state)\". Write a condition and its state, such as thermal=serious, "
                    + "low-power=on, requests=delayed or memory=severe."
            )
        }
        return settings
    }

    private enum Switch: String, CaseIterable {
        case on, off
    }

    func text(_ key: String) async throws -> String? {
        try await read(key, "a text") { try await reader.fetchString(forKey: $0) }
    }

    func list(_ key: String) async throws -> [String] {
        try await read(key, "a list of texts") { try await reader.fetchStringArray(forKey: $0) } ?? []
    }

    func number(_ key: String, in range: ClosedRange<Int>) async throws -> Int? {
        let hint = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let value = try await read(key, hint, { try await reader.fetchInt(forKey: $0) }) else { return nil }
        guard range.contains(value) else {
            throw SettingsError(
                description:
                    "\(Self.option(key)) is \(value). Choose a value from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return value
    }

    func seconds(_ key: String) async throws -> Duration? {
        try await number(key, in: 1...1_000_000).map { .seconds($0) }
    }

    func choice<Value: RawRepresentable & CaseIterable>(
        _ key: String
    ) async throws -> Value? where Value.RawValue == String {
        guard let name = try await text(key) else { return nil }
        guard let value = Value(rawValue: name) else {
            let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingsError(description: "\(Self.option(key)) is \"\(name)\". Choose one of \(names).")
        }
        return value
    }

    private func read<Value>(
        _ key: String,
        _ hint: String,
        _ fetch: (ConfigKey) async throws -> Value?
    ) async throws -> Value? {
        do {
            return try await fetch(ConfigKey([key]))
        } catch {
            throw SettingsError(description: "\(Self.option(key)) cannot be read. Write \(hint).")
        }
    }

    /// Returns the name of a key on the command line: `rescanInterval` is `--rescan-interval`.
    static func option(_ key: String) -> String {
        "--" + key.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}
