"use strict"
// What an owner asks: the line at the top, snapshots, conflicts and what was done. Loaded before page.js, which has the
// state in the address; texts are set as text, never as markup.
const patienceOfRequests = 15000
const home = { state: null, file: null }

/// Asks the service, with a time limit. Throws an error with a sentence for people.
async function ask2(resource, options = {}) {
  let response, answer
  try {
    response = await fetch(resource, { signal: AbortSignal.timeout(patienceOfRequests), ...options })
    answer = await response.json()
  } catch (error) {
    throw new Error(error.name === "TimeoutError" ? "The service took too long to answer. Try again."
      : "The service does not answer. Is it still running?")
  }
  if (!response.ok) throw new Error(answer.error.message)
  return answer
}

const localTime = seconds => new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })

/// A time as people say it: near ones by their distance, others by the day.
function ago(seconds) {
  const past = Date.now() / 1000 - seconds
  if (past < 0) return localTime(seconds)
  if (past < 90) return "just now"
  if (past < 5400) return `${Math.round(past / 60)} min ago`
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(seconds * 1000).setHours(0, 0, 0, 0)) / 86400000)
  if (days === 0) return `${Math.round(past / 3600)} h ago`
  return days === 1 ? "yesterday" : days < 14 ? `${days} days ago` : localTime(seconds)
}

function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"]
  let unit = 0
  while (number >= 1000 && unit < 4) { number /= 1000; unit++ }
  return unit === 0 ? `${number} B` : `${number.toFixed(number < 10 ? 1 : 0)} ${units[unit]}`
}

// MARK: The line at the top

const workNames = { backup: "backups", check: "checks", prune: "clean-ups of snapshots", sync: "the sync", indexing: "indexing", restore: "restores" }
const workName = kind => workNames[kind] ?? kind

/// The parts of the line: text, view and class.
function homeParts(now) {
  const parts = []
  if (now.paused.length) parts.push([`PAUSED: ${now.paused.map(workName).join(", ")}`, { view: "work" }, "paused"])
  if (now.backup) {
    if (now.backup.has_failed) parts.push([`Backup failed${now.saved ? `; saved ${ago(now.saved)}` : ""}`, { view: "activity" }, "bad"])
    else parts.push([now.saved ? `Saved ${ago(now.saved)}` : "Not saved yet", { view: "snapshots" }, now.saved ? "" : "bad"])
    if (now.saved_problems) parts.push([count(now.saved_problems, "entry not saved", "entries not saved"), { view: "activity" }, "bad"])
    if (now.check.has_failed) parts.push(["the check found a problem", { view: "activity" }, "bad"])
    else parts.push([now.check.last ? `checked ${ago(now.check.last)}` : "not checked yet", { view: "activity" }, ""])
  }
  if (now.sync) {
    if (now.sync.has_failed) parts.push(["sync failed", { view: "activity" }, "bad"])
    else if (!now.sync.last) parts.push(["not synced yet", { view: "activity" }, ""])
    else parts.push([now.conflicts || now.skipped ? `synced ${ago(now.sync.last)}` : "in step", { view: "activity" }, ""])
    if (now.conflicts) parts.push([count(now.conflicts, "conflict", "conflicts"), { view: "conflicts" }, "bad"])
    if (now.skipped) parts.push([count(now.skipped, "entry not synced", "entries not synced"), { view: "activity" }, "bad"])
  }
  if (now.pending) parts.push([count(now.pending, "file to index", "files to index"), { view: "search" }, ""])
  if (now.not_read) parts.push([count(now.not_read, "file not read", "files not read"), { view: "search", q: "" }, "bad"])
  if (now.unwatched) parts.push([`${count(now.unwatched, "folder", "folders")} not watched`, { view: "activity" }, "bad"])
  if (now.waiting.length) parts.push([`${now.waiting.map(workName).join(", ")} wait${now.waiting.length === 1 ? "s" : ""} for the machine`, { view: "work" }, ""])
  if (parts.length === 0) parts.push(["All files are indexed", { view: "search" }, ""])
  return parts
}

