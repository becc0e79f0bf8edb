"""Templates: every value is escaped, and one that is not there is an error."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.web.returning import asked_page, said_on
from onebeat.web.settings import Settings
from onebeat.web.views import text, words

_TEMPLATES = Environment(
    loader=PackageLoader("onebeat.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_TEMPLATES.filters |= {"span": words.span, "badge": words.badge, "shown": text.shown}


def prepare() -> None:
    """Compile the templates, once: whoever comes first need not wait for it."""
    for name in _TEMPLATES.list_templates(extensions=["html"]):
        _TEMPLATES.get_template(name)


def rendered(request: Request, template: str, **values: Any) -> str:
    """*template* with *values*, for one who asks: `url` makes the addresses of the app's own
    pages, `who` is the name of one who may act, `back` this page's address, `said` what a form has done."""
    settings: Settings = request.app.state.settings
    root = request.scope.get("root_path", "")
    return _TEMPLATES.get_template(template).render(
        url=lambda path: f"{root}{path}",
        here=request.url.path.removeprefix(root),
        settings=settings,
        who=getattr(request.state, "who", None),
        csrf=getattr(request.state, "csrf", ""),
        back=asked_page(request),
        said=said_on(request),
        instant=lambda moment: words.instant(moment, settings.zone),
        **values,
    )


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The whole page."""
    return HTMLResponse(rendered(request, template, **values), status_code=status)
