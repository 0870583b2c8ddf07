# SPDX-License-Identifier: BSD-3-Clause
"""The page at /. Without a browser: that it is served and needs nothing from elsewhere. With one (Playwright for
Python and Chromium; HUNCH_CHROMIUM names another binary): that it works. HUNCH_SCREENSHOTS names a folder for pictures."""
import os
import re
import shutil

import pytest

CHROMIUM = os.environ.get('HUNCH_CHROMIUM') or shutil.which('chromium') or shutil.which('chromium-browser')
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

needs_browser = pytest.mark.skipif(not (CHROMIUM and sync_playwright),
                                   reason='needs Chromium and Playwright')


def test_nothing_from_elsewhere(client):
    html = client('GET', '/').body.decode()
    for path in re.findall(r'(?:src|href)="([^"#]+)"', html):
        assert path.startswith(('/', 'data:')), path
        if path.startswith('/'):
            assert client('GET', path).status == 200
    for path in ('/page.js', '/page.css'):
        text = client('GET', path).body.decode()
        assert not re.search(r'https?://(?!www\.w3\.org/2000/svg)', text) and '@import' not in text
    assert ' style="' not in html and ' onclick' not in html  # the policy would refuse them


def test_caching(client):
    reply = client('GET', '/page.js')
    again = client('GET', '/page.js', headers={'If-None-Match': reply.headers['ETag']})
    assert again.status == 304 and again.body == b''
    assert client('GET', '/page.js', headers={'If-None-Match': '"other"'}).status == 200


def test_elements_that_the_script_names_are_there(client):
    html, script = client('GET', '/').body.decode(), client('GET', '/page.js').body.decode()
    there = set(re.findall(r'id="([^"]+)"', html))
    assert set(re.findall(r"\$\('([^']+)'\)", script)) <= there


# --- in a browser ---

@pytest.fixture(scope='module')
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox', '--disable-gpu'])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    contexts = []

    def open_page(server, phone=False, dark=False, **more):
        context = browser.new_context(viewport={'width': 390, 'height': 844} if phone else {'width': 1300, 'height': 900},
                                      color_scheme='dark' if dark else 'light', has_touch=phone, is_mobile=phone, **more)
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on('pageerror', lambda e: page.errors.append(str(e)))
        page.on('console', lambda m: page.errors.append(m.text) if m.type == 'error' and '401' not in m.text else None)
        page.on('request', lambda r: page.errors.append(r.url) if '127.0.0.1' not in r.url and not r.url.startswith('data:')
                else None)
        page.goto('http://127.0.0.1:%d/' % server.port)
        return page
    yield open_page
    for context in contexts:
        context.close()


