// The rows of a text and what is marked on them. Only the visible rows are in the document, so 50,000 lines cost what 50 do.
// Everything that comes from outside is written as text, never as HTML.
const MARGIN = 20
const TEXTS = new Map() // sha -> {lines, hits, ...}: kept while the browser page lives
const MOST_TEXTS = 24
const MARKS = ["", "removed", "added", "changed", "filler"]

function remember(sha, data) {
  const { text, spans } = data
  const hits = new Map() // line index -> [[start, end, class index]]
  for (const [line, start, end, cls] of spans) {
    if (!hits.has(line - 1)) hits.set(line - 1, [])
    hits.get(line - 1).push([start, end, cls])
  }
  const lines = text.split("\n")
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop()
  const marks = new Map(), keysOf = new Map(), rowsOf = new Map()
  for (let i = 0; i < data.marks.length; i += 2) marks.set(data.marks[i] - 1, MARKS[data.marks[i + 1]])
  for (let i = 0; i < data.links.length; i += 2) {
    const [row, key] = [data.links[i] - 1, data.links[i + 1]]
    keysOf.set(row, [...(keysOf.get(row) || []), key])
    if (!rowsOf.has(key)) rowsOf.set(key, [])
    rowsOf.get(key).push(row)
  }
  const numbers = data.numbers.length ? data.numbers : null
  const rowOf = numbers ? new Map(numbers.map((n, i) => [n, i])) : null
  TEXTS.set(sha, { lines, hits, marks, keysOf, rowsOf, numbers, rowOf, longest: lines.reduce((most, l) => Math.max(most, l.length), 0) })
  while (TEXTS.size > MOST_TEXTS) TEXTS.delete(TEXTS.keys().next().value)
}