function showHome(now) {
  home.state = now
  const parts = homeParts(now), text = JSON.stringify(parts)
  find("to-snapshots").hidden = !now.backup
  find("to-conflicts").hidden = !now.sync
  const list = find("home")
  if (list.dataset.text === text) return
  // The focus stays where it is while the line changes.
  const focused = [...list.querySelectorAll("a")].indexOf(document.activeElement)
  list.dataset.text = text
  list.replaceChildren(...parts.map(([name, changes, kind]) => {
    const anchor = element("a", {}, name)
    link(anchor, { file: null, offset: 0, snap: null, at: "", before: null, ...changes })
    return element("li", kind ? { class: kind } : {}, anchor)
  }))
  list.hidden = false
  if (focused >= 0) list.querySelectorAll("a")[Math.min(focused, parts.length - 1)]?.focus()
}

async function pollHome() {
  try {
    const isFirst = home.state === null
    showHome(await ask2("home"))
    // What can be done with a file depends on it.
    if (isFirst && home.file && state().file) showTools(home.file)
  } catch { /* The state of the index says so. */ }
  setTimeout(pollHome, document.hidden ? 30000 : 5000)
}

// MARK: Views

const ownerViews = ["snapshots", "conflicts", "activity"]

/// Fills a view with what a question answers, or with the error.
async function fill(id, moves, make) {
  const place = find(id)
  if (!place.hasChildNodes()) place.replaceChildren(element("p", { class: "quiet" }, "Asking the service…"))
  try {
    const children = await make()
    if (place.hidden) return
    place.replaceChildren(...children)
  } catch (error) {
    place.replaceChildren(element("p", { class: "notice failed" }, error.message))
  }
  if (moves) place.focus({ preventScroll: true })
}

function showOwnerView(view, moves) {
  for (const name of ownerViews) find(name).hidden = name !== view
  if (view === "snapshots") fill("snapshots", moves, () => state().snap ? snapshotFolder() : snapshotList())
  if (view === "conflicts") fill("conflicts", moves, conflictList)
  if (view === "activity") fill("activity", moves, activityList)
}

/// A button whose answer appears beside it.
function actionButton(name, label, perform) {
  const button = element("button", { type: "button", "aria-label": label }, name), answer = element("span", { class: "answer", role: "status" })
  button.onclick = async () => {
    button.disabled = true
    answer.className = "answer"
    answer.textContent = "…"
    try { answer.textContent = await perform(text => { answer.textContent = text }) ?? "" } catch (error) {
      answer.className = "answer error"
      answer.textContent = error.message
    }
    button.disabled = false
  }
  return [button, answer]
}

function anchor(text, changes, attributes = {}) {
  const made = element("a", attributes, text)
  link(made, changes)
  return made
}

// MARK: Snapshots

/// A choice of the snapshot to compare with: those of the same folder, the one before first.
function compareChoice(snapshot, all, chosen) {
  const others = all.filter(other => other.folder === snapshot.folder && other.id !== snapshot.id)
  if (others.length === 0) return []
  const select = element("select", { "aria-label": `Compare the snapshot of ${localTime(snapshot.time)} with` })
  select.append(element("option", { value: "" }, "Compare with…"))
  for (const other of others) select.append(element("option", { value: other.id }, localTime(other.time)))
  select.value = chosen ?? ""
  select.onchange = () => {
    if (!select.value) return
    history.pushState(null, "", address({ snap: snapshot.id, before: select.value, at: "" }))
    show(true)
  }
  return [select]
}

async function snapshotList() {
  const answer = await ask2("snapshots"), all = answer.snapshots.toReversed()
  const items = all.map((snapshot, index) => {
    const before = all.slice(index + 1).find(other => other.folder === snapshot.folder)
    const facts = element("p", { class: "quiet" }, isolated(snapshot.folder), ` on `, isolated(snapshot.host), ` · ${count(snapshot.files, "file", "files")}, ${bytes(snapshot.bytes)}`
      + (snapshot.problems ? ` · ${count(snapshot.problems, "entry", "entries")} not saved` : ""))
    const row = element("div", { class: "row" }, anchor("Browse", { snap: snapshot.id, at: "" }, { class: "button" }))
    if (before) row.append(anchor("What changed", { snap: snapshot.id, before: before.id, at: "" }, { class: "button" }))
    row.append(...compareChoice(snapshot, all, null))
    return element("li", {}, element("h3", {}, localTime(snapshot.time)), facts, row)
  })
  return [
    element("h2", {}, "Snapshots"),
    ...answer.problems.map(problem => element("p", { class: "notice failed" }, isolated(problem))),
    items.length ? element("ol", { class: "list" }, ...items) : element("p", {}, "Nothing is saved yet."),
  ]
}

