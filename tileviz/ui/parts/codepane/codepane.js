// A read-only code pane: what the page tells it, and what it tells the page.
const VIEWS = new WeakMap() // parentElement -> view
const GROUPS = new Map() // name -> {views, keys}: panes whose lines light each other up
const LEAST_HEIGHT = 180, MOST_HEIGHT = 4000

function join(name, v) {
  if (!GROUPS.has(name)) GROUPS.set(name, { views: new Set(), keys: [] })
  const group = GROUPS.get(name)
  for (const view of group.views) if (!view.root.isConnected) group.views.delete(view)
  group.views.add(v)
  return group
}

const others = (group, v) => [...(group ? group.views : [])].filter(view => view !== v && view.root.isConnected)

function light(group, v, keys) {
  group.keys = keys
  v.light(keys, false)
  v.litFor = keys
  for (const view of others(group, v)) { view.light(keys, true); view.litFor = keys }
}

/** Code begins at one height in all panes of a group, whatever stands over it. */
function level(group, v) {
  const all = [v, ...others(group, v)].filter(view => view.isFull === v.isFull), most = Math.max(...all.map(view => view.part("heads").offsetHeight))
  for (const view of all) view.part("head").style.minHeight = group ? most + "px" : ""
}

/** The height that the reader chose for panes of this name, else the page's; a pane alone is no higher than its text needs. */
function stand(v) {
  if (v.isFull) return
  const own = v.root.offsetHeight - v.part("body").offsetHeight
  const usual = v.isAlone ? Math.min(v.usual, Math.max(LEAST_HEIGHT, own + (v.lines.length + 1) * v.row)) : v.usual
  v.root.style.height = FULL.recall(`height.${v.place}`, 0) || usual + "px"
  v.part("grip").setAttribute("aria-valuenow", v.root.offsetHeight)
}

/** Two panes side by side on the page share its width as the reader chose: the columns that Streamlit put them in. */
function divide(v) {
  const edges = view => view.root.getBoundingClientRect()
  const pair = [v, ...others(v.group, v)].sort((a, b) => edges(a).left - edges(b).left)
  const columns = pair.map(view => view.root.getRootNode().host.closest('[data-testid="stColumn"]'))
  if (v.isFull || pair.length !== 2 || !columns[0] || Math.abs(edges(pair[0]).top - edges(pair[1]).top) > 1) return
  const name = `share.${v.groupName}`, share = FULL.shareOf(name)
  columns.forEach((column, at) => { column.style.flex = `${at ? 100 - share : share} 1 0` })
  const left = pair[0].root, bar = FULL.splitter(name, () => [edges(pair[0]).left, edges(pair[1]).right - edges(pair[0]).left], () => divide(v))
  left.querySelector(".full-split")?.remove()
  left.append(bar)
}

function resized(v) {
  v.isFull = FULL.isFull(v.full)
  v.sized(FULL.size())
  v.say(v.said)
  stand(v)
  level(v.group, v)
  divide(v)
}

function setHeight(v, px) {
  FULL.keep(`height.${v.place}`, px && `${Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, Math.round(px)))}px`)
  for (const view of [v, ...others(v.group, v)]) stand(view)
}

async function copy(text, root) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea") // plain http on a network has no clipboard API
  area.value = text
  root.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

