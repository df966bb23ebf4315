"use strict"
// The view of the workloads, loaded when somebody wants to see it. Texts of the service are set as text, never as markup.
// Elements stay from one state to the next, so the focus and a reader's place stay, too.
const steps = 150
const classes = ["userInteractive", "userInitiated", "default", "utility", "background"]
const actionNames = { run: "Run now", pause: "Pause", resume: "Resume", promote: "Promote", cancel: "Cancel" }
/// `more` has items that the live view lacks, by their numbers; `chosen` the numbers of the selected ones.
const work = { more: new Map(), next: null, asked: 0, chosen: new Set(), source: null, isLeader: false, isShown: false, rows: new Map(), state: null, lost: 0 }

const latency = value => value < 1 ? `${value.toFixed(2)} ms` : value < 100 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`
const title = item => `${item.name} #${item.id}`

// MARK: The stream

/// Shows the view, and follows the workloads while it is seen.
function showLive(isShown) {
  work.isShown = isShown
  follow()
}

function follow() {
  const wanted = work.isShown && !document.hidden
  if (wanted === (work.source !== null)) return
  if (!wanted) {
    work.source.close()
    work.source = null
    return
  }
  // One window has the stream, and tells the others: a browser has few connections for one service.
  if (!navigator.locks) return openStream(() => {})
  const release = new AbortController()
  work.source = { close: () => release.abort() }
  channel.postMessage({ wants: true })
  navigator.locks.request("qos-service events", { signal: release.signal }, () => new Promise(end => {
    if (!work.isShown || document.hidden) return end()
    openStream(end)
  })).catch(() => { /* It is not needed any more. */ })
}

const channel = new BroadcastChannel("qos-service events")
channel.onmessage = ({ data }) => {
  // A window that has just begun to look gets the state that is there.
  if (data.wants) { if (work.isLeader && work.state) channel.postMessage({ state: work.state }) }
  else if (work.isLeader || !work.isShown) return
  else if (data.state) { tell(""); showState(data.state) }
  else if (data.trouble !== undefined) tell(data.trouble)
}

/// Puts the changes of a state into the state.
function changed(state, changes) {
  const next = { ...state, requests: { ...state.requests } }
  for (const [key, value] of Object.entries(changes.values)) {
    if (key === "now") next.requests.now = value
    else next[key] = value
  }
  const names = { items: item => String(item.id), points: point => String(point.step), runs: run => `${run.item} ${run.begin}`, conditions: condition => condition.label }
  for (const [key, list] of Object.entries(changes.lists)) {
    const holder = key === "points" ? next.requests : next
    const known = new Map((holder[key] ?? []).map(entry => [names[key](entry), entry]))
    for (const [name, entry] of Object.entries(list.set)) known.set(name, entry)
    holder[key] = (list.order ?? [...known.keys()]).map(name => known.get(name)).filter(entry => entry !== undefined)
  }
  return next
}

/// Opens the stream. `end` gives the right to it to another window.
function openStream(end) {
  const source = new EventSource("events?changes=true")
  work.isLeader = true
  work.source = {
    close: () => {
      source.close()
      work.isLeader = false
      end()
    },
  }
  const show = state => {
    work.lost = 0
    tell("")
    channel.postMessage({ state })
    showState(state)
  }
  source.onmessage = message => {
    const state = JSON.parse(message.data)
    for (const item of state.items) item.received = Date.now()
    show(state)
  }
  source.addEventListener("changes", message => {
    if (!work.state) return
    const changes = JSON.parse(message.data)
    for (const item of Object.values(changes.lists.items?.set ?? {})) item.received = Date.now()
    show(changed(work.state, changes))
  })
  source.addEventListener("trouble", message => {
    channel.postMessage({ trouble: message.data })
    tell(message.data)
  })
  const own = work.source
  source.onerror = async () => {
    channel.postMessage({ trouble: "The live view has lost the service, and tries again." })
    tell("The live view has lost the service, and tries again.")
    if (source.readyState !== EventSource.CLOSED) return
    // Refused: the answer says why.
    own.close()
    if (work.source === own) work.source = null
    try {
      const response = await fetch("workloads", { signal: AbortSignal.timeout(patienceOfRequests) })
      if (!response.ok) tell((await response.json()).error.message)
    } catch { /* It does not answer at all. */ }
    work.lost = Math.min(work.lost + 1, 5)
    setTimeout(follow, 1000 * 2 ** work.lost)
  }
}

