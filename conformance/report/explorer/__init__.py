"""Explorer: a protocol walked step by step in a browser, or in one file without network.

`walk` knows states and steps, `server` serves it on loopback, `saved` writes it as one file. The page in
`page` is plain HTML, CSS and JavaScript. It executes nothing: all states come from the engines.
"""

from antiphon.conformance.report.explorer.saved import embedded, frame, saved_page
from antiphon.conformance.report.explorer.walk import Walk

__all__ = ["Walk", "embedded", "frame", "saved_page"]