async function snapshotFolder() {
  const now = state(), { snapshots } = await ask2("snapshots")
  const snapshot = snapshots.find(other => other.id === now.snap), before = snapshots.find(other => other.id === now.before)
  if (!snapshot) throw new Error("This snapshot is gone. Go back to the list.")
  const heading = element("h2", {}, before ? `Changes from ${localTime(before.time)} to ${localTime(snapshot.time)}` : `Snapshot of ${localTime(snapshot.time)}`)
  const back = element("p", {}, anchor("All snapshots", { snap: null, before: null, at: "" }))
  if (before) {
    const answer = await ask2(`snapshots/changes?snapshot=${now.snap}&before=${now.before}`)
    const signs = { added: "new", removed: "gone", changed: "changed" }
    const other = element("div", { class: "row" }, ...compareChoice(snapshot, snapshots.toReversed(), before.id))
    return [back, heading, other, answer.changes.length === 0 ? element("p", {}, "Nothing changed.")
      : element("ol", { class: "list" }, ...answer.changes.map(change => element("li", {}, `${signs[change.kind]}: `, path(change.path + (change.is_folder ? "/" : "")),
        change.is_folder || change.kind === "removed" ? "" : ` · ${bytes(change.size)}`))),
    ...(answer.complete ? [] : [element("p", { class: "quiet" }, "There are more changes than are shown.")])]
  }
  const answer = await ask2(`snapshots/files?snapshot=${now.snap}&path=${now.at}`)
  const above = now.at.split("/").slice(0, -1).join("/")
  const place = element("p", {}, isolated(snapshot.folder + (answer.folder ? "/" + answer.folder : "")))
  if (now.at) place.append(" ", anchor("Up", { at: above }))
  const items = answer.entries.map(entry => {
    const row = element("div", { class: "row" })
    if (entry.kind === "directory") row.append(anchor(entry.name + "/", { at: entry.path }))
    else {
      row.append(path(entry.name))
      if (entry.kind === "regular") row.append(element("span", { class: "quiet" }, `${bytes(entry.size)} · ${localTime(entry.modified)}`),
        element("a", { class: "button", href: `snapshots/file?snapshot=${now.snap}&path=${entry.path}`, download: "" }, "Download"))
    }
    row.append(...restoreButton(now.snap, entry.path, entry.name))
    return element("li", {}, row)
  })
  return [back, heading, place, element("div", { class: "row" }, ...restoreButton(now.snap, now.at, "all of this folder", "Restore all of this folder"), ...compareChoice(snapshot, snapshots.toReversed(), null)),
    element("ol", { class: "list" }, ...items), ...(answer.complete ? [] : [element("p", { class: "quiet" }, "There are more entries than are shown. Restore the folder to have all.")])]
}

/// A restore goes to a new folder: nothing that is there is touched.
function restoreButton(snapshot, place, name, title = "Restore") {
  return actionButton(title, `Restore ${name}`, async tell => {
    const stamp = new Date().toISOString().slice(0, 19).replace(/[T:]/g, "-")
    const target = prompt(`Restore ${name} to a new folder of this name, below the folder for restores. Nothing that is there is overwritten.`, `restored ${stamp}`)
    if (target === null) return "Nothing was restored."
    const words = new URLSearchParams({ snapshot, target }), made = await ask2(`restore?${words}&path=${place}`, { method: "POST" })
    while (true) {
      const item = await ask2(`workloads/${made.id}`)
      if (item.state === "finished") return `Restored ${item.progress ? count(item.progress.completed, "file", "files") : ""} to ${target}.`
      if (["dead", "cancelled"].includes(item.state)) throw new Error(item.details?.last_error ?? item.details?.reason ?? "It was not restored.")
      tell(item.state === "running" ? `Restoring: ${item.progress ? count(item.progress.completed, "file", "files") : "it begins"}…` : `Waiting: ${item.details?.reason ?? ""}`)
      await new Promise(end => setTimeout(end, 500))
    }
  })
}

