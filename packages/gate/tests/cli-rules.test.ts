/** `assize rules`: reports, false alarms that become cases, and promotion. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openShop } from '../../../tests/support/gated-shop.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const UNTIL = '2099-01-01';
const RULES = `# The rules of the shop.
id: shop
tools: { shop/pay: { class: irreversible }, shop/look: { class: read } }
rules:
  - { id: look, allow: shop/look }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }], mode: enforce }
`;
const OBSERVING = RULES.replace('id: shop', `id: shop\nmode: observe\nuntil: ${UNTIL}`);

interface Desk {
  readonly folder: string;
  assize(...args: string[]): Promise<Ended>;
  json(...args: string[]): Promise<any>;
  pay(id: string, cents: number, to?: string): Promise<any>;
  reopen(): Promise<void>;
}

async function open(rules: string): Promise<Desk> {
  const shop = await openShop({ rules, timeoutMs: 1 });
  let { gate } = shop;
  const assize = (...args: string[]) => runCommand(shop.folder, shop.store, ...args);
  return {
    ...{ folder: shop.folder, assize },
    json: async (...args) => JSON.parse((await assize(...args, '--json')).out),
    pay: (id, cents, to = 'bob') =>
      gate.run({ run: 'r', id, tool: 'pay', args: { to, cents } }, async () => 'paid'),
    reopen: async () => {
      await gate.close();
      gate = await shop.open();
    },
  };
}

const counts = ({ rules }: any): unknown[] =>
  rules.map(({ set, rule, ruling, calls }: any) => [set, rule, ruling, calls]);

test('observed calls go on, are reported, and are refused after promotion', async () => {
  const { folder, assize, json, pay } = await open(OBSERVING);
  for (const [id, cents] of [
    ['a', 50],
    ['b', 500],
    ['c', 700],
  ] as const)
    expect(await pay(id, cents)).toMatchObject({ end: 'done' });
  expect(await pay('d', 10, 'mallory')).toMatchObject({ end: 'refused' });

  const report = await json('rules', 'report');
  expect(report.worlds).toMatchObject([{ id: 'shop', observing: { until: UNTIL } }]);
  expect(counts(report)).toEqual([
    ['observed', 'large', 'ask', 2],
    ['force', 'never', 'deny', 1],
  ]);
  expect(report.rules[0]).toMatchObject({
    agents: { ada: 2 },
    tools: { 'shop/pay': 2 },
    examples: [
      { call: 'r.c', args: { to: 'bob', cents: 700 }, why: 'the rule asks' },
      { call: 'r.b', args: { to: 'bob', cents: 500 } },
    ],
  });
  expect((await assize('rules', 'report')).out).toContain(`observing until ${UNTIL}`);

  const marked = await assize('rules', 'report', '--mark', 'r.b', '--rules', 'assize.yaml');
  expect(marked).toMatchObject({ code: 0, err: '' });
  expect((await assize('policy', 'test', 'assize.yaml')).out).toMatch(
    /false alarm r\.b .*shop\/pay +allow +ask +\[large\]/,
  );

  const promoted = await assize('rules', 'promote', 'assize.yaml', '--as', 'human:grace');
  expect(promoted).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'assize.yaml'), 'utf8')).toBe(RULES);
  expect(await pay('e', 900)).toMatchObject({ end: 'pending' });
  const [change] = (await json('rules', 'report')).changes;
  expect(change).toMatchObject({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    promoted: { by: 'human:grace', from: report.worlds[0].digest },
  });
  expect(await assize('rules', 'promote', 'assize.yaml', '--as', 'human:grace')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is already enforced'),
  });
}, 60_000);

test('a trial set judges beside the rules, and takes their place', async () => {
  const { folder, json, assize, pay, reopen } = await open(RULES);
  const trial = join(folder, 'assize.trial.yaml');
  writeFileSync(trial, OBSERVING.replace('min: 101', 'min: 41').replace('max: 100', 'max: 40'));
  await reopen();
  expect(await pay('a', 50)).toMatchObject({ end: 'done' });
  expect(await pay('b', 30)).toMatchObject({ end: 'done' });
  const report = await json('rules', 'report');
  expect(report.worlds).toMatchObject([{ trial: { id: 'shop', until: UNTIL } }]);
  expect({ tried: report.tried, counts: counts(report) }).toEqual({
    ...{ tried: 2, counts: [['trial', 'large', 'ask', 1]] },
  });
  expect(await assize('rules', 'promote', 'assize.yaml', '--as', 'human:grace')).toMatchObject({
    code: 0,
  });
  expect(existsSync(trial)).toBe(false);
  expect(await pay('c', 50)).toMatchObject({ end: 'pending' });
  // An edit of the file counts too, and is recorded as one.
  writeFileSync(join(folder, 'assize.yaml'), RULES);
  await reopen();
  const [edited, before] = (await json('rules', 'report')).changes;
  expect([edited.promoted, before.promoted.by]).toEqual([undefined, 'human:grace']);
}, 60_000);