def wait(page, condition):
    """Not Playwright's own way, which needs eval: the page's policy forbids that."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def picture(page, name):
    folder = os.environ.get('HUNCH_SCREENSHOTS')
    if folder:
        os.makedirs(folder, exist_ok=True)
        page.evaluate('scrollTo(0, 0)')
        page.screenshot(path=os.path.join(folder, name + '.png'), full_page=True)


def fill(client, rounds=300):
    client.create('news', learner='banditron:gamma=0.1', seed=2)
    client.create('ads', labels=['a', 'b'])
    for i in range(rounds):
        d = client.predict('news', {'topic': 't%d' % (i % 3), 'user=%d' % (i % 20): 1})
        if i % 5:
            client.feedback('news', id=d['id'], right=d['label'] == ['sports', 'politics', 'tech'][i % 3])


@needs_browser
def test_an_empty_server_offers_to_make_a_model(server, open_page):
    page = open_page(server)
    page.wait_for_selector('#create:not([hidden])')
    wait(page, "document.querySelector('#new-learner').options.length > 3")
    picture(page, 'empty')
    page.fill('#new-name', 'first')
    page.fill('#new-labels', 'yes, no , maybe')
    page.select_option('#new-silence', 'wrong')
    page.fill('#new-minutes', '1.5')
    page.click('#create button.strong')
    page.wait_for_selector('#model:not([hidden])')
    wait(page, "document.querySelector('#name').textContent === 'first'")
    made = server.client('GET', '/v1/models/first').json
    assert made['labels'] == ['yes', 'no', 'maybe'] and made['answer_default'] == 'wrong' and made['answer_after'] == 90
    assert page.errors == []


@needs_browser
@pytest.mark.parametrize('phone', [False, True], ids=['desktop', 'phone'])
def test_it_shows_and_tries(server, open_page, phone):
    fill(server.client)
    page = open_page(server, phone=phone, dark=phone)
    page.click('[data-model=news]')
    wait(page, "document.querySelector('#name').textContent === 'news'")
    for chart in ('rates', 'flow'):
        page.wait_for_selector('#%s svg path.line' % chart, state='attached')
    page.wait_for_selector('#delay svg rect', state='attached')
    assert page.locator('#labels tbody tr').count() == 3
    assert page.locator('#decisions tbody tr').count() == 12
    assert page.locator('#tiles .tile').first.inner_text().split('\n')[1] == '300'
    page.fill('#x', '{"topic": "t1", "user=3": 1}')
    page.click('#try button.strong')
    page.wait_for_selector('#answer:not([hidden])')
    assert page.inner_text('#answer-label') in ('sports', 'politics', 'tech')
    assert page.locator('#answer-scores .score').count() == 3
    picture(page, 'phone-dark' if phone else 'desktop')
    page.click('#say-wrong')
    wait(page, "document.querySelector('#answer-result').textContent.startsWith('Learned')")
    wait(page, "document.querySelector('#tiles .tile .value').textContent === '301'")
    model = server.client('GET', '/v1/models/news').json
    assert model['decisions'] == 301 and model['feedback'] == 241
    for span in ('day', 'month'):
        page.click('[data-span=%s]' % span)
        page.wait_for_selector('[data-span=%s][aria-pressed=true]' % span)
    # Nothing is wider than the screen.
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    assert page.errors == []


@needs_browser
def test_bad_examples_are_explained(server, open_page):
    server.client.create('m')
    page = open_page(server)
    page.wait_for_selector('#model:not([hidden])')
    page.fill('#x', '{"a": }')
    page.click('#try button.strong')
    page.wait_for_selector('#try-problem:not([hidden])')
    assert 'line 1' in page.inner_text('#try-problem')
    assert server.client('GET', '/v1/models/m').json['decisions'] == 0


@needs_browser
def test_names_can_not_become_markup(server, open_page):
    evil = '<img src=x onerror=alert(1)>'
    server.client.create('m', labels=[evil, '"><script>alert(2)</script>'])
    server.client.predict('m', {evil: 1, 'a': evil}, durable=True)
    page = open_page(server)
    wait(page, "document.querySelectorAll('#labels tbody tr').length === 2")
    wait(page, "document.querySelectorAll('#decisions tbody tr').length === 1")
    assert page.locator('main img, main script').count() == 0 and page.errors == []


@needs_browser
def test_it_asks_for_a_token(make_server, open_page, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text('admin the-admin-token\n')
    server = make_server('--tokens', str(tokens), token='the-admin-token')
    server.client.create('m')
    page = open_page(server)
    page.wait_for_selector('#token-dialog[open]')
    page.fill('#token', 'the-admin-token')
    page.click('#token-form button')
    wait(page, "document.querySelector('#name').textContent === 'm'")
    assert page.errors == []


@needs_browser
def test_it_notices_that_the_server_is_gone_and_back(server, open_page):
    server.client.create('m')
    page = open_page(server)
    page.wait_for_selector('#health.ok')
    port = server.port
    server.stop()
    page.wait_for_selector('#health.off', timeout=20000)
    server.start('--listen', '127.0.0.1:%d' % port)
    page.wait_for_selector('#health.ok', timeout=20000)


@needs_browser
def test_theme_follows_the_system_and_the_button(server, open_page):
    server.client.create('m')
    page = open_page(server, dark=True)
    page.wait_for_selector('#model:not([hidden])')
    colour = 'getComputedStyle(document.body).backgroundColor'
    dark = page.evaluate(colour)
    page.click('#theme')
    light = page.evaluate(colour)
    assert dark != light
    page.reload()
    page.wait_for_selector('#model:not([hidden])')
    assert page.evaluate(colour) == light


@needs_browser
@pytest.mark.parametrize('phone', [False, True], ids=['desktop', 'phone'])
def test_a_broken_model_shows_its_own_state(server, open_page, phone):
    fill(server.client, 30)
    server.stop()
    for name in os.listdir(server.folder + '/models/ads'):
        with open('%s/models/ads/%s' % (server.folder, name), 'wb') as f:
            f.write(b'nonsense')
    server.start()
    page = open_page(server, phone=phone)
    page.click('[data-model=news]')
    wait(page, "document.querySelectorAll('#decisions tbody tr').length === 12")
    page.click('[data-model=ads]')
    wait(page, "document.querySelector('#name').textContent === 'ads'")
    page.wait_for_selector('#model-problem:not([hidden])')
    assert not page.is_visible('#tiles') and not page.is_visible('#decisions')
    page.click('[data-model=news]')
    page.wait_for_selector('#tiles', state='visible')


@needs_browser
def test_odd_addresses_and_odd_names(server, open_page):
    server.client.create('m', labels=['safe', 'abc\u202efdp.exe'])
    page = open_page(server)
    page.goto('http://127.0.0.1:%d/#%%' % server.port)
    page.reload()
    wait(page, "document.querySelectorAll('#labels tbody tr').length === 2")
    assert '\u202e' not in page.inner_text('main') and 'abc\ufffdfdp.exe' in page.inner_text('#labels')
    assert page.errors == []


@needs_browser
def test_numbers_are_dim_when_the_server_is_gone(server, open_page):
    fill(server.client, 5)
    page = open_page(server)
    page.wait_for_selector('#tiles .tile')
    assert page.evaluate("getComputedStyle(document.querySelector('#tiles')).opacity") == '1'
    server.kill()
    wait(page, "document.body.classList.contains('stale')")
    assert page.evaluate("getComputedStyle(document.querySelector('#tiles')).opacity") == '0.4'


@needs_browser
@pytest.mark.parametrize('phone', [False, True], ids=['desktop', 'phone'])
def test_changes_are_asked_about(server, open_page, phone):
    client = server.client
    fill(client, 20)
    page = open_page(server, phone=phone)
    asked = []

    def reply(dialog):
        asked.append(dialog.message)
        answer, text = replies.pop(0)
        dialog.accept(text or '') if answer else dialog.dismiss()
    page.on('dialog', reply)
    page.click('[data-model=news]')
    wait(page, "document.querySelectorAll('#decisions tbody tr').length === 12")
    replies = [(True, 'weather'), (True, None)]
    page.click('#add-label')
    wait(page, "document.querySelectorAll('#labels tbody tr').length === 4")
    replies = [(True, None)]
    page.locator('#labels tr', has_text='weather').locator('.retire').click()
    wait(page, "document.querySelector('#labels').textContent.includes('Restore')")
    assert client('GET', '/v1/models/news').json['retired'] == ['weather']
    page.locator('#labels tr', has_text='weather').locator('.retire').click()
    wait(page, "!document.querySelector('#labels').textContent.includes('Restore')")
    replies = [(False, None)]
    page.locator('.forget').first.click()
    assert client('GET', '/v1/models/news').json['excluded'] == 0
    replies = [(True, None)]
    page.locator('.forget').first.click()
    server.wait_for('model_rebuilt')
    assert client('GET', '/v1/models/news').json['excluded'] >= 1
    assert page.locator('#comparison-card').is_hidden()
    client('PATCH', '/v1/models/news', {'decides': 'baseline', 'control': {'share': 0.25, 'by': 'uniform'}})
    page.wait_for_selector('#comparison-card:not([hidden])')
    wait(page, "document.querySelectorAll('#comparison tbody tr').length === 5")
    replies = [(True, None)]
    page.click('#decides')
    wait(page, "document.querySelectorAll('#comparison tbody tr').length === 3")
    assert client('GET', '/v1/models/news').json['decides'] == 'model'
    assert '25 % control: uniform' in page.text_content('#comparison-note')
    client('POST', '/v1/models/news/versions', {'learner': 'soba'})
    page.wait_for_selector('#versions-card:not([hidden]) button')
    replies = [(True, None)]
    page.locator('#versions button').first.click()
    wait(page, "document.querySelector('#learner').textContent.startsWith('soba')")
    replies = [(False, None)]
    page.click('#remove')
    assert client('GET', '/v1/models/news').status == 200
    replies = [(True, None)]
    page.click('#remove')
    page.wait_for_selector('[data-model=news]', state='detached')
    assert client('GET', '/v1/models/news').status == 404 and len(asked) == 9
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
