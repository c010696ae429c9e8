// Makes a chart of the page fill the window. In a chart of cells: the line of a cell, the ring, and arrow keys.
// The chart itself is Streamlit's; it may come later than this, and comes anew when its figure changes.
const CHARTS = new WeakMap() // the element that this is mounted in -> view
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
const THEME = ["background-color", "secondary-background-color", "text-color", "border-color", "primary-color", "base-radius", "font"].map(name => "--st-" + name)
const WAIT_MS = 250 // after the last key, before the page is asked to open a cell

// The points of the panel of an axis: the last trace on it.
const pointsOf = (v, axis) => [...(v.plot._fullData || [])].reverse().find(trace => trace.xaxis === axis && trace.customdata)
const axesOf = v => [...new Set((v.plot._fullData || []).filter(trace => trace.customdata).map(trace => trace.xaxis))]
const axisNamed = (v, id) => v.plot._fullLayout[id[0] + "axis" + id.slice(1)]
const numberAt = (trace, x, y) => { for (let n = 0; n < trace.x.length; n++) if (String(trace.x[n]) === x && String(trace.y[n]) === y) return n; return -1 }

function findCell(v, cell) {
  const trace = cell && v.plot && pointsOf(v, cell.axis)
  const n = trace ? numberAt(trace, cell.x, cell.y) : -1
  return n < 0 ? null : { ...cell, text: trace.text[n], opens: trace.customdata[n] }
}

function drawCell(v) {
  const found = findCell(v, v.at)
  v.told.textContent = (v.under || found)?.text || ""
  v.ring?.remove()
  if (!found) return
  const x = axisNamed(v, found.axis), y = axisNamed(v, found.axis.replace("x", "y"))
  const [i, j] = [x._categories.indexOf(found.x), y._categories.indexOf(found.y)]
  if (i < 0 || j < 0) return
  const [wide, high] = [Math.abs(x.l2p(i + 1) - x.l2p(i)), Math.abs(y.l2p(j + 1) - y.l2p(j))]
  v.ring = document.createElement("div")
  v.ring.className = "chart-ring"
  const [dark, light] = v.colours
  for (const [name, value] of [["--ring-dark", dark], ["--ring-light", light]]) v.ring.style.setProperty(name, value)
  Object.assign(v.ring.style, {
    left: x._offset + x.l2p(i) - wide / 2 + "px", top: y._offset + y.l2p(j) - high / 2 + "px", width: wide + "px", height: high + "px",
  })
  v.plot.append(v.ring)
}

// The next cell that is there in a direction; beyond the last column of a panel the next panel's first.
function walk(v, [across, up]) {
  const panels = axesOf(v)
  if (!panels.length) return
  const first = pointsOf(v, panels[0])
  let { x, y, axis } = v.at || { x: String(first.x[0]), y: String(first.y[0]), axis: panels[0] }
  while (v.at) {
    const xs = axisNamed(v, axis)._categories, ys = axisNamed(v, axis.replace("x", "y"))._categories
    let [i, j] = [xs.indexOf(x) + across, ys.indexOf(y) + up]
    if (i < 0 || i >= xs.length) {
      axis = panels[panels.indexOf(axis) + across]
      if (!axis) return
      i = across > 0 ? 0 : axisNamed(v, axis)._categories.length - 1
    }
    if (j < 0 || j >= ys.length) return
    x = axisNamed(v, axis)._categories[i]
    y = axisNamed(v, axis.replace("x", "y"))._categories[j]
    if (findCell(v, { x, y, axis })) break
  }
  v.at = { x, y, axis }
  v.under = null
  drawCell(v)
  clearTimeout(v.waits)
  v.waits = setTimeout(() => { v.waits = 0; v.open(findCell(v, v.at)?.opens) }, WAIT_MS)
}

function listen(v, plot) {
  v.plot = plot
  const host = plot.closest(".stPlotlyChart")
  if (!v.cells) return
  host.tabIndex = 0
  host.setAttribute("aria-roledescription", "heatmap, arrow keys go from cell to cell")
  const point = e => { const p = e.points[0]; return p.data.customdata ? { x: String(p.x), y: String(p.y), axis: p.fullData.xaxis } : null }
  plot.on("plotly_hover", e => { v.under = findCell(v, point(e)); if (v.under) v.told.textContent = v.under.text })
  plot.on("plotly_unhover", () => { v.under = null; drawCell(v) })
  plot.on("plotly_click", e => { clearTimeout(v.waits); v.waits = 0; v.at = point(e) || v.at; drawCell(v) })
  plot.on("plotly_afterplot", () => drawCell(v))
  drawCell(v)
}

function seek(v) {
  const plot = v.box.querySelector(".js-plotly-plot")
  if (plot && plot !== v.plot && plot.on && plot._fullLayout?.xaxis) listen(v, plot)
}

function makeChart(root, data) {
  const box = root.closest(".st-key-screen_" + CSS.escape(data.chart))
  const v = { box, told: root.querySelector(".chart-told"), cells: data.cells, at: null, under: null, plot: null }
  box.classList.add("chart-box")
  box.querySelector(".st-key-page_" + CSS.escape(data.chart)).classList.add("chart-page")
  v.told.hidden = !data.cells
  const chart = () => box.querySelector(".stPlotlyChart")
  const opener = document.createElement("button")
  const toggleTools = () => opener.setAttribute("aria-pressed", box.classList.toggle("chart-tools"))
  Object.assign(opener, { type: "button", textContent: "Tools", title: "Plotly's tools (t)", onclick: toggleTools })
  const view = FULL.add({
    el: box,
    group: () => "",
    focus: () => (data.cells ? chart() : box.querySelector(".full-open"))?.focus(),
    sized: () => box.style.setProperty("--chart-scale", FULL.size() / data.text),
    keys: () => [data.cells ? ["\u2190 \u2192 \u2191 \u2193", "next cell", null] : ["t", "plotly's tools", toggleTools]],
  })
  const tools = FULL.tools(view)
  tools.querySelector(".full-open").textContent = "Full screen"
  if (!data.cells) tools.prepend(opener)
  root.querySelector(".chart-bar").append(tools)
  if (data.cells) box.addEventListener("keydown", e => {
    if (!STEPS[e.key] || e.ctrlKey || e.metaKey || e.altKey || !(chart()?.contains(e.target) || FULL.isFull(view))) return
    e.preventDefault()
    e.stopPropagation()
    walk(v, STEPS[e.key])
  })
  new MutationObserver(() => seek(v)).observe(box, { childList: true, subtree: true })
  return v
}

export default function ({ parentElement, data, setTriggerValue }) {
  const v = CHARTS.get(parentElement) || makeChart(parentElement, data)
  CHARTS.set(parentElement, v)
  const theme = getComputedStyle(parentElement)
  for (const name of THEME) v.box.style.setProperty(name, theme.getPropertyValue(name))
  v.open = opens => { if (opens !== undefined) setTriggerValue("open", opens) }
  if (!data.cells) return
  v.colours = data.ring
  if (!v.waits) v.at = data.opened // else the keys have gone on, and this answers an earlier one
  seek(v)
  if (v.plot) drawCell(v)
}
