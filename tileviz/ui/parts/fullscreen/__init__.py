"""Full screen for components: text of a style sheet and of a script that a component puts before
its own.

The script gives `FULL`, one for all components of a page. A component adds what may fill the window
and keeps what it gets:

    const view = FULL.add({ el, group, focus, sized, keys })
    bar.append(FULL.tools(view))

`el` is the element that fills the window; `group()` names those that share it, "" for none;
`focus()` puts the focus into it; `sized()` is called when the text's size (`FULL.size()`, in
pixels) or the room has changed; `keys()` gives the component's own keys as [["n", "next hit", act],
...], where "N p" are two keys for one act, and an act of null is only told of: the component sees
to it itself. Keys act on the element that has the focus (f: also on the one under the pointer),
never in a field that is typed in. `FULL.recall` and `FULL.keep` are what the browser remembers;
`FULL.splitter` is the bar between two.
"""

from pathlib import Path

_HERE = Path(__file__).parent

CSS = (_HERE / "fullscreen.css").read_text()
JS = (_HERE / "fullscreen.js").read_text()
