"""The site, built from nothing with warnings as errors, and looked at in a real browser."""

import json
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest

import logphi as lp
from notebook_runs import LONG, PATHS, run
from repository import ROOT, module_of

pytest.importorskip("sphinx")
pytest.importorskip("selenium")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from sphinx.util.inventory import InventoryFile

pytestmark = pytest.mark.slow

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,900",
]

PATIENCE = 10  # seconds, for what a script of the page does
TELEPHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
# WCAG 2.2, success criterion 1.4.3, for large text; the smaller demand, as a style sheet's greys are not ours
CONTRAST = 3.0
SCHEMES = ("light", "dark")


@pytest.mark.parametrize("path", [path for path in PATHS if path.stem in LONG], ids=lambda path: path.stem)
def test_a_long_notebook_runs(path, monkeypatch):
    """Here, and before the site is built, as another worker would run it at the same time."""
    run(path, monkeypatch)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    below = tmp_path_factory.mktemp("built")
    result = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(below)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return below / "site"


def addresses(site, *, listings=True):
    """The pages, with or without those that only show code."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [one for one in found if listings or not one.startswith("source/")]


def looked_at(site):
    """The pages, but of those that only show code, which are made alike, one out of forty."""
    return [*addresses(site, listings=False), *[one for one in addresses(site) if one.startswith("source/")][::40]]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (BROWSER and DRIVER):
        pytest.skip("no chromium and chromedriver here; on Debian: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    # what the browser's own first page asked for is no page of ours
    driver.get("about:blank")
    driver.get_log("performance")
    yield driver
    driver.quit()


class Anchors:
    """The links of a page, and what can be linked to; Sphinx puts all attributes in double quotes."""

    def __init__(self, text):
        self.links = [unescape(one) for one in re.findall(r'<a\s(?:[^>]*\s)?href="([^"]+)"', text)]
        self.ids = {"", *(unescape(one) for one in re.findall(r'\sid="([^"]+)"', text))}


def test_every_public_name_is_in_the_inventory(site):
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    assert [name for name in dir(lp) if f"logphi.{name}" not in known] == []
    assert {"logphi.extend.Primitive", "logphi.testing.check_mechanism", "logphi.questions.delta.delta"} <= known


def test_every_link_leads_somewhere(site):
    pages = {address: Anchors((site / address).read_text(encoding="utf-8")) for address in addresses(site)}
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    broken = []
    for address, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = normpath(join(dirname(address), unquote(parts.path))) if parts.path else address
            anchors = pages[target].ids if target in pages else {""}
            if target not in files or unquote(parts.fragment) not in anchors:
                broken.append((address, link))
    assert broken == []


def test_the_gallery_is_drawn(site):
    examples = module_of(ROOT / "docs" / "gallery.py").EXAMPLES
    # read when the site was built
    drawn = list((site.parent / "site-source" / "gallery").iterdir())
    assert {path.stem for path in drawn} == {title.lower().replace(" ", "-") for title, _, _ in examples}
    assert all(ET.parse(path).getroot().tag.endswith("svg") for path in drawn)


def complaints(browser, served):
    """What the browser has to say about the page: errors on its console, requests that failed or left the house."""
    found = [entry["message"] for entry in browser.get_log("browser")]
    for entry in browser.get_log("performance"):
        event = json.loads(entry["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            if not url.startswith((served, "data:", "chrome:", "about:")):
                found.append(f"asks elsewhere: {url}")
        elif event["method"] == "Network.responseReceived" and event["params"]["response"]["status"] >= 400:
            found.append(f"not there: {event['params']['response']['url']}")
        elif event["method"] == "Network.loadingFailed" and not event["params"].get("canceled"):
            found.append(f"failed: {event['params']['errorText']}")
    return found


UNSEEN = """
    const flat = box => box.width < 1 || box.height < 1;
    const formulas = [...document.querySelectorAll("article math")].filter(one => flat(one.getBoundingClientRect()));
    const undrawn = [...document.querySelectorAll("article merror, article .problematic")];
    const pictures = [...document.querySelectorAll("article img")].filter(one => !(one.complete && one.naturalWidth > 0));
    return [...formulas, ...undrawn, ...pictures].map(one => one.outerHTML.slice(0, 200));