function tell(text) {
  setText(find("work-note"), text)
  find("work-note").hidden = text === ""
}

document.addEventListener("visibilitychange", follow)
find("item-filter").addEventListener("input", () => wantItems(300))
find("item-state").addEventListener("change", () => wantItems(0))
find("more").onclick = () => askItems(false)

// MARK: The state

function showState(state) {
  work.state = state
  const count = test => state.items.filter(test).length
  const parts = [
    [count(item => item.state === "running" && !item.is_deferred), "running"], [count(item => item.state === "ready"), "waiting"],
    [count(item => item.is_deferred), "deferred"], [count(item => item.state === "blocked"), "blocked"],
    [count(item => item.state === "scheduled"), "scheduled"], [count(item => item.state === "dead"), "dead"],
  ].filter(part => part[0] > 0).map(part => part.join(" "))
  const last = state.requests.points.at(-1)
  setText(find("work-summary"), (parts.join(", ") || "nothing to do")
    + (last ? ` · p50 ${latency(last.p50)}, p99 ${latency(last.p99)}` : " · no requests yet")
    + (state.complete ? "" : " · more items than are shown")
    + (state.may_act ? "" : " · read only: changes need the token"))
  showChart(state)
  showLanes(state.lanes)
  showItems(state)
  showGraph(state)
  showConditions(state)
}

/// Keeps as many rows in a table as there are values, and fills each.
function fillRows(table, values, labels, fill) {
  const body = table.tBodies[0]
  while (body.rows.length > values.length) body.lastElementChild.remove()
  while (body.rows.length < values.length) {
    const row = element("tr")
    labels.forEach((label, index) => row.append(element(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : { "data-label": label })))
    body.append(row)
  }
  values.forEach((value, index) => fill(body.rows[index], [...body.rows[index].cells], value))
}

function showLanes(lanes) {
  fillRows(find("lanes"), lanes, ["class", "running", "waiting", "deferred", "blocked", "scheduled", "oldest wait"], (row, cells, lane) => {
    const numbers = [lane.running, lane.ready, lane.deferred, lane.blocked, lane.scheduled]
    row.className = numbers.some(number => number > 0) ? "" : "empty"
    setText(cells[0], lane.class)
    cells[0].className = "class-" + lane.class
    numbers.forEach((number, index) => {
      setText(cells[index + 1], String(number))
      cells[index + 1].className = number > 0 ? ["is-running", "is-ready", "is-deferred", "", ""][index] : "zero"
    })
    setText(cells[6], lane.oldest_wait === null || lane.oldest_wait === undefined ? "–" : time(lane.oldest_wait))
  })
}

function showConditions(state) {
  find("conditions-section").hidden = !state.conditions
  if (!state.conditions) return
  const waiting = label => state.items.filter(item => item.obstacles.includes(label)).map(title)
  const order = condition => condition.is_nominal ? (condition.is_known ? 1 : 2) : 0
  const sorted = [...state.conditions].sort((left, right) => order(left) - order(right))
  fillRows(find("conditions"), sorted, ["condition", "state", "reason", "rises", "falls"], (row, cells, condition) => {
    const items = waiting(condition.label)
    row.className = condition.is_nominal ? (condition.is_known ? "" : "unknown") : "raised"
    setText(cells[0], condition.label)
    setText(cells[1], condition.is_known || !condition.is_nominal ? condition.state : "not known")
    setSafe(cells[2], condition.reason + (items.length ? ` – defers ${items.join(", ")}` : ""))
    setText(cells[3], condition.rises)
    setText(cells[4], condition.falls)
  })
}

// MARK: The chart

