"use strict"
// Content of files is set as text, never as markup.
const pageSize = 20, fileLines = 200
let request = null, timer = 0, patience = 0, fresh = true

/// The state in the address: the view of the workloads, or a search, its page, and a file of it.
function state() {
  const now = new URLSearchParams(location.search)
  const number = (name, least) => Math.max(least, Number.parseInt(now.get(name) ?? least, 10) || least)
  return {
    q: now.get("q") ?? "", syntax: now.get("syntax") === "fts" ? "fts" : "words",
    sort: now.get("sort") === "modified" ? "modified" : "relevance",
    view: ["work", ...ownerViews].includes(now.get("view")) ? now.get("view") : "search",
    snap: now.get("snap"), before: now.get("before"), at: now.get("at") ?? "", offset: number("offset", 0), file: now.get("file"), line: number("line", 1), from: number("from", 1),
  }
}

function address(changes) {
  const now = { ...state(), ...changes }, words = new URLSearchParams()
  if (now.view !== "search") words.set("view", now.view)
  if (now.view === "snapshots") for (const name of ["snap", "before", "at"]) if (now[name]) words.set(name, now[name])
  if (now.q) words.set("q", now.q)
  if (now.syntax !== "words") words.set("syntax", now.syntax)
  if (now.sort !== "relevance") words.set("sort", now.sort)
  if (now.offset) words.set("offset", now.offset)
  if (now.file) {
    words.set("file", now.file)
    words.set("line", now.line)
    words.set("from", now.from)
  }
  const text = words.toString()
  return text ? "?" + text : location.pathname
}

/// Appends text. Characters that are invisible or turn the direction of writing appear as their numbers.
function appendText(element, text) {
  const strange = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/
  for (const part of text.split(strange)) {
    if (part === "") continue
    if (!strange.test(part)) { element.append(part); continue }
    const shown = document.createElement("span")
    shown.className = "strange"
    shown.textContent = "U+" + part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")
    element.append(shown)
  }
}

/// Makes text whose direction of writing does not affect its surroundings.
function isolated(text) {
  const element = document.createElement("bdi")
  appendText(element, text)
  return element
}

/// A path, always from the left to the right.
function path(text) {
  const element = isolated(text)
  element.dir = "ltr"
  return element
}

/// Matches are between two rare brackets. The service replaces these brackets in texts of files.
function marked(text) {
  const all = document.createElement("bdi")
  for (const part of text.split(/(⟦[^⟧]*⟧)/)) {
    if (part.startsWith("⟦")) {
      const mark = document.createElement("mark")
      appendText(mark, part.slice(1, -1))
      all.append(mark)
    } else appendText(all, part)
  }
  return all
}

const snippet = text => element("p", {}, marked(text))

/// What can be done with the opened file: nil while it is asked for.
function showTools(answer) {
  const now = state(), tools = find("file-tools"), versions = find("versions")
  home.file = answer
  tools.replaceChildren()
  versions.hidden = !answer || !home.state?.backup || !home.state.may_act
  if (versions.dataset.file !== now.file) {
    versions.dataset.file = now.file
    versions.open = false
    find("versions-list").replaceChildren()
  }
  versions.ontoggle = async () => {
    if (!versions.open) return
    find("versions-list").replaceChildren(element("p", { class: "quiet" }, "Looking into the snapshots…"))
    try { find("versions-list").replaceChildren(...await versionList(now.file)) } catch (error) {
      find("versions-list").replaceChildren(element("p", { class: "failed" }, error.message))
    }
  }
  if (!answer) return
  if (home.state?.may_act ?? true) tools.append(element("a", { class: "button", href: `files?path=${now.file}`, download: "" }, "Download"))
  const folder = answer.path.split("/").slice(0, -1).join("/")
  tools.append(anchor("Show the folder", { q: folder ? `path:"${folder}/"` : "", file: null, offset: 0 }, { class: "button" }))
  const whole = home.state?.path ? `${home.state.path}/${answer.path}` : answer.path
  tools.append(copyButton(whole))
  if (answer.matches.length === 0) { tools.append(path(whole)); return }
  const before = answer.matches.filter(line => line < now.line).at(-1), after = answer.matches.find(line => line > now.line)
  const step = (name, line) => {
    const target = element("a", { class: "button", role: "link" }, name)
    if (line === undefined) target.setAttribute("aria-disabled", "true")
    else link(target, { line, from: Math.max(1, line - 20) })
    return target
  }
  tools.append(step("Previous match", before), step("Next match", after), element("span", { class: "quiet" }, count(answer.matches.length, "line with a match", "lines with matches")), path(whole))
}

