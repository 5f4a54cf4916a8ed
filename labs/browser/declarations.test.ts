import type { BrowserContext as Driven } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../tests/support/process/errors.ts';
import { transact } from '../../tests/support/tools/tool-stage.ts';
import { type BrowserContext, browserTools, launchBrowser, submitTool, webScope } from './index.ts';

// Tests without a browser.

const gone = async (): Promise<BrowserContext> => {
  throw new Error('the browser has gone');
};
const site = { context: gone, allow: ['https://shop.example'] };
const form = {
  ...site,
  name: 'shop.order',
  input: z.strictObject({ item: z.string() }),
  url: 'https://shop.example/order/{item}',
  fields: () => [],
  button: { css: 'button' },
};

test('a context of the library is one of ours', () => {
  const isOne = (context: Driven): BrowserContext => context;
  expect(isOne).toBeTypeOf('function');
});

describe('the declared tools', () => {
  test('looking only reads, filling in is held, sending is for good', () => {
    const tools = browserTools(site);
    expect(tools.map(({ name, class: sort }) => [name, sort && Object.values(sort)])).toEqual([
      ['browser.goto', undefined],
      ['browser.read', undefined],
      ['browser.fill', ['buffered', 'reversible', 'keyed']],
      ['browser.submit', ['externalised', 'irreversible', 'blind']],
    ]);
    expect(browserTools({ ...site, name: 'shop' })[0]!.name).toBe('shop.goto');
  });

  test('a page is claimed by its address, without the query', () => {
    const [goto, , fill] = browserTools(site);
    const input = goto!.parse({ url: 'HTTPS://Shop.example:443/a/./b%41?q=1#x' });
    expect(goto!.claims(input).map(({ access, scope }) => [access, scope.text])).toEqual([
      ['read', 'web:shop.example:/a/bA'],
    ]);
    const filled = fill!.parse({
      url: 'https://shop.example/a',
      fields: [{ field: { css: 'a' }, value: '' }],
    });
    expect(fill!.claims(filled).map(({ access }) => access)).toEqual(['read', 'write']);
    expect(webScope('http://127.0.0.1:8080/')).toBe('web:127.0.0.1:8080:/~');
  });

  test('a form has its declared class, and otherwise the most careful one', () => {
    expect(submitTool(form).class).toEqual({
      reversibility: 'irreversible',
      delivery: 'externalised',
      sink: 'blind',
    });
    const reconcile = { url: 'https://shop.example/effects/{key}', find: () => undefined };
    expect(submitTool({ ...form, reconcile }).class).toMatchObject({ sink: 'queryable' });
    const tool = submitTool({
      ...form,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      compensate: { url: 'https://shop.example/cancel/{item}', button: { css: 'button' } },
      writes: ['shop:orders'],
    });
    expect(tool.class).toMatchObject({ reversibility: 'reversible', sink: 'keyed' });
    expect(tool.claims({ item: 'a' }).map(({ scope }) => scope.text)).toEqual(['shop:orders']);
    expect(
      submitTool(form)
        .claims({ item: 'a b/c' })
        .map(({ scope }) => scope.text),
    ).toEqual(['web:shop.example:/order/a b~2fc']);
  });
});

test.each<[string, object, string]>([
  ['no origin', { allow: [] }, 'allow is empty'],
  ['a path for an origin', { allow: ['https://shop.example/a'] }, 'not an origin'],
  ['a host for an origin', { allow: ['shop.example'] }, 'not an origin'],
  ['a scheme other than those of the web', { allow: ['ftp://shop.example'] }, 'not an origin'],
  ['a context of another type', { context: {} }, 'context'],
  ['no time', { timeoutMs: 0 }, 'timeoutMs'],
  ['what there is not', { headless: true }, 'headless'],
])('a browser with %s is refused', (_, change, why) => {
  expect(errorOf(() => browserTools({ ...site, ...change } as never))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(why),
  });
});

test.each<[string, object, string]>([
  ['a URL of another origin', { url: 'https://evil.example/' }, 'not in allow'],
  [
    'a URL whose host the input says',
    { url: 'https://{item}.example/' },
    'must not determine the host',
  ],
  ['an invalid button', { button: 'Order' }, 'button'],
  ['a selector that leaves CSS', { button: { css: 'a >> b' } }, 'button'],
  [
    'an unknown class',
    { class: { reversibility: 'maybe', delivery: 'buffered', sink: 'blind' } },
    'reversibility',
  ],
  [
    'a queryable sink and nothing to ask',
    { class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'queryable' } },
    'queryable',
  ],
  [
    'a compensation of what is irreversible',
    { compensate: { url: 'https://shop.example/', button: { css: 'b' } } },
    'an irreversible tool cannot have a compensate',
  ],
  [
    'a compensation elsewhere',
    { compensate: { url: 'https://evil.example/', button: { css: 'b' } } },
    'not in allow',
  ],
  ['a scope that does not parse', { writes: ['web:shop.example:/../a'] }, 'does not parse'],
  ['what only reads', { class: 'read' }, 'reads'],
])('a form with %s is refused', (_, change, why) => {
  expect(errorOf(() => submitTool({ ...form, ...change } as never))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(why),
  });
});

describe('without a browser', () => {
  test('nothing is read, and nothing was done', async () => {
    const { error } = await transact(browserTools(site) as never, (tx) =>
      tx.call('browser.goto', { url: 'https://shop.example/' }),
    );
    expect(error).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('the browser has gone'),
    });
    const { left, isCommitted } = await transact([submitTool(form)], (tx) =>
      tx.call('shop.order', { item: 'a' }),
    );
    expect([isCommitted, left.map(({ phase }) => phase)]).toEqual([true, ['unresolved']]);
  });

  test('one that is not there can’t be started', async () => {
    const error = await launchBrowser({ executablePath: '/nowhere/chromium' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining('/nowhere/chromium could not be started'),
    });
  });
  test('no browser is started for an invalid origin', async () => {
    const options = { executablePath: '/nowhere/chromium', allow: ['shop.example'] };
    const error = await launchBrowser(options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining('but that is not an origin'),
    });
  });
  test.each<unknown>([
    '/usr/bin/chromium',
    null,
    { executablePath: 1 },
    { allow: 'https://shop.example' },
  ])('%j is not an option', async (options) => {
    const error = await launchBrowser(options as never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bad_argument' });
  });
});