"""


FAINT = """
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const opaque = colour => !/, 0\\)$|transparent/.test(colour);
    const ground = one => {
        for (; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor;
            if (opaque(colour)) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const faint = [];
    for (const one of document.querySelectorAll("article *, .sidebar-drawer *")) {
        if (![...one.childNodes].some(node => node.nodeType == 3 && node.textContent.trim())) continue;
        if (one.closest(".headerlink, svg") || !one.getClientRects().length) continue;
        const [text, behind] = [light(getComputedStyle(one).color), light(ground(one))];
        const contrast = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
        if (contrast < arguments[0]) faint.push(`${contrast.toFixed(2)} ${one.className} ${one.textContent.slice(0, 30)}`);
    }
    return [faint, light(ground(document.querySelector("article")))];
"""


@dataclass
class Look:
    """What is to be said about a page: in light and in dark, as wide as a desk's screen and as a telephone's."""

    title: str
    faint: dict[str, list[str]]
    ground: dict[str, float]
    width: int
    complaints: list[str]


@pytest.fixture(scope="module")
def looks(site, served, browser):
    """Every page is loaded once, and looked at in every way before the next one."""
    found = {}
    for address in looked_at(site):
        browser.get(f"{served}/{address}")
        title, unseen = browser.title, browser.execute_script(UNSEEN)
        faint, ground = {}, {}
        for scheme in SCHEMES:
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            faint[scheme], ground[scheme] = browser.execute_script(FAINT, CONTRAST)
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", TELEPHONE)
        width = browser.execute_script("return document.documentElement.scrollWidth")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        found[address] = Look(title, faint, ground, width, complaints(browser, served) + unseen)
    return found


def own(looks):
    """The pages that do more than show code, which may be wide, and coloured by others."""
    return {address: look for address, look in looks.items() if not address.startswith("source/")}


def test_every_page_opens_and_shows_what_is_on_it(looks):
    assert {address: look.complaints for address, look in looks.items() if look.complaints or not look.title} == {}


def test_there_are_formulas_and_pictures(served, browser):
    browser.get(f"{served}/catalogue-noise.html")
    assert len(browser.find_elements(By.CSS_SELECTOR, "article math")) > 50
    browser.get(f"{served}/gallery.html")
    assert len(browser.find_elements(By.CSS_SELECTOR, "article img")) > 10


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("Gaussian", "catalogue-noise.html"),
        ("calibrate", "calibration.html"),
        ("staircase", "add-a-mechanism.html"),
        ("DP-SGD", "dp-sgd.html"),
        ("RDP", "glossary.html"),
    ],
)
def test_the_search_finds(served, browser, words, page):
    browser.get(f"{served}/index.html")
    box = browser.find_element(By.CSS_SELECTOR, ".sidebar-search-container input[name=q]")
    box.send_keys(words)
    box.submit()
    wait = WebDriverWait(browser, PATIENCE)
    found = wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, f"#search-results li a[href*='{page}']"))
    # by its address: the results move while their summaries are loaded
    browser.get(found[0].get_attribute("href"))
    assert page in browser.current_url
    assert words.lower() in browser.find_element(By.CSS_SELECTOR, "article").text.lower()


@pytest.mark.parametrize(("words", "page"), [("rdp to dp", "conversions.html"), ("how many epochs", "calibration.html")])
def test_the_search_finds_what_newcomers_ask(served, browser, words, page):
    browser.get(f"{served}/search.html?q={words.replace(' ', '+')}")
    wait = WebDriverWait(browser, PATIENCE)
    wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, f"#search-results li:nth-child(-n + 3) a[href*='{page}']"))


def test_no_page_is_wider_than_a_telephone(looks):
    assert {address: look.width for address, look in own(looks).items() if look.width > TELEPHONE["width"]} == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_its_ground(looks, scheme):
    assert all((look.ground[scheme] < 0.5) == (scheme == "dark") for look in own(looks).values())
    assert {address: sorted(set(look.faint[scheme]))[:5] for address, look in own(looks).items() if look.faint[scheme]} == {}
