"""`python -m tileviz.engine`: the engine of TILEVIZ_HOME. Started by `client.ensure_engine`; logs
to engine.log."""

import logging
import os
import sys

from tileviz import settings
from tileviz.engine.processes import starts
from tileviz.store import tileviz_home


def main() -> int:
    """Serves; what ends it leaves its sentence where the next client finds it."""
    try:
        from tileviz.engine.server import serve

        settings.check()
        return serve()
    except Exception as error:  # the last words of this process, whatever ends it
        logging.getLogger("tileviz.engine").exception("the engine dies")
        starts.died(tileviz_home(), os.getpid(), starts.last_words(error))
        return 1


logging.basicConfig(
    level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s", stream=sys.stderr
)
sys.exit(main())
