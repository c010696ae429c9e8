"""`python -m tileviz.engine`: the engine of TILEVIZ_HOME. Started by `client.ensure_engine`; logs to engine.log."""

import logging
import sys

from tileviz.engine.server import serve

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s", stream=sys.stderr)
sys.exit(serve())