/// The earlier versions of a file of the service's folder.
async function versionList(name) {
  const answer = await ask2(`versions?path=${name}`)
  if (answer.versions.length === 0) return [element("p", { class: "quiet" }, "No snapshot has this file.")]
  return [element("ol", { class: "list" }, ...answer.versions.map(version => element("li", {}, element("div", { class: "row" },
    element("strong", {}, new Date(version.modified * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" })), element("span", { class: "quiet" }, `${bytes(version.size)} · saved ${ago(version.saved)}${version.snapshots > 1 ? `, in ${version.snapshots} snapshots` : ""}`),
    element("a", { class: "button", href: `snapshots/file?snapshot=${version.snapshot}&path=${version.path}`, download: "", "aria-label": `Download the version of ${localTime(version.modified)}` }, "Download"),
    ...restoreButton(version.snapshot, version.path, `the version of ${localTime(version.modified)}`))))),
  ...(answer.complete ? [] : [element("p", { class: "quiet" }, "Older snapshots were not looked into.")])]
}

// MARK: Conflicts

async function conflictList() {
  const answer = await ask2("conflicts")
  if (answer.conflicts.length === 0) return [element("h2", {}, "Conflicts"), element("p", {}, "No conflict is open.")]
  return [element("h2", {}, count(answer.conflicts.length, "conflict", "conflicts")), element("p", { class: "quiet" }, "Both sides changed these files. Both versions are there, in ", isolated(answer.folder), ". Choose one, or keep both."),
    element("ol", { class: "list" }, ...answer.conflicts.map(conflictItem))]
}

function conflictItem(conflict) {
  const item = element("li"), heading = element("h3"), versions = element("div")
  heading.append(path(conflict.original))
  const choose = (keep, name, question) => actionButton(name, `${name}: ${conflict.original}`, async () => {
    if (question && !confirm(question)) return "Nothing was changed."
    const answer = await ask2(`conflicts?path=${conflict.name}&keep=${keep}&seen=${conflict.seen}`, { method: "POST" })
    for (const button of item.querySelectorAll("button")) button.remove()
    return answer.done
  })
  const compare = actionButton("Compare", `Compare the versions of ${conflict.original}`, async () => {
    versions.replaceChildren(besides(await ask2(`conflicts/text?path=${conflict.name}`), conflict))
    return ""
  })
  const downloads = conflict.current ? [
    element("a", { class: "button", href: `files?path=${conflict.current}`, download: "", "aria-label": `Download this version of ${conflict.original}` }, "Download this one"),
    element("a", { class: "button", href: `files?path=${conflict.name}`, download: "", "aria-label": `Download the other version of ${conflict.original}` }, "Download the other"),
  ] : []
  item.append(heading, element("p", { class: "quiet" }, `The version of side ${conflict.side} of ${conflict.date} is `, path(conflict.copy)), element("div", { class: "row" }, ...compare,
    ...choose("current", "Keep this one", "The other version is removed on both sides. Only a snapshot has it then. Remove it?"),
    ...choose("copy", "Keep the other", "The other version takes the place of this one, on both sides. Only a snapshot has this one then. Replace it?"),
    ...choose("both", "Keep both"), ...downloads), versions)
  return item
}

/// Two texts side by side. What is between the same beginning and the same end is marked.
function besides(texts, conflict) {
  if (texts.current === undefined || texts.copy === undefined || texts.current === null || texts.copy === null) {
    return element("p", { class: "quiet" }, "One of the versions is no text, or is gone. Download both to compare them.")
  }
  const left = texts.current.split("\n"), right = texts.copy.split("\n")
  let same = 0, end = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same++
  while (end < left.length - same && end < right.length - same && left.at(-1 - end) === right.at(-1 - end)) end++
  const column = (name, lines) => {
    const text = element("pre", { tabindex: "0", role: "region", "aria-label": name })
    lines.forEach((line, index) => {
      const part = element("span", index >= same && index < lines.length - end ? { class: "differs" } : {})
      appendText(part, line + "\n")
      text.append(part)
    })
    return element("div", {}, element("h4", {}, name), text)
  }
  const both = element("div", { class: "beside" }, column("This one", left), column(`The other, of side ${conflict.side}`, right))
  return texts.is_cut ? element("div", {}, both, element("p", { class: "quiet" }, "Only the first part is shown.")) : both
}

// MARK: Activity

/// The last state of each item that runs, for its rate.
const paces = new Map()

/// What is being done now: with a rate from what this window has seen, and the time left where the end is known.
function nowItem(item, sizes) {
  const { progress } = item, at = Date.now() / 1000, facts = []
  const paused = item.details?.paused_because || item.is_deferred
  if (progress) {
    const known = progress.total ?? sizes.get(item.name)
    // A size from the last time is about right only.
    const total = progress.total || known > progress.completed ? known : undefined
    facts.push(total ? `${progress.completed.toLocaleString("en")} of ${progress.total ? "" : "about "}${count(total, progress.unit.replace(/s$/, ""), progress.unit)}`
      : count(progress.completed, progress.unit.replace(/s$/, ""), progress.unit))
    const seen = paces.get(item.id)
    if (paused || !seen || progress.completed < seen.completed) paces.set(item.id, { completed: progress.completed, at })
    else if (progress.completed > seen.completed && at - seen.at > 1.5) {
      const rate = (progress.completed - seen.completed) / (at - seen.at)
      facts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second`)
      if (total) facts.push(`${time((total - progress.completed) / rate)} left`)
    }
  }
  const reason = item.details?.reason
  if (paused && reason) facts.push(`waits: ${reason}`)
  const name = workName(item.name)
  const line = element("p", {}, element("strong", {}, name[0].toUpperCase() + name.slice(1)), facts.length ? `: ${facts.join(" · ")}` : "")
  const made = element("li", {}, line)
  const total = progress?.total
  if (total) made.append(element("progress", { max: total, value: progress.completed, "aria-label": `Progress of ${name}` }))
  if (item.attempts > 1) made.append(element("p", { class: "quiet" }, `attempt ${item.attempts} of ${item.maximum_attempts}`))
  if (item.details?.last_error) made.append(element("p", { class: "failed" }, "The attempt before failed: ", isolated(item.details.last_error)))
  return made
}

/// Fills the part of what is being done, again and again while it is seen.
async function followNow(place, sizes) {
  while (place.isConnected && !find("activity").hidden) {
    if (!document.hidden) {
      try {
        const { items } = await ask2("workloads?limit=100")
        const busy = items.filter(item => item.state === "running" || (item.details?.last_error && ["ready", "deferred", "scheduled"].includes(item.state) && item.attempts > 0))
        for (const id of paces.keys()) if (!busy.some(item => item.id === id)) paces.delete(id)
        place.replaceChildren(...(busy.length ? busy.map(item => nowItem(item, sizes)) : [element("li", { class: "quiet" }, "Nothing.")]))
      } catch (error) { place.replaceChildren(element("li", { class: "failed" }, error.message)) }
    }
    await new Promise(end => setTimeout(end, 2000))
  }
}

async function activityList() {
  const answer = await ask2("activity")
  // Backups have as many files as the last time, about.
  const sizes = new Map()
  if (home.state?.backup) try { sizes.set("backup", (await ask2("snapshots")).snapshots.at(-1)?.files) } catch { /* Without an estimate. */ }
  const doing = element("ul", { class: "list", id: "doing" }, element("li", { class: "quiet" }, "Asking the service…"))
  setTimeout(() => followNow(doing, sizes))
  const items = answer.entries.map(entry => {
    const item = element("li", {}, element("h3", {}, localTime(entry.time)), element("p", entry.has_failed ? { class: "failed" } : {}, entry.has_failed ? `${workName(entry.kind)} failed: ` : "", isolated(entry.text), ` (${time(entry.seconds)})`))
    const fold = (title, lines) => lines.length && item.append(element("details", { class: "plain" }, element("summary", {}, title), element("ul", {}, ...lines)))
    fold(count(entry.details.length, "note", "notes"), entry.details.map(text => element("li", {}, isolated(text))))
    const files = entry.files ?? []
    fold(files.length < 100 ? count(files.length, "file", "files") : "The first 100 files", files.map(file => element("li", {}, `${localTime(file.time)} ${file.what}: `, isolated(file.name))))
    return item
  })
  const section = (name, texts) => texts.length === 0 ? [] : [element("h3", {}, name), element("ul", { class: "suggestions" }, ...texts.map(text => element("li", {}, isolated(text))))]
  return [element("h2", {}, "What is being done"), doing, element("h2", {}, "What was done"), ...section("Not synced, as of the last sync", answer.skipped),
    ...section("Changes in these folders are found by looks only: raise fs.inotify.max_user_watches", answer.unwatched),
    items.length ? element("ol", { class: "list" }, ...items) : element("p", {}, "Nothing yet.")]
}