function download(text, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

function firstTime(root) {
  const v = makeView(root)
  addWays(v)
  v.full = FULL.add({
    el: root,
    group: () => v.groupName,
    focus: () => v.part("body").focus({ preventScroll: true }),
    sized: () => resized(v),
    keys: () => keysOf(v),
  })
  v.part("bar").append(FULL.tools(v.full))
  new ResizeObserver(() => level(v.group, v)).observe(v.part("heads"))
  const grip = v.part("grip")
  grip.onpointerdown = e => {
    e.preventDefault()
    const from = e.clientY, height = root.offsetHeight, moved = m => setHeight(v, height + m.clientY - from)
    window.addEventListener("pointermove", moved)
    window.addEventListener("pointerup", () => window.removeEventListener("pointermove", moved), { once: true })
  }
  grip.ondblclick = () => setHeight(v, 0)
  grip.onkeydown = e => { const by = { ArrowUp: -40, ArrowDown: 40 }[e.key]; if (by) { e.preventDefault(); setHeight(v, root.offsetHeight + by) } }
  return v
}

/** The keys of a code pane, for FULL; those without an act are the body's own. */
function keysOf(v) {
  return [
    ...(v.hits.size ? [["n", "next instruction", () => v.nextHit(false)], ["p N", "previous", () => v.nextHit(true)]] : []),
    ...(v.cls !== null ? [["0", "all classes", () => v.chooseClass(null)]] : []),
    ...(v.marks.size ? [["d", "next change", () => v.nextChange(false)], ["D", "previous", () => v.nextChange(true)]] : []),
    ...(v.lit.size ? [["l", "next linked line", () => v.nextLit(false)], ["L", "previous", () => v.nextLit(true)]] : []),
    ...(v.step ? [["]", "next text", () => v.step(1)], ["[", "previous text", () => v.step(-1)]] : []),
    ["/", "search", () => { v.part("find").focus(); v.part("find").select() }],
    ["\u2191 \u2193 PageUp PageDown", "line, page", null],
    ...(v.choose && v.group ? [["Enter", "link the line", null]] : []),
  ]
}

const MOVES = { ArrowUp: () => -1, ArrowDown: () => 1, PageUp: v => -v.page(), PageDown: v => v.page(), Home: v => -v.lines.length, End: v => v.lines.length }

export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component
  const root = parentElement.querySelector(".pane")
  let v = VIEWS.get(parentElement)
  if (!v) VIEWS.set(parentElement, (v = firstTime(root)))
  if (data.text != null) remember(data.sha, data)
  const known = TEXTS.get(data.sha)
  Object.assign(v, { tips: data.tips, usual: data.height, place: data.group || data.place, groupName: data.group, isAlone: !data.group })
  if (data.linked && (known ? data.sha : "") !== data.have) setStateValue("have", known ? data.sha : "")
  if (!known) return

  const group = (v.group = data.group ? join(data.group, v) : null)
  v.together = data.together ? () => others(group, v) : null
  if (v.sha !== data.sha) {
    Object.assign(v, known, { sha: data.sha, classes: data.classes, tokens: tokenizer(data.language), at: 0, match: -1, asked: null, clicked: new Set(), lit: new Set(), litFor: null })
    v.part("pad").style.width = `calc(${v.longest + 10}ch)`
    v.part("name").textContent = data.title
    v.part("lines").textContent = `${(v.numbers ? v.numbers.filter(Boolean).length : v.lines.length).toLocaleString("en")} lines`
    v.part("note").textContent = data.note
    v.part("linked").hidden = true
    v.part("body").setAttribute("aria-label", data.title)
    v.legend()
    v.full.sized()
    const leader = v.together && others(group, v)[0]
    v.part("body").scrollTop = data.top || !leader ? Math.max(0, v.rowAt(data.top || 1) - 1) * v.row : leader.part("body").scrollTop
    v.part("find").value ? v.find(0) : v.paint()
  } else v.full.sized()
  FULL.place()
  requestAnimationFrame(v.map)
  if (data.line && data.line !== v.asked && !v.clicked.has(data.line)) { // the address tells a clicked line again, maybe after the next click
    v.asked = data.line
    v.goto(data.line)
    if (group && v.at) light(group, v, v.keysOf.get(v.at - 1) || [])
  } else if (group && group.keys.length && v.litFor !== group.keys) v.light(group.keys, true)
  v.litFor = group && group.keys

  root.classList.toggle("pick", data.linked)
  v.step = data.steps ? by => setTriggerValue("step", by) : null
  v.part("find").oninput = () => v.find(0)
  v.part("regex").onclick = e => {
    v.isRegex = !v.isRegex
    e.target.setAttribute("aria-pressed", v.isRegex)
    v.find(0)
  }
  v.part("next").onclick = () => v.find(1)
  v.part("prev").onclick = () => v.find(-1)
  v.part("goto").onchange = e => { const n = parseInt(e.target.value, 10); if (n) v.goto(n) }
  v.part("linked").onclick = e => v.nextLit(e.shiftKey)
  v.part("copy").onclick = async e => {
    await copy(v.lines.join("\n") + "\n", root)
    e.target.textContent = "Copied"
    setTimeout(() => { e.target.textContent = "Copy" }, 1500)
  }
  v.part("save").onclick = () => download(v.lines.join("\n") + "\n", data.file)
  v.choose = line => {
    v.at = line
    v.paint()
    if (group) light(group, v, v.keysOf.get(v.at - 1) || [])
    if (data.linked && v.numberOf(v.at - 1)) {
      v.clicked.add(v.numberOf(v.at - 1))
      setStateValue("click", { title: data.title, line: v.numberOf(v.at - 1), at_ms: Date.now() })
    }
  }
  root.onkeydown = e => {
    if (e.target.matches("input")) e.stopPropagation() // Streamlit takes letters for its own shortcuts
    if (e.target === v.part("find") && e.key === "Enter") { e.preventDefault(); v.find(e.shiftKey ? -1 : 1) }
    if ((e.ctrlKey || e.metaKey) && e.key === "f") { e.preventDefault(); v.part("find").focus(); v.part("find").select() }
    if (e.target.matches("input, [role=separator]") || e.ctrlKey || e.metaKey || e.altKey) return
    if (MOVES[e.key]) { e.preventDefault(); v.move(MOVES[e.key](v)) }
    if (e.key === "Enter" && v.at && e.target === v.part("body")) { e.preventDefault(); v.choose(v.at) }
  }
  v.part("rows").onclick = e => {
    const line = +(e.target.closest(".row")?.dataset.n || 0)
    if (line && !String(window.getSelection() || "")) v.choose(line) // a selection of text is no click
  }
}
