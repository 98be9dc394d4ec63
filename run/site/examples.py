"""An extension of the API reference that shows examples in docstrings as Python and not as quotations."""

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class Examples(Extension):
    """An extension that fences text from `>>>` to the next empty line."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples of an object; griffe calls this for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda match: f"\n```pycon\n{match[0]}\n```", obj.docstring.value)