function link(element, changes) {
  element.href = address(changes)
  element.onclick = event => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    history.pushState(null, "", address(changes))
    show(true)
  }
}

function copyButton(text) {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy path"
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = "Copied"
    } catch { button.textContent = "Not allowed" }
    setTimeout(() => { button.textContent = "Copy path" }, 1500)
  }
  return button
}

function hitItem(hit) {
  const item = document.createElement("li"), heading = document.createElement("h3"), open = document.createElement("a")
  open.append(path(hit.display), `:${hit.line}`)
  link(open, { file: hit.name, line: hit.line, from: Math.max(1, hit.line - 20) })
  heading.append(open, copyButton(hit.path))
  item.append(heading)
  if (hit.snippet) item.append(snippet(hit.snippet))
  item.append(element("p", { class: "facts quiet" }, `${localTime(hit.modified)} · ${bytes(hit.size)}`))
  return item
}

function count(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`
}

function showAnswer(answer) {
  const now = state(), some = answer.hits.length
  showSuggestions(answer.suggestions)
  find("hits").replaceChildren(...answer.hits.map(hitItem))
  const total = (answer.total_exact ? "" : "more than ") + count(answer.total, "file", "files")
  const range = some < answer.total ? `${answer.offset + 1}–${answer.offset + some} of ${total}` : total
  say((answer.total === 0 ? "No file" : some === 0 ? `Nothing more; ${total}` : range)
    + (answer.ranked && answer.total > 1 ? ", best first" : "")
    + `, in ${answer.took_ms.toFixed(1)} ms`
    + (answer.complete ? "" : answer.pending
      ? `. Not complete: ${count(answer.pending, "file is", "files are")} still to be read`
      : ". Perhaps not complete, see above"))
  const pages = find("pages")
  pages.hidden = answer.offset === 0 && some >= answer.total
  find("previous").hidden = answer.offset === 0
  find("next").hidden = some === 0 || answer.offset + some >= answer.total
  link(find("previous"), { offset: Math.max(0, now.offset - pageSize) })
  link(find("next"), { offset: now.offset + pageSize })
  find("page").textContent = `Page ${Math.floor(answer.offset / pageSize) + 1}`
}

/// Shows queries that have hits, as links.
function showSuggestions(list) {
  const reasons = { any: "files with one of the words: ", "without-filters": "without the filters: " }
  find("suggestions").hidden = list.length === 0
  find("suggestions").replaceChildren(...list.map(suggestion => element("li", {}, "There are " + (reasons[suggestion.kind] ?? "files with: "), anchor(suggestion.query, { q: suggestion.query, offset: 0 }))))
}

function say(text, isError = false) {
  find("summary").className = isError ? "error" : ""
  find("summary").textContent = text
}

/// Shows a sentence in place of hits.
function showOnly(text, isError = false) {
  find("hits").replaceChildren()
  find("pages").hidden = true
  showSuggestions([])
  say(text, isError)
}

const hints = {
  words: 'All words must occur in a file. The last one may be the beginning of a word. "Two words" is a phrase, -word excludes, OR joins alternatives; path:, ext:md and modified:2026-01 choose files, also alone.',
  fts: 'A query in the language of FTS5: one AND two, one OR two, one NOT two, "a phrase", begin*, path:name.',
}

/// Asks the service. The result is undefined if a later question has overtaken this one.
async function ask(resource, parameters) {
  request?.abort()
  const own = request = new AbortController()
  try {
    const response = await fetch(resource + "?" + (typeof parameters === "string" ? parameters : new URLSearchParams(parameters)),
      { signal: AbortSignal.any([own.signal, AbortSignal.timeout(patienceOfRequests)]) })
    const answer = await response.json()
    if (own !== request) return undefined
    if (!response.ok) throw new Error(answer.error.message)
    return answer
  } catch (error) {
    if (own !== request || error.name === "AbortError") return undefined
    if (error.name === "TimeoutError") throw new Error("The service took too long to answer. Try again.")
    throw error instanceof TypeError ? new Error("The service does not answer. Is it still running?") : error
  }
}

async function search() {
  const now = state()
  if (now.q.trim() === "") {
    request?.abort()
    waits(false)
    showOnly(hints[now.syntax])
    return
  }
  // Most answers come before a user could read a change of the words.
  clearTimeout(patience)
  patience = setTimeout(() => waits(true), 300)
  try {
    const answer = await ask("search", { q: now.q, syntax: now.syntax, sort: now.sort, limit: pageSize, offset: now.offset })
    if (!answer) return
    waits(false)
    showAnswer(answer)
  } catch (error) {
    waits(false)
    showOnly(error.message, true)
  }
}

/// Marks the hits as those of an earlier question, or removes the mark.
function waits(isWaiting) {
  clearTimeout(patience)
  find("hits").classList.toggle("old", isWaiting)
  if (isWaiting) say("Searching…")
}

async function openFile(moves) {
  const now = state(), lines = find("lines")
  link(find("back"), { file: null })
  try {
    showTools(null)
    // The name is encoded already: it may have bytes that are no text.
    const words = new URLSearchParams({ from: now.from, count: fileLines, syntax: now.syntax })
    if (now.q) words.set("q", now.q)
    const answer = await ask("file", `path=${now.file}&${words}`)
    if (!answer) return
    find("file-heading").replaceChildren(path(answer.display))
    showTools(answer)
    const last = answer.first + answer.lines.length - 1
    const hasText = answer.lines.some(text => text !== "")
    find("file-note").textContent = !hasText ? "This file has no text that could be indexed." : `Lines ${answer.first}–${last} of ${answer.line_count}, as they were indexed`
      + (answer.truncated ? "; the file goes on behind what was indexed" : "")
    lines.replaceChildren(...answer.lines.map((text, index) => {
      const item = document.createElement("li"), number = document.createElement("span"), content = document.createElement("span")
      number.textContent = String(answer.first + index)
      content.append(answer.matches.length ? marked(text) : isolated(text))
      item.append(number, content)
      if (answer.first + index === now.line) item.setAttribute("aria-current", "true")
      return item
    }))
    find("earlier").hidden = answer.first === 1
    find("later").hidden = last >= answer.line_count
    link(find("earlier"), { from: Math.max(1, now.from - fileLines) })
    link(find("later"), { from: now.from + fileLines })
    lines.querySelector("[aria-current]")?.scrollIntoView({ block: "center" })
    if (moves) find("file").focus({ preventScroll: true })
  } catch (error) {
    lines.replaceChildren()
    find("file-heading").textContent = "No text"
    find("file-note").textContent = error.message
  }
}

const viewNames = { search: "Search", snapshots: "Snapshots", conflicts: "Conflicts", activity: "Activity", work: "Details" }

/// Shows the state in the address. `moves` is whether the focus goes there.
async function show(moves) {
  const now = state()
  if (find("query").value.trim() !== now.q.trim()) find("query").value = now.q
  find("syntax").value = now.syntax
  find("sort").value = now.sort
  const isWork = now.view === "work", isSearch = now.view === "search"
  document.querySelector("form").hidden = !isSearch
  find("index").hidden = !isSearch
  find("results").hidden = !isSearch || now.file !== null
  find("file").hidden = !isSearch || now.file === null
  for (const [view, title] of Object.entries(viewNames)) {
    link(find(`to-${view}`), { view, snap: null, before: null, at: "" })
    if (now.view === view) {
      find(`to-${view}`).setAttribute("aria-current", "page")
      find("view").textContent = title
    } else find(`to-${view}`).removeAttribute("aria-current")
  }
  find("skip").href = isSearch ? "#results" : `#${now.view}`
  find("skip").textContent = isSearch ? "Skip to the results" : "Skip to the content"
  document.title = isSearch && now.q ? `${now.q} – Search` : viewNames[now.view]
  showWork(isWork)
  showOwnerView(now.view, moves)
  if (!isSearch) {
    request?.abort()
    if (moves && isWork) find("work").focus({ preventScroll: true })
    return
  }
  if (now.file !== null) return openFile(moves)
  await search()
  if (moves) {
    find("results").focus({ preventScroll: true })
    scrollTo(0, 0)
  }
}

