// Fills the window with an element or with a group side by side; sizes of text, keys and a line of help. __init__.py tells how to use it.
// The first component of a page makes it, all others find it.
const FULL = (window.tilevizFull ??= (() => {
  const SIZES = { page: { least: 12, most: 24, start: 13, step: 1 }, full: { least: 16, most: 24, start: 18, step: 2 } }
  const LEAST_SHARE = 15 // percent of the window for one of two
  const views = new Set()
  let shown = [] // what fills the window now, in the order of the document
  let current = null // what keys act on
  let help = null

  // What the browser remembers; it may be forbidden to.
  const recall = (name, otherwise) => { try { return JSON.parse(localStorage.getItem("tileviz." + name)) ?? otherwise } catch { return otherwise } }
  const keep = (name, value) => { try { localStorage.setItem("tileviz." + name, JSON.stringify(value)) } catch { /* it lasts as long as the page */ } }

  const between = (least, value, most) => Math.min(most, Math.max(least, value))
  const mode = () => (shown.length ? "full" : "page")
  const size = () => { const s = SIZES[mode()]; return between(s.least, Number(recall(`size.${mode()}`, s.start)) || s.start, s.most) }
  const resize = by => {
    const s = SIZES[mode()]
    keep(`size.${mode()}`, between(s.least, size() + by * s.step, s.most))
    tellSize()
  }
  const tellSize = () => { for (const view of living()) view.sized() }

  const living = () => {
    for (const view of views) if (!view.el.isConnected) views.delete(view)
    const before = (a, b) => (hostOf(a).compareDocumentPosition(hostOf(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1)
    return [...views].sort(before)
  }
  const hostOf = view => view.el.getRootNode().host || view.el
  const groupOf = view => (view.group() ? living().filter(other => other.group() === view.group()) : [view])

  const lift = el => { el.popover = "manual"; el.showPopover?.() }
  const put = (view, left, width, bottom) => {
    if (!view.el.classList.contains("full-on")) {
      view.before = view.el.getAttribute("style") || ""
      view.room = view.el.parentElement
      view.room.style.minHeight = view.el.offsetHeight + "px" // so that the page under it stays where it is
      view.el.classList.add("full-on")
      lift(view.el)
    }
    Object.assign(view.el.style, { left: left + "vw", width: width + "vw", height: `calc(100vh - ${bottom}px)` })
    view.el.classList.toggle("full-current", view === current && shown.length > 1)
  }
  const take = view => {
    if (!view.el.classList.contains("full-on")) return
    view.el.classList.remove("full-on", "full-current")
    view.el.removeAttribute("popover")
    view.el.setAttribute("style", view.before)
    view.room.style.minHeight = ""
    view.el.querySelector(".full-split")?.remove()
  }

  const place = () => {
    shown = shown.filter(view => view.el.isConnected)
    const bottom = help && shown.length ? help.offsetHeight : 0
    const first = shown.length === 2 ? shareOf("share.full") : 100 / shown.length
    shown.forEach((view, at) => put(view, at * first, at && shown.length === 2 ? 100 - first : first, bottom))
    for (const view of views) if (!shown.includes(view)) take(view)
    for (const view of shown) view.el.querySelector(".full-split")?.remove()
    if (shown.length === 2) shown[0].el.append(splitter("share.full", () => [0, window.innerWidth], place))
    for (const view of living()) view.el.querySelector(".full-open")?.setAttribute("aria-pressed", shown.includes(view))
  }
  let under = [] // [element, how far it was scrolled] of the page: a Tab may scroll what lies under full screen
  const scrolled = view => { const found = []; for (let at = hostOf(view); at; at = at.parentElement) found.push([at, at.scrollTop]); return found }
  const show = wanted => {
    if (!shown.length && wanted.length) under = scrolled(current)
    shown = wanted
    place()
    if (!shown.length) for (const [el, top] of under) el.scrollTop = top
    tellSize()
    if (help) tell(current, true)
    current?.focus()
  }
  const open = view => { current = view; show(groupOf(view)) }
  const close = () => show([])
  const toggle = view => (shown.includes(view) ? close() : open(view))

  // A bar at the right edge of the left one of two; `span()` is where both stand: [left, width] in pixels.
  const shareOf = name => between(LEAST_SHARE, Number(recall(name, 50)) || 50, 100 - LEAST_SHARE)
  const splitter = (name, span, moved) => {
    const bar = document.createElement("div"), share = shareOf(name)
    bar.className = "full-split"
    bar.tabIndex = 0
    for (const [attribute, value] of [["role", "separator"], ["aria-orientation", "vertical"], ["aria-label", "Width of the left pane"], ["aria-valuenow", Math.round(share)]]) bar.setAttribute(attribute, value)
    bar.onpointerdown = e => {
      e.preventDefault()
      const [left, width] = span(), drag = m => { keep(name, ((m.clientX - left) / width) * 100); moved() }
      window.addEventListener("pointermove", drag)
      window.addEventListener("pointerup", () => window.removeEventListener("pointermove", drag), { once: true })
    }
    bar.onkeydown = e => {
      const by = { ArrowLeft: -5, ArrowRight: 5 }[e.key], at = bar.parentElement
      if (!by) return
      e.preventDefault()
      keep(name, share + by)
      moved()
      at.querySelector(".full-split")?.focus()
    }
    return bar
  }

  // A line of help at the foot of the window.
  const tell = (view, stays) => {
    help?.remove()
    help = help && !stays ? null : document.createElement("div")
    if (help && view) {
      help.className = "full-keys"
      help.setAttribute("role", "note")
      help.setAttribute("aria-label", "Keys")
      for (const [keys, words] of actions(view)) {
        const one = document.createElement("span"), key = document.createElement("kbd")
        key.textContent = keys
        one.append(key, words)
        help.append(one)
      }
      view.el.append(help)
      lift(help)
    }
    place()
  }

  const turn = at => {
    const members = groupOf(current), next = members[at]
    if (!next) return
    const alone = shown.length === 1 && members.length > 1
    current = next
    alone ? show([next]) : (place(), next.focus())
  }
  const actions = view => {
    const members = groupOf(view), full = shown.includes(view)
    return [
      ["f", full ? "leave full screen" : "full screen", () => toggle(view)],
      ...(full ? [["Escape", "leave", close]] : help ? [["Escape", "close this line", () => tell(view)]] : []),
      ...view.keys(),
      ["+ =", "larger", () => resize(1)],
      ["-", "smaller", () => resize(-1)],
      ...(members.length > 1 ? [["a", "left (A)", () => turn(0)], ["b", "right (B)", () => turn(1)]] : []),
      ...(members.length > 1 && full ? [["o", shown.length > 1 ? "this one only" : "both", () => show(shown.length > 1 ? [view] : members)]] : []),
      ["?", "keys", () => tell(view)],
    ]
  }

  const isField = el => el?.isContentEditable || el?.matches?.("input, textarea, select, [role=combobox], [role=listbox]:not([data-keys])")
  const inSight = view => { const box = view.el.getBoundingClientRect(); return box.height && box.bottom > 0 && box.top < window.innerHeight }
  const pointedAt = () => {
    const there = living().filter(inSight)
    return there.find(view => view.el.matches(":hover")) || (document.activeElement === document.body ? there[0] : null)
  }
  const dropGone = () => { // a page may take away what fills the window
    if (current && !current.el.isConnected) current = shown.find(view => view.el.isConnected) || null
    if (shown.some(view => !view.el.isConnected)) place()
  }
  const heldBy = e => living().find(view => e.composedPath().includes(view.el))
  let backward = false // which way Tab goes
  const around = () => {
    const next = shown[(shown.indexOf(current) + (backward ? shown.length - 1 : 1)) % shown.length]
    const stops = [...next.el.querySelectorAll("button, input, [tabindex='0']")].filter(stop => stop.offsetParent)
    stops.at(backward ? -1 : 0)?.focus()
  }
  const onKey = e => {
    dropGone()
    if (e.key === "Tab") backward = e.shiftKey
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const held = heldBy(e), from = e.composedPath()[0]
    if (held) current = held
    if (isField(from)) {
      if (held && e.key === "Escape") { e.preventDefault(); e.stopPropagation(); held.focus() }
      return
    }
    const view = held || (shown.length ? current : e.key === "f" ? pointedAt() : null)
    const act = view && actions(view).find(([keys, , does]) => does && keys.split(" ").includes(e.key))
    if (!act) return
    e.preventDefault()
    e.stopPropagation() // a page's own shortcuts
    act[2]()
  }
  window.addEventListener("keydown", onKey, true)
  document.addEventListener("focusin", e => {
    dropGone()
    const held = heldBy(e)
    if (held && held !== current) { current = held; if (shown.length) place(); if (help) tell(held, true) }
    if (shown.length && !(held && shown.includes(held))) around() // what lies under it is out of reach
  })
  window.addEventListener("resize", () => { if (shown.length) place() })
  window.addEventListener("storage", e => { if (e.key?.startsWith("tileviz.size.")) tellSize() })

  const button = (name, label, words, act) => {
    const el = document.createElement("button")
    el.type = "button"
    el.className = name
    el.append(label)
    el.title = words
    el.setAttribute("aria-label", words)
    el.onclick = act
    return el
  }
  const corners = () => { // drawn: few fonts have a sign for it
    const el = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path")
    for (const [name, value] of [["viewBox", "0 0 14 14"], ["width", 13], ["height", 13], ["aria-hidden", "true"]]) el.setAttribute(name, value)
    for (const [name, value] of [["d", "M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9"], ["fill", "none"], ["stroke", "currentColor"], ["stroke-width", "1.6"]]) path.setAttribute(name, value)
    el.append(path)
    return el
  }
  const tools = view => {
    const el = document.createElement("span")
    el.className = "full-tools"
    el.append(
      button("full-smaller", "A\u2212", "Smaller text (-)", () => resize(-1)),
      button("full-larger", "A+", "Larger text (+)", () => resize(1)),
      button("full-help", "?", "Keys (?)", () => tell(view)),
      button("full-open", corners(), "Full screen (f)", () => toggle(view)),
    )
    return el
  }
  const add = view => { views.add(view); return view }
  return { add, tools, open, close, toggle, size, recall, keep, place, shareOf, splitter, isFull: view => shown.includes(view) }
})())