function makeView(root) {
  const part = name => root.querySelector("." + name)
  const v = { root, part, row: 20, first: 0, lines: [], hits: new Map(), longest: 0, classes: [], at: 0, matches: [], match: -1, tokens: () => [], lit: new Set(), marks: new Map(), keysOf: new Map(), rowsOf: new Map() }
  const body = part("body"), rows = part("rows")

  const span = (text, names, title) => {
    if (!names.length) return document.createTextNode(text)
    const el = document.createElement("span")
    el.className = names.join(" ")
    if (title) el.title = title
    el.textContent = text
    return el
  }

  const drawLine = (el, i) => {
    const text = v.lines[i], look = new Array(text.length).fill(null), whole = [], found = new Uint8Array(text.length)
    for (const [a, b, name] of v.tokens(text)) for (let k = a; k < b; k++) look[k] = name
    for (const [a, b, c] of v.hits.get(i) || []) for (let k = a; k < Math.min(b, text.length); k++) [look[k], whole[k]] = [c, text.slice(a, b)]
    if (v.pattern) for (const m of text.matchAll(v.pattern)) found.fill(1, m.index, m.index + m[0].length)
    for (let a = 0; a < text.length;) {
      let b = a + 1
      while (b < text.length && look[b] === look[a] && found[b] === found[a]) b++
      const cls = typeof look[a] === "number" ? v.classes[look[a]] : null
      const names = cls ? ["hot", "c-" + cls.name] : look[a] ? [look[a]] : []
      if (found[a]) names.push("found")
      const tip = cls && ((v.tips || {})[whole[a]] || `${cls.title}: ${cls.help}`)
      el.append(span(text.slice(a, b), names, tip))
      a = b
    }
  }

  const newRow = i => {
    const el = document.createElement("div"), number = document.createElement("i")
    el.dataset.n = i + 1
    el.id = `row-${i + 1}`
    el.setAttribute("role", "option")
    number.textContent = v.numberOf(i)
    el.append(number)
    drawLine(el, i)
    return el
  }

  // A row that stays in view keeps its element: when the element under a pressed button goes, the browser sends no click.
  let drawn = new Map(), drawnFor = ""
  v.paint = () => {
    const first = Math.max(0, Math.floor(body.scrollTop / v.row) - MARGIN)
    const last = Math.min(v.lines.length, first + Math.ceil(body.clientHeight / v.row) + 2 * MARGIN)
    const content = `${v.sha} ${v.pattern || ""}`, kept = content === drawnFor ? drawn : new Map()
    drawn = new Map()
    drawnFor = content
    for (let i = first; i < last; i++) {
      const el = kept.get(i) || newRow(i)
      el.className = ["row", i + 1 === v.at && "at", v.lit.has(i) && "lit", v.marks.has(i) && "m-" + v.marks.get(i)].filter(Boolean).join(" ")
      el.setAttribute("aria-selected", i + 1 === v.at)
      drawn.set(i, el)
    }
    const wanted = new Set(drawn.values())
    for (const el of [...rows.children]) if (!wanted.has(el)) el.remove()
    let next = rows.firstChild
    for (const el of wanted) {
      if (el === next) next = next.nextSibling
      else rows.insertBefore(el, next)
    }
    rows.style.transform = `translateY(${first * v.row}px)`
    drawn.has(v.at - 1) ? body.setAttribute("aria-activedescendant", `row-${v.at}`) : body.removeAttribute("aria-activedescendant")
    v.atInSight = inSight(v.at - 1)
    v.first = body.scrollTop / v.row
  }

  // Lines are counted in rows inside the pane; a text with numbers of its own shows and reports those.
  v.numberOf = i => (v.numbers ? v.numbers[i] || "" : i + 1)
  v.rowAt = number => (v.rowOf ? (v.rowOf.get(number) ?? -1) + 1 : number)
  v.goto = number => { const row = v.rowAt(number); if (row > 0) v.jump(row) }

  const onScreen = () => Math.max(1, Math.floor(body.clientHeight / v.row))
  const topRow = () => Math.ceil(body.scrollTop / v.row)
  const inSight = i => i >= topRow() && i < topRow() + onScreen()
  /** The row, from 0, that a search for the next thing starts from. */
  v.here = () => (v.at ? v.at - 1 : topRow() - 1)

  v.jump = line => {
    if (!v.lines.length) return
    v.at = Math.min(Math.max(1, line), v.lines.length)
    body.scrollTop = Math.max(0, (v.at - 1) * v.row - body.clientHeight / 2)
    v.paint()
  }

  /** Moves the marked line by so many, and scrolls no more than that needs. */
  v.move = by => {
    const from = v.at && (v.atInSight || Math.abs(by) > 1) ? v.at : topRow() + 1 - Math.sign(by)
    v.at = Math.min(Math.max(1, from + by), v.lines.length)
    const top = (v.at - 1) * v.row
    body.scrollTop = Math.max(Math.min(body.scrollTop, top), top + v.row - onScreen() * v.row)
    v.paint()
  }
  v.page = () => onScreen() - 1

  /** Text and rows in the size that the reader chose; what was at the top, and the marked line, stay in sight. */
  v.sized = size => {
    const first = v.first, kept = v.atInSight // as last painted: another room may have scrolled it already
    v.row = Math.round(size * 1.5)
    root.style.setProperty("--size", size + "px")
    root.style.setProperty("--row", v.row + "px")
    part("pad").style.height = v.lines.length * v.row + "px"
    body.scrollTop = first * v.row
    if (kept && !inSight(v.at - 1)) body.scrollTop = Math.max(0, (v.at - 1) * v.row - body.clientHeight / 2)
    v.paint()
  }

  v.light = (keys, scroll) => {
    v.lit = new Set()
    for (const key of keys) for (const row of v.rowsOf.get(key) || []) v.lit.add(row)
    const hot = [...v.lit].filter(row => v.hits.has(row)), weight = row => Math.min(...v.hits.get(row).map(h => h[2]))
    const best = Math.min(...hot.map(weight)) // classes come in the order of interest
    const first = Math.min(...(hot.length ? hot.filter(row => weight(row) === best) : v.lit))
    if (scroll && v.lit.size && !inSight(first)) body.scrollTop = Math.max(0, first * v.row - body.clientHeight / 3)
    v.paint()
    v.map()
    part("linked").textContent = v.lit.size ? `${v.lit.size.toLocaleString("en")} linked` : ""
    part("linked").hidden = !v.lit.size
  }

  v.map = () => {
    const canvas = part("map"), height = canvas.clientHeight
    if (!height) return
    canvas.width = 12
    canvas.height = height
    const draw = canvas.getContext("2d"), hues = v.classes.map(cls => {
      const chip = part("legend").querySelector(".c-" + cls.name)
      return chip ? getComputedStyle(chip).getPropertyValue("--hue").trim() : ""
    })
    const tick = Math.max(2, Math.min(4, height / Math.max(1, v.lines.length)))
    for (const [line, found] of v.hits) {
      draw.fillStyle = hues[found[0][2]] || "#888"
      draw.fillRect(2, (line / Math.max(1, v.lines.length)) * (height - tick), 8, tick)
    }
    const style = getComputedStyle(root), at = row => (row / Math.max(1, v.lines.length)) * (height - tick)
    const tints = { removed: style.getPropertyValue("--st-red-color"), added: style.getPropertyValue("--st-green-color"), changed: style.getPropertyValue("--st-orange-color") }
    for (const [row, mark] of v.marks) if (tints[mark]) { draw.fillStyle = tints[mark]; draw.fillRect(0, at(row), 3, tick) }
    draw.fillStyle = style.getPropertyValue("--st-primary-color")
    for (const row of v.lit) draw.fillRect(4, at(row), 8, Math.max(tick, 3))
    canvas.onclick = e => v.jump(Math.floor((e.offsetY / height) * v.lines.length) + 1)
  }

  let waiting = false
  body.addEventListener("scroll", () => {
    if (v.together) for (const other of v.together()) if (Math.abs(other.part("body").scrollTop - body.scrollTop) > 1) other.part("body").scrollTop = body.scrollTop
    if (waiting) return
    waiting = true
    requestAnimationFrame(() => { waiting = false; v.paint() })
  }, { passive: true })
  new ResizeObserver(() => { v.paint(); v.map() }).observe(body)
  return v
}