/// Copies the form's values into the address. Continuous typing is one step of the history.
function take(isNewStep) {
  const changes = { q: find("query").value.trim(), syntax: find("syntax").value, sort: find("sort").value, offset: 0, file: null }
  const now = state()
  if (now.q === changes.q && now.syntax === changes.syntax && now.sort === changes.sort && now.file === null && now.offset === 0) {
    if (isNewStep) fresh = true
    return show(false)
  }
  if (fresh || now.file !== null || now.offset !== 0) history.pushState(null, "", address(changes))
  else history.replaceState(null, "", address(changes))
  fresh = isNewStep
  return show(false)
}

function showProblems(now) {
  const number = now.failed + now.truncated + now.unreadable
  find("problems").hidden = number === 0
  const parts = []
  if (now.failed) parts.push(count(now.failed, "file could not be read", "files could not be read"))
  if (now.truncated) parts.push(count(now.truncated, "file is indexed in part", "files are indexed in part"))
  if (now.unreadable) parts.push(count(now.unreadable, "entry could not be looked at", "entries could not be looked at"))
  const summary = parts.join(", ")
  if (find("problems-summary").textContent === summary && find("problems-list").childElementCount > 0) return
  find("problems-summary").textContent = summary
  const lines = now.problems.map(problem => {
    const item = document.createElement("li")
    item.append(path(problem.path), ": ", isolated(problem.detail || problem.reason))
    return item
  })
  for (const example of now.last_pass?.unreadable_examples ?? []) {
    const item = document.createElement("li")
    item.append(isolated(example))
    lines.push(item)
  }
  find("problems-list").replaceChildren(...lines)
}

