"""To be imported before nbformat: saves each command 2.7 s.

nbformat imports jsonschema, which builds a grammar of international web addresses if it finds rfc3987_syntax, only to
offer a format ("iri") that no notebook has. A None here makes Python say that the module is not installed.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
