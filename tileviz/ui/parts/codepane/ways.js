// Ways through a text: search, instructions of a class, changes, linked lines.
function addWays(v) {
  const part = v.part
  Object.assign(v, { cls: null, isRegex: false, isFull: false, said: "" })

  /** Goes to the next of these rows (from 0, ascending), or the previous one, and around the end. Gives its place among them. */
  const along = (rows, back) => {
    if (!rows.length) return -1
    const at = v.here(), next = back ? rows.findLastIndex(row => row < at) : rows.findIndex(row => row > at)
    const place = next >= 0 ? next : back ? rows.length - 1 : 0
    v.jump(rows[place] + 1)
    return place
  }
  const ascending = rows => [...rows].sort((a, b) => a - b)

  const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  const patternOf = query => {
    try { return [query ? new RegExp(v.isRegex ? query : escaped(query), "gi") : null, ""] } catch (error) { return [null, error.message] }
  }
  v.find = step => {
    const [pattern, trouble] = patternOf(part("find").value)
    const has = line => { pattern.lastIndex = 0; const found = pattern.exec(line); return !!found && found[0] !== "" }
    v.pattern = pattern
    v.matches = pattern ? v.lines.flatMap((l, i) => (has(l) ? [i] : [])) : []
    const n = v.matches.length
    v.match = n ? (step === 0 ? 0 : (v.match + step + n) % n) : -1
    part("count").textContent = trouble ? "no valid pattern" : pattern ? `${v.match + 1} of ${n}` : ""
    part("count").title = trouble
    part("count").classList.toggle("bad", !!trouble)
    part("find").setAttribute("aria-invalid", !!trouble)
    n ? v.jump(v.matches[v.match] + 1) : v.paint()
  }

  /** The next instruction of the chosen class, or of any. */
  v.nextHit = back => {
    const rows = ascending([...v.hits.keys()].filter(i => v.cls === null || v.hits.get(i).some(h => h[2] === v.cls)))
    const place = along(rows, back)
    if (place < 0) return
    const cls = v.classes[v.cls ?? v.hits.get(rows[place])[0][2]], where = `line ${(place + 1).toLocaleString("en")} of ${rows.length.toLocaleString("en")}`
    v.say(v.cls === null ? `${where} of all classes, ${cls.title}: ${cls.help}` : `${cls.title}, ${where}: ${cls.help}`)
  }
  v.chooseClass = cls => {
    v.cls = cls
    for (const chip of part("legend").children) {
      chip.classList.toggle("chosen", +chip.dataset.cls === cls)
      chip.setAttribute("aria-pressed", +chip.dataset.cls === cls)
    }
    if (cls === null) v.say("")
  }

  /** The next stretch of changed rows. */
  v.nextChange = back => {
    const starts = ascending(v.marks.keys()).filter(row => !v.marks.has(row - 1)), place = along(starts, back)
    if (place >= 0) v.say(`Change ${(place + 1).toLocaleString("en")} of ${starts.length.toLocaleString("en")}`)
  }

  v.nextLit = back => along(ascending(v.lit), back)

  v.say = words => {
    v.said = words
    const keys = [v.hits.size && "n next instruction", v.marks.size && "d next change", v.isFull ? "Esc leave" : "f full screen", "? keys"]
    part("foot").textContent = words || keys.filter(Boolean).join(" \u00b7 ")
    part("foot").title = words
  }

  v.legend = () => {
    const counts = v.classes.map(() => 0)
    for (const found of v.hits.values()) for (const h of found) counts[h[2]]++
    const chips = v.classes.flatMap((cls, i) => {
      if (!counts[i]) return []
      const chip = document.createElement("button"), count = document.createElement("b")
      chip.type = "button"
      chip.className = "hot c-" + cls.name
      chip.dataset.cls = i
      chip.title = `${cls.help} Click: next; Shift+click: previous.`
      chip.textContent = cls.title
      count.textContent = counts[i].toLocaleString("en")
      chip.append(count)
      chip.onclick = e => { v.chooseClass(i); v.nextHit(e.shiftKey) }
      return [chip]
    })
    part("legend").replaceChildren(...chips)
    v.chooseClass(null)
  }
}