function showStatus(now) {
  const names = {
    idle: "Ready", scanning: "Scanning", sweeping: "Removing what is gone", indexing: "Indexing",
    merging: "Tidying", paused: "Paused", stopped: "Stopped",
  }
  const parts = [names[now.state] ?? now.state]
  parts.push(now.pending
    ? `${now.indexed.toLocaleString("en")} of ${count(now.files, "file", "files")} indexed`
    : `${count(now.indexed, "file", "files")} indexed`)
  if (now.pending) parts.push(`${now.pending.toLocaleString("en")} to read`, `${Math.round(now.rate)} files/s`)
  if (now.skipped) parts.push(`${now.skipped.toLocaleString("en")} skipped`)
  parts.push(`${(now.database_bytes / 1e6).toFixed(1)} MB`)
  find("status").textContent = parts.join(" · ")
  find("status").className = ""
  find("folder").replaceChildren("in ", isolated(now.folder))
  const bar = find("progress")
  bar.hidden = now.pending === 0
  bar.max = now.files || 1
  bar.value = now.files - now.pending
  const slow = now.limit && now.state !== "paused" && now.pending ? `Indexing is limited: ${now.limit}.` : ""
  const notice = [now.reason, slow, now.notice].filter(Boolean).join(" ")
  find("notice").hidden = notice === ""
  find("notice").textContent = notice
  showProblems(now)
}

function showStatusError(text) {
  find("status").textContent = text
  find("status").className = "error"
  find("progress").hidden = true
}

async function poll() {
  try {
    const response = await fetch("status", { signal: AbortSignal.timeout(patienceOfRequests) }), now = await response.json()
    if (response.ok) showStatus(now)
    else showStatusError(now.error.message)
  } catch { showStatusError("The service does not answer. Is it still running?") }
  setTimeout(poll, document.hidden ? 5000 : 1000)
}

document.querySelector("form").addEventListener("submit", event => {
  event.preventDefault()
  clearTimeout(timer)
  take(true)
})
find("query").addEventListener("input", () => {
  clearTimeout(timer)
  timer = setTimeout(() => take(false), 80)
})
find("query").addEventListener("blur", () => { fresh = true })
find("syntax").addEventListener("change", () => take(true))
find("sort").addEventListener("change", () => take(true))
addEventListener("popstate", () => {
  fresh = true
  show(false)
})
show(false)
poll()
pollHome()