function showChart(state) {
  const { points, now, step } = state.requests
  const names = [...new Set(state.runs.map(run => run.name))].sort().slice(0, 6)
  // As wide as its place, so that the texts have their size on a phone, too.
  const wide = Math.max(280, Math.min(860, find("chart").clientWidth)), left = 50, right = 8, top = 8, tall = 170, ribbon = 16
  const height = top + tall + 6 + Math.max(1, names.length) * ribbon + 20
  const x = at => left + (wide - left - right) * Math.min(1, Math.max(0, (at - now + steps) / steps))
  const most = Math.max(10, ...points.map(point => point.p99)), least = 0.1
  const decades = Math.ceil(Math.log10(most / least))
  const y = value => top + tall - tall * Math.log10(Math.max(value, least) / least) / decades
  const minutes = steps * step / 60
  const last = points.at(-1)
  const svg = shape("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label":
    `Latency of requests in the last ${minutes} minutes. ` + (last ? `Last: median ${latency(last.p50)}, 99th percentile ${latency(last.p99)}. ` : "No requests. ")
    + (names.length ? `Workloads that ran: ${names.join(", ")}.` : "No workload ran.") })
  for (const run of state.runs) {
    const from = x(run.begin), to = Math.max(x(run.end ?? now), from + 1)
    svg.append(shape("rect", { class: `band class-${run.class}`, x: from, y: top, width: to - from, height: tall }))
  }
  for (let decade = 0; decade <= decades; decade++) {
    const value = least * 10 ** decade
    svg.append(shape("line", { class: "grid", x1: left, x2: wide - right, y1: y(value), y2: y(value) }))
    svg.append(shape("text", { x: left - 5, y: y(value) + 4, class: "axis end" }, value >= 1000 ? `${value / 1000} s` : `${Number(value.toPrecision(1))} ms`))
  }
  names.forEach((name, row) => {
    const line = top + tall + 6 + row * ribbon
    for (const run of state.runs.filter(run => run.name === name)) {
      const from = x(run.begin), to = Math.max(x(run.end ?? now), from + 2)
      const part = shape("rect", { class: `ribbon class-${run.class}`, x: from, y: line + 2, width: to - from, height: ribbon - 5, rx: 2 })
      part.append(shape("title", {}, `${run.name} #${run.item} at ${run.class}`))
      svg.append(part)
    }
    svg.append(shape("text", { x: left + 3, y: line + ribbon - 5, class: "axis name" }, name))
  })
  for (const [key, kind] of [["p99", "p99"], ["p50", "p50"]]) {
    let path = "", before = null
    for (const point of points) {
      path += `${before !== null && point.step - before <= 2 ? "L" : "M"}${x(point.step + 1).toFixed(1)} ${y(point[key]).toFixed(1)}`
      before = point.step
      svg.append(shape("circle", { class: kind, cx: x(point.step + 1).toFixed(1), cy: y(point[key]).toFixed(1), r: 1.8 }))
    }
    svg.append(shape("path", { class: kind, d: path || "M0 0" }))
  }
  for (let minute = 0; minute <= minutes; minute++) {
    if (wide < 500 && minute % 2 === 0 && minute > 0) continue
    const anchor = minute === 0 ? "end" : minute === minutes ? "" : "middle"
    svg.append(shape("text", { x: x(now - minute * 60 / step), y: height - 4, class: `axis ${anchor}` }, minute === 0 ? "now" : `−${minute} min`))
  }
  find("chart").replaceChildren(svg)
  const legend = [["p99", "p99"], ["p50", "p50"], ...classes.filter(name => state.runs.some(run => run.class === name)).map(name => [`class-${name}`, `a workload ran at ${name}`])]
  const text = legend.map(entry => entry[1]).join()
  if (find("legend").dataset.text !== text) {
    find("legend").dataset.text = text
    find("legend").replaceChildren(...legend.map(([kind, name]) => element("li", {}, element("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), name)))
  }
  fillRows(find("figures"), points.slice(-10).reverse(), ["before", "requests", "p50", "p99"], (row, cells, point) => {
    const texts = [time(Math.max(0, (now - point.step - 1) * step)), String(point.count), latency(point.p50), latency(point.p99)]
    cells.forEach((cell, index) => setText(cell, texts[index]))
  })
}

// MARK: Items

function showItems(state) {
  for (const item of state.items) work.more.delete(item.id)
  const items = [...state.items, ...work.more.values()], seen = new Set(items.map(item => item.id))
  for (const [id, row] of work.rows) {
    if (seen.has(id)) continue
    row.element.remove()
    work.rows.delete(id)
    work.chosen.delete(id)
  }
  queueMicrotask(filterItems)
  let before = null
  for (const item of items) {
    if (!work.rows.has(item.id)) work.rows.set(item.id, makeRow(item))
    const row = work.rows.get(item.id)
    fillRow(row, item, state.may_act)
    const place = before === null ? find("items").firstElementChild : before.nextElementSibling
    if (place !== row.element) find("items").insertBefore(row.element, place)
    before = row.element
  }
}

function makeRow(item) {
  const part = (tag, name) => element(tag, { class: name })
  const row = {
    id: item.id, item, box: element("input", { type: "checkbox", "aria-label": `Select ${title(item)}` }), badge: part("span", "badge"), level: part("span", "level"), reason: part("p", "reason"), facts: part("p", "quiet"),
    error: part("p", "notice"), progress: element("progress", { "aria-label": `Progress of ${title(item)}` }), conditions: part("ul", "unmet"),
    buttons: part("div", "buttons"), details: element("details", { class: "plain" }, element("summary", {}, "Details")), texts: part("dl", ""), actions: "",
    // The status of the view speaks; this one is for the eyes.
    answer: element("p", { class: "answer", "aria-hidden": "true" }),
  }
  const name = element("span")
  name.append(isolated(item.name), ` #${item.id}`)
  const heading = element("h3", {}, row.box, name, " ", row.badge, " ", row.level)
  row.box.onchange = () => {
    if (row.box.checked) work.chosen.add(row.id)
    else work.chosen.delete(row.id)
    showChosen("")
  }
  if (item.label) heading.append(element("span", { class: "quiet" }, isolated(item.label)))
  row.details.append(row.texts)
  row.details.ontoggle = () => { if (row.details.open) showDetails(row) }
  row.element = element("li", { id: `item-${item.id}` }, heading, row.reason, row.progress, row.conditions, row.facts, row.error, row.buttons, row.answer, row.details)
  return row
}

/// The rate of a running item, and the time left, from what this window has seen of it.
function pace(row, item) {
  const { completed, total } = item.progress, now = Date.now() / 1000
  if (item.state !== "running" || item.is_deferred || (row.seen && completed < row.seen.completed)) row.seen = null
  if (item.state !== "running") return ""
  row.seen ??= { completed, at: now }
  const done = completed - row.seen.completed, past = now - row.seen.at
  if (done <= 0 || past < 2) return ""
  const rate = done / past
  return `, ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second` + (total > completed ? `, ${time((total - completed) / rate)} left` : "")
}

/// Hides the items that lack the wanted text or state.
function filterItems() {
  const wanted = find("item-filter").value.trim().toLowerCase(), wantedState = find("item-state").value
  let shown = 0
  for (const row of work.rows.values()) {
    const state = row.item.is_deferred ? "deferred" : row.item.state
    // The number may be written with its sign, as it is shown.
    const text = row.element.querySelector("h3").textContent.toLowerCase() + row.reason.textContent.toLowerCase()
    row.element.hidden = (wanted !== "" && !text.includes(wanted)) || (wantedState !== "" && state !== wantedState)
    if (row.element.hidden && work.chosen.delete(row.id)) row.box.checked = false
    if (!row.element.hidden) shown++
  }
  find("no-items").hidden = shown > 0
  find("no-items").textContent = wanted || wantedState ? "No such items." : "No items."
  const mayBeMore = work.asked ? work.next !== null : work.state !== null && !work.state.complete
  find("more-items").hidden = !mayBeMore
  showChosen(null)
}

/// Looks for the wanted items, a moment after the last key.
function wantItems(delay) {
  filterItems()
  clearTimeout(work.timer)
  work.timer = setTimeout(() => {
    // What the live view has is all there is of the open items.
    const isOpen = ["", "running", "ready", "deferred", "blocked", "scheduled"].includes(find("item-state").value)
    work.more.clear()
    work.asked = 0
    work.next = null
    if (work.state?.complete && isOpen) showItems(work.state)
    else if (find("item-filter").value.trim() !== "" || find("item-state").value !== "") askItems(true)
    else if (work.state) showItems(work.state)
  }, delay)
}

/// Asks for items that the live view lacks.
async function askItems(isNew) {
  const answer = find("more-items").querySelector(".answer"), words = new URLSearchParams({ limit: 100 })
  const text = find("item-filter").value.trim(), state = find("item-state").value, turn = ++work.asked
  if (text) words.set("find", text)
  if (state) words.set("state", state)
  const open = work.state.items.filter(item => !["dead", "finished", "cancelled"].includes(item.state))
  const after = isNew ? null : work.next ?? (text || state ? null : open.at(-1)?.id)
  if (after) words.set("after", after)
  find("more-items").hidden = false
  setText(answer, "Asking the service…")
  try {
    const got = await ask2(`items?${words}`)
    if (turn !== work.asked) return
    for (const item of got.items) work.more.set(item.id, { ...item, received: Date.now() })
    work.next = got.next ?? null
    setText(answer, "")
    showItems(work.state)
  } catch (error) { setText(answer, error.message) }
}

// MARK: Several items

/// Shows what can be done with the selected items, and how that went. Nil leaves the last answer.
function showChosen(text) {
  const bar = find("chosen"), rows = [...work.chosen].map(id => work.rows.get(id)).filter(Boolean)
  const shown = [...work.rows.values()].filter(row => !row.element.hidden)
  bar.hidden = shown.length < 2 || !work.state?.may_act
  if (bar.hidden || bar.dataset.busy) return
  const actions = ["run", "pause", "resume", "promote", "cancel"].filter(action => rows.some(row => row.item.actions.includes(action)))
  const name = `${rows.length}/${shown.length} ${actions}`
  if (bar.dataset.name !== name) {
    bar.dataset.name = name
    const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.act : null
    const allName = rows.length === shown.length ? "Select none" : `Select all ${shown.length}`
    const all = element("button", { type: "button", "data-act": "all", "aria-label": `${allName} of the shown items` }, allName)
    all.onclick = () => {
      const isAll = rows.length === shown.length
      for (const row of shown) {
        row.box.checked = !isAll
        if (isAll) work.chosen.delete(row.id)
        else work.chosen.add(row.id)
      }
      showChosen("")
    }
    const buttons = actions.map(action => {
      const button = element("button", { type: "button", "data-act": action, "aria-label": `${actionNames[action]}: the selected items` }, actionNames[action])
      button.onclick = () => actOnChosen(action)
      return button
    })
    const count = element("span", { class: "quiet" }, rows.length ? `${rows.length} selected:` : "")
    bar.replaceChildren(all, count, ...buttons, element("span", { class: "answer", role: "status" }, bar.querySelector(".answer")?.textContent ?? ""))
    if (focused) bar.querySelector(`[data-act="${focused}"]`)?.focus()
  }
  if (text !== null) setText(bar.querySelector(".answer"), text)
}

/// Does an action with each selected item for which it makes sense, one after the other.
async function actOnChosen(action) {
  const rows = [...work.chosen].map(id => work.rows.get(id)).filter(row => row?.item.actions.includes(action))
  if (action === "cancel" && !confirm(`Cancel ${rows.length === 1 ? "this item" : `these ${rows.length} items`}? This cannot be undone.`)) return
  const bar = find("chosen"), names = new Set()
  let done = 0
  const refused = []
  bar.dataset.busy = "yes"
  for (const row of rows) {
    // A pause is one for all items of a workload.
    if (["pause", "resume"].includes(action)) {
      if (names.has(row.item.name)) { done++; continue }
      names.add(row.item.name)
    }
    setText(bar.querySelector(".answer"), `${done + refused.length} of ${rows.length}…`)
    try {
      const item = await ask2(`workloads/${row.id}/${action}?`, { method: "POST" })
      if (work.more.has(row.id)) work.more.set(row.id, item)
      done++
    } catch (error) { refused.push(`${title(row.item)}: ${error.message}`) }
  }
  delete bar.dataset.busy
  bar.dataset.name = ""
  if (work.state) showItems(work.state)
  showChosen(`${actionNames[action]}: ${done} done` + (refused.length ? `, ${refused.length} not. ${refused[0]}` : "."))
}

const stateNames = { ready: "waiting", running: "running" }

function fillRow(row, item, mayAct) {
  row.item = item
  row.box.hidden = !mayAct
  const state = item.details?.paused_because || (item.state === "running" && item.is_deferred) ? "paused" : stateNames[item.state] ?? item.state
  setText(row.badge, state)
  row.badge.className = `badge is-${item.is_deferred ? "deferred" : item.state}`
  row.element.className = `state-${item.is_deferred ? "deferred" : item.state}`
  setText(row.level, item.is_promoted ? `${item.requested_level} → ${item.level}` : item.level)
  row.level.className = `level class-${item.level.split("-")[0]}${item.is_promoted ? " promoted" : ""}`
  if (item.is_promoted) row.level.title = "promoted"
  // The time is among the facts, as the time of this place.
  const reason = item.due && item.details?.reason.startsWith("due at ") ? "" : item.details?.reason ?? ""
  setSafe(row.reason, reason)
  row.reason.hidden = reason === ""
  const progress = item.progress
  row.progress.hidden = !progress?.total || item.state === "finished"
  if (progress?.total) {
    row.progress.max = progress.total
    row.progress.value = progress.completed
  }
  const facts = []
  if (progress) facts.push((progress.total ? `${progress.completed} of ${progress.total} ${progress.unit}` : `${progress.completed} ${progress.unit}`) + pace(row, item))
  if (item.waiting !== undefined && item.waiting !== null && item.state !== "scheduled") facts.push(`waits for ${time(item.waiting + (Date.now() - (item.received ?? Date.now())) / 1000)}`)
  if (item.due) facts.push(item.due * 1000 > Date.now() ? `due in ${time(item.due - Date.now() / 1000)}, ${localTime(item.due)}` : "due now")
  facts.push(item.schedule)
  if (item.attempts) facts.push(`attempt ${item.attempts} of ${item.maximum_attempts}`)
  if (item.has_checkpoint) facts.push("has a checkpoint")
  if (item.finished_runs) facts.push(count(item.finished_runs, "run finished", "runs finished"))
  if (item.failed_runs) facts.push(count(item.failed_runs, "run failed", "runs failed"))
  setSafe(row.facts, facts.join(" · "))
  const error = item.details?.last_error
  setSafe(row.error, error ? `Last error: ${error}` : "")
  row.error.hidden = !error
  const unmet = (item.details?.conditions ?? []).filter(condition => !condition.is_met)
  const text = JSON.stringify(unmet)
  if (row.conditions.dataset.text !== text) {
    row.conditions.dataset.text = text
    row.conditions.replaceChildren(...unmet.map(condition => element("li", {}, `needs ${condition.text}: `, isolated(condition.reason ?? ""))))
  }
  row.conditions.hidden = unmet.length === 0
  showActions(row, item, mayAct)
}

function showActions(row, item, mayAct) {
  row.buttons.hidden = !mayAct || item.actions.length === 0
  const actions = mayAct ? item.actions.join() : ""
  if (row.actions === actions) return
  const focused = row.buttons.contains(document.activeElement) ? document.activeElement.dataset.action : null
  row.actions = actions
  const made = []
  for (const action of item.actions) {
    if (action === "raise") {
      const select = element("select", { "aria-label": `Level for ${title(item)}`, "data-action": "level" })
      for (const name of classes) select.append(element("option", { value: name }, name))
      select.value = "utility"
      const button = element("button", { type: "button", "data-action": "raise", "aria-label": `Raise ${title(item)}` }, "Raise to")
      button.onclick = () => act(item, "raise", { level: select.value })
      made.push(element("span", { class: "raise" }, button, select))
    } else {
      const button = element("button", { type: "button", "data-action": action, "aria-label": `${actionNames[action]} ${title(item)}` }, actionNames[action])
      button.onclick = () => action === "cancel" ? confirmCancel(item, button) : act(item, action)
      made.push(button)
    }
  }
  row.buttons.replaceChildren(...made)
  if (focused) (row.buttons.querySelector(`[data-action="${focused}"]`) ?? row.buttons.querySelector("button"))?.focus()
}

/// A cancellation cannot be taken back, so it takes two presses. The second one of a double click is none.
function confirmCancel(item, button) {
  if (button.dataset.sure === "yes") return act(item, "cancel")
  if (button.dataset.sure) return
  button.dataset.sure = "soon"
  setTimeout(() => { if (button.dataset.sure) button.dataset.sure = "yes" }, 600)
  button.textContent = "Really cancel?"
  button.setAttribute("aria-label", `Really cancel ${title(item)}?`)
  setTimeout(() => {
    delete button.dataset.sure
    button.textContent = actionNames.cancel
    button.setAttribute("aria-label", `Cancel ${title(item)}`)
  }, 4000)
}

async function act(item, action, parameters = {}) {
  const answer = find("work-answer"), beside = work.rows.get(item.id)?.answer
  const tell = (text, kind) => {
    answer.className = kind
    setText(answer, text)
    if (beside) {
      beside.className = `answer ${kind}`
      setText(beside, text)
    }
  }
  try {
    await ask2(`workloads/${item.id}/${action}?` + new URLSearchParams(parameters), { method: "POST" })
    tell(`${title(item)}: ${(actionNames[action] ?? "Raise").toLowerCase()} is done.`, "")
  } catch (error) { tell(error.message, "error") }
}

async function showDetails(row) {
  try {
    const item = await ask2(`workloads/${row.id}`)
    const texts = [
      ["Schedule", item.schedule], ["In this state since", new Date(item.since * 1000).toLocaleString()],
      ["Parameters", item.parameters], ["Checkpoint", item.checkpoint], ["Unique key", item.details?.unique_key],
      ["Conditions", item.details?.conditions.map(condition => `${condition.text}: ${condition.is_met ? "holds" : condition.reason}`).join("\n")],
      ["Host", item.details?.host], ["Paused because", item.details?.paused_because],
    ].filter(text => text[1])
    row.texts.replaceChildren(...texts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, isolated(text))]))
  } catch (error) { row.texts.replaceChildren(element("dd", {}, error.message)) }
}

