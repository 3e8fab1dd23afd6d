// The page's modules that know no elements, alone.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { opening, readCount } from '../src/count.js';
import { el, visible, write } from '../src/dom.js';
import { places, share, told } from '../src/fates.js';
import { Moments, duration } from '../src/moments.js';
import { fresh, fromLink, link, options } from '../src/state.js';

test('a link holds all that can be chosen, and is wary of what it is given', () => {
    const given = { replicas: 4, now: Date.parse('2026-03-10T12:00:00Z'), nowText: '2026-03-10T12:00:00Z' };
    const state = {
        ...fresh(), replicas: 3, now: Date.parse('2026-03-10T12:00:01.5Z'), nowText: '2026-03-10T12:00:01.500Z', isTimeGiven: true, order: 'total',
        gates: { PodDeletionCost: false, PreferForScaleDown: true }, steering: true, wanted: new Set(['shop-a', 'shop-b']),
    };
    const again = { ...fresh(), ...fromLink(link('zones', state), given) };
    assert.deepEqual(again, state);
    assert.equal(options(again), options(state));
    assert.deepEqual({ ...fresh(), ...fromLink('', given) }, { ...fresh(), ...given });
    for (const [bad, told] of [
        ['replicas=-1', 'replicas=-1 is not a whole number'], ['replicas=abc', 'replicas=abc is not'], ['replicas=2147483648', 'is not a whole number from 0 to 2147483647'],
        ['now=noon', 'now=noon is not a time'], ['now=2026-03-10', 'is not a time'], ['now=2026-13-10T12:00:00Z', 'is not a time'], ['order=none', 'order=none is neither'],
        ['PodDeletionCost=maybe', 'PodDeletionCost=maybe is neither'], ['PreferForScaleDown=true', 'PreferForScaleDown=true needs order=total'], ['replcas=3', '“replcas”'],
    ]) assert.throws(() => fromLink(`#example=circle&${bad}`, given), ({ message }) => message.startsWith('The link is wrong: ') && message.includes(told), bad);
    assert.equal(fromLink('#example=circle&PreferForScaleDown=true&order=total', given).gates.PreferForScaleDown, true);
    const off = { ...given, gates: { PodDeletionCost: false } };
    assert.deepEqual([fromLink('', off).gates, fromLink('#example=zones&PodDeletionCost=true', off).gates], [{ PodDeletionCost: false }, {}]);
});

test('no text of the page hides a character', () => {
    // One of each kind: controls, a soft hyphen, joiners, order, tags, variation selectors, fillers.
    const hidden = '\0\t\r\u001b\u007f\u009b\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u2028\u202e\u2066\u2069\u3164\ufe0f\ufeff\ufff9\u{e0041}\u{e0100}';
    const escapes = [...hidden].map((char) => `\\u{${char.codePointAt(0).toString(16)}}`).join('');
    assert.equal(visible(`web${hidden}-1`), `web${escapes}-1`);
    for (const seen of ['web-1', 'a\nb', '…', '×', 'e\u0301', 'עברית', '日本', '😀']) assert.equal(visible(seen), seen);
    const made = (tag) => ({ tag, attributes: {}, children: [], setAttribute(name, value) { this.attributes[name] = value; }, append(...all) { this.children.push(...all); } });
    globalThis.document = { createElement: made };
    try {
        const child = el('b', {}, hidden);
        const element = el('p', { title: hidden, label: hidden, 'aria-label': hidden, 'data-name': hidden }, hidden, [hidden, child]);
        assert.deepEqual(element.attributes, { title: escapes, label: escapes, 'aria-label': escapes, 'data-name': hidden });
        assert.deepEqual(element.children, [escapes, escapes, child]);
        assert.deepEqual(child.children, [escapes]);
        write(element, hidden);
        assert.equal(element.textContent, escapes);
    } finally {
        delete globalThis.document;
    }
    // No other module makes text of its own.
    const modules = readdirSync(join(import.meta.dirname, '../src')).filter((file) => file.endsWith('.js') && file !== 'dom.js');
    for (const file of modules) {
        const source = readFileSync(join(import.meta.dirname, '../src', file), 'utf8');
        const found = source.match(/textContent = |inner(HTML|Text)|insertAdjacent|createTextNode|document\.title = (?!visible\(|')/);
        assert.equal(found?.[0], undefined, file);
    }
});

test('what becomes of pods is counted, and placed by zone and node', () => {
    const pod = (name, node, fate) => ({ name, node, fate });
    const pods = [pod('a', 'n1', 'deleted'), pod('b', 'n2', 'possible'), pod('c', null, 'deleted'), pod('d', 'n1', 'kept'), pod('e', 'n3', 'kept')];
    const all = places(pods, { n1: 'z2', n2: 'z1' });
    assert.deepEqual(all.map(({ title, nodes }) => [title, nodes.map(({ name, pods }) => [name, share(pods)])]), [
        ['Zone unknown', [['n3', '0 of 1 deleted']]], ['z1', [['n2', '1 of 1 possible']]], ['z2', [['n1', '1 of 2 deleted']]], ['Not on a node', [['', '1 of 1 deleted']]],
    ]);
    assert.deepEqual(told(pods, { deletions: { min: 2, max: 3 } }),
        [['deleted', '2 deleted for certain'], ['possible', 'up to 1 more'], ['kept', '2 kept']]);
    assert.deepEqual(told([pods[3]], { deletions: { min: 0, max: 0 } }), [['kept', '1 kept']]);
    assert.deepEqual(told([pods[0], pods[3]], { deletions: { min: 1, max: 1 } }), [['deleted', '1 deleted for certain'], ['kept', '1 kept']]);
    assert.deepEqual(told([pods[0], pods[2]], { deletions: { min: 2, max: 2 } }), [['deleted', '2 deleted for certain']]);
    assert.deepEqual(told([], { deletions: { min: 0, max: 0 } }), []);
});

test('the slider of the moment reaches from the latest change to far beyond', () => {
    const newest = Date.parse('2026-03-10T12:00:00Z');
    const moments = new Moments(newest, newest + 20_000);
    assert.equal(moments.at(0), newest + 1000);
    assert.ok(moments.age(moments.at(1)) >= 2 * 86400 * 1000);
    for (let step = 0; step <= 1000; step += 50) assert.equal(moments.toStep(moments.fromStep(step)), step);
    assert.deepEqual([90_000, 600_000, 3 * 3600_000, 3 * 86400_000].map(duration), ['90 s', '10 min', '3 h', '3 days']);
});

test('a count is a whole number that Kubernetes takes, and a dump opens at what its autoscaler wants, or at one less than now', () => {
    for (const [text, count] of [['0', 0], ['7', 7], ['2147483647', 2147483647]]) assert.deepEqual(readCount(text), { count });
    for (const text of ['-1', '', '2.5', '1e3', '2147483648', ' ']) {
        const { count, error } = readCount(text);
        assert.equal(count, undefined, text);
        assert.ok(error.includes(text.trim() === '' ? 'The count' : `“${text}”`), error);
    }
    for (const [active, count, desired, opens] of [[8, 8, 6, 6], [8, 8, 8, 7], [8, 8, 12, 7], [8, 8, null, 7], [13, 10, null, 9], [13, 10, 11, 9], [10, 12, null, 9], [0, 0, null, 0], [8, 8, 0, 0]]) {
        assert.equal(opening({ active, count, desired }), opens, `${active} ${count} ${desired}`);
    }
});
