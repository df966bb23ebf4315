"use strict"
// What every view needs. Content of files is set as text, never as markup.
const svgSpace = "http://www.w3.org/2000/svg"
const find = id => document.getElementById(id)

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(name, value)
  }
  made.append(...children)
  return made
}

function shape(tag, attributes = {}, text) {
  const made = document.createElementNS(svgSpace, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  if (text !== undefined) made.textContent = text
  return made
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text
}

/// Sets a text of the service: characters that deceive appear as their numbers.
function setSafe(target, text) {
  if (target.dataset.text === text) return
  target.dataset.text = text
  target.replaceChildren(isolated(text))
}

function time(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`
}

/// The script of the view of the workloads, once somebody has wanted to see it.
let live = null

/// Shows or hides the view of the workloads.
async function showWork(isShown) {
  find("work").hidden = !isShown
  if (!isShown && live === null) return
  live ??= new Promise((end, fail) => {
    const script = element("script", { src: "live.js" })
    script.onload = end
    script.onerror = fail
    document.head.append(script)
  })
  try {
    await live
    showLive(!find("work").hidden)
  } catch {
    live = null
    setText(find("work-note"), "This view could not be loaded. Is the service still running? Reload the page.")
    find("work-note").hidden = false
  }
}