// MARK: Dependencies

function showGraph(state) {
  const items = new Map(state.items.map(item => [item.id, item]))
  const edges = state.edges.filter(edge => items.has(edge.from) && items.has(edge.to)).slice(0, 60)
  const text = JSON.stringify([edges, edges.map(edge => [items.get(edge.from), items.get(edge.to)].map(item => [item.state, item.is_deferred, item.level]))])
  const graph = find("graph")
  if (graph.dataset.text === text) return
  graph.dataset.text = text
  if (edges.length === 0) {
    graph.replaceChildren(element("p", { class: "quiet" }, "No item waits for another one."))
    find("edges").replaceChildren()
    return
  }
  // The column of an item is the longest way to it.
  const column = new Map()
  const depth = id => {
    if (column.has(id)) return column.get(id)
    column.set(id, 0)
    column.set(id, Math.max(0, ...edges.filter(edge => edge.from === id).map(edge => depth(edge.to) + 1)))
    return column.get(id)
  }
  const nodes = [...new Set(edges.flatMap(edge => [edge.to, edge.from]))].sort((left, right) => left - right)
  nodes.forEach(depth)
  const wide = 170, tall = 46, gapX = 70, gapY = 16, rows = new Map(), place = new Map()
  for (const id of nodes) {
    const row = rows.get(column.get(id)) ?? 0
    rows.set(column.get(id), row + 1)
    place.set(id, { x: column.get(id) * (wide + gapX) + 4, y: row * (tall + gapY) + 4 })
  }
  const width = (Math.max(...column.values()) + 1) * (wide + gapX) - gapX + 8, height = Math.max(...rows.values()) * (tall + gapY) + 4
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Items and what they wait for; the list below says the same" })
  for (const edge of edges) {
    const from = place.get(edge.to), to = place.get(edge.from)
    const x1 = from.x + wide, y1 = from.y + tall / 2, x2 = to.x, y2 = to.y + tall / 2, middle = (x1 + x2) / 2
    const kind = edge.is_promoted ? "edge promoted" : "edge"
    svg.append(shape("path", { class: kind, d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 - 7} ${y2}` }))
    svg.append(shape("path", { class: `${kind} tip`, d: `M${x2 - 8} ${y2 - 4.5}L${x2} ${y2}L${x2 - 8} ${y2 + 4.5}Z` }))
    if (edge.is_promoted) svg.append(shape("text", { class: "axis middle promoted", x: middle, y: (y1 + y2) / 2 - 7 }, "promoted"))
  }
  for (const id of nodes) {
    const item = items.get(id), { x, y } = place.get(id), name = title(item)
    svg.append(shape("rect", { class: `node state-${item.is_deferred ? "deferred" : item.state}`, x, y, width: wide, height: tall, rx: 6 }))
    svg.append(shape("text", { class: "node-name", x: x + 10, y: y + 19 }, name.length > 22 ? name.slice(0, 21) + "…" : name))
    svg.append(shape("text", { class: "axis", x: x + 10, y: y + 36 }, `${item.is_deferred ? "deferred" : stateNames[item.state] ?? item.state} · ${item.level}`))
  }
  graph.replaceChildren(svg)
  find("edges").replaceChildren(...edges.map(edge => element("li", edge.is_promoted ? { class: "promoted" } : {},
    isolated(`${title(items.get(edge.from))} waits for ${title(items.get(edge.to))}` + (edge.is_promoted ? `, which it has promoted to ${items.get(edge.to).level}` : "")))))
}
