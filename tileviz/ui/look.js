// In a narrow window the form is closed until someone opens it; a window that is wide (again) shows it, unless someone closed it there.
(() => {
  const CLOSED = "stSidebarCollapsed-" // Streamlit's own word in the browser's storage, read when the page starts
  const OURS = "tilevizClosed"
  const narrow = matchMedia("(max-width: 899.98px)")
  try {
    if (narrow.matches) {
      localStorage.setItem(CLOSED, "true")
      localStorage.setItem(OURS, "true")
    } else if (localStorage.getItem(OURS)) {
      localStorage.removeItem(CLOSED)
      localStorage.removeItem(OURS)
    }
  } catch { /* a browser that stores nothing: the form is open at first */ }
  narrow.addEventListener("change", () => {
    if (narrow.matches) document.querySelector("[data-testid=stSidebar][data-collapsed=false] [data-testid=stSidebarCollapseButton] button")?.click()
    else document.querySelector("[data-testid=stExpandSidebarButton]")?.click()
  })
})()

// Names the help beside a text by that text, says how a run goes, and brings the keyboard back to a button that was off meanwhile.
;(() => {
  const HELP = "[data-testid=stTooltipIcon] button[aria-label=Help]"
  const TEXT = "[data-testid=stCaptionContainer], [data-testid=stMarkdown], [data-testid=stHeading]"
  const BACK_TO = { "st-key-run": ".st-key-run button", "st-key-_cancel": ".st-key-run button" }
  const region = Object.assign(document.createElement("div"), { id: "heard" })
  region.setAttribute("role", "status")
  let said = null, back = null

  const pressed = (event) => {
    const name = Object.keys(BACK_TO).find((key) => event.target.closest?.(`.${key}`))
    back = name ? BACK_TO[name] : null
  }
  const nameHelp = () => {
    for (const button of document.querySelectorAll(HELP)) {
      const beside = button.closest(TEXT)?.cloneNode(true)
      beside?.querySelectorAll("[data-testid=stIconMaterial]").forEach((icon) => icon.remove())
      const text = beside?.textContent.trim().slice(0, 60)
      if (text) button.setAttribute("aria-label", `Help for ${text}`)
    }
  }
  const say = () => {
    const words = document.querySelector(".st-key-heard [data-words]")?.dataset.words
    if (words === undefined || words === said) return
    if (said !== null) region.textContent = words
    said = words
  }
  const bringBack = () => {
    const button = back && document.activeElement === document.body && document.querySelector(back)
    if (!button || button.disabled) return
    button.focus({ preventScroll: true })
    back = null
  }
  let planned = false
  const later = () => {
    planned = false
    nameHelp()
    say()
    bringBack()
  }
  addEventListener("click", pressed, true)
  addEventListener("DOMContentLoaded", () => {
    document.body.append(region)
    new MutationObserver(() => {
      if (!planned) requestAnimationFrame(later)
      planned = true
    }).observe(document.getElementById("root"), { childList: true, subtree: true, characterData: true, attributeFilter: ["disabled", "data-words"] })
  })
})()

// A tab that lost its server and found it again, but stays empty, is loaded again. The new page has lost nothing, so it is loaded once.
;(() => {
  const WATCHED_MS = 120_000, LOOKS = 3
  let met = false, until = 0, empty = 0
  setInterval(() => {
    const app = document.querySelector("[data-testid=stApp]")?.dataset
    if (app?.testConnectionState !== "CONNECTED") {
      if (met) until = Date.now() + WATCHED_MS
      return
    }
    met = true
    if (Date.now() > until) return
    const main = app.testScriptState === "notRunning" && document.querySelector("[data-testid=stMain]")
    const blank = main && !main.innerText.trim() && !main.querySelector("[data-testid=stSkeleton]")
    empty = blank ? empty + 1 : 0
    if (empty === LOOKS) location.reload()
  }, 2000)
})()
