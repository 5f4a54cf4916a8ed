/**
 * The names in docs/reference/kernel.md exist: files, names, titles of tests, codes, reasons. Every
 * number of the paper is there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUESTIONS_MAX } from '#agents';
import * as kernel from '#kernel';
import { Approvals, Assize, Delegations, Trajectory, TrajectoryWrits } from '#runtime';
import {
  codesIn,
  exportsName,
  matches,
  namedTests,
  pathOf,
  readFile,
  rowsOf as rowsOfPage,
  titlesOf,
} from './reference-page.ts';

const root = join(import.meta.dirname, '../..');
const read = readFile;
const page = read('docs/reference/kernel.md');
const rowsOf = (head: string): string[][] => rowsOfPage(page, head);

/** The words of a union of texts in a source. */
function unionIn(file: string, opening: string): string[] {
  const [, after] = read(file).split(opening);
  const [union = ''] = (after ?? '').split(/;$/m);
  return [...union.matchAll(/^\s*\| '(\w+)'/gm)].map(([, word = '']) => word);
}

/** The class of each receiver of a call on the page. */
const CALLED: Readonly<Record<string, { readonly prototype: object }>> = {
  assize: Assize,
  trajectory: Trajectory,
  'trajectory.approvals': Approvals,
  'trajectory.delegations': Delegations,
  'trajectory.writs': TrajectoryWrits,
};

const paper = rowsOf('paper').map(([what = '', code = '', tests = '']) => ({ what, code, tests }));

test('every number of the appendix is there, and every theorem, once', () => {
  const numbers = paper.flatMap(({ what }) => /^A\.(\d+) /.exec(what)?.[1] ?? []);
  expect(numbers.map(Number).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 69 }, (_, n) => n + 1),
  );
  const theorems = paper.flatMap(
    ({ what }) => /^((?:Theorem|Proposition|Corollary) \d\+?)/.exec(what)?.[1] ?? [],
  );
  expect(theorems.toSorted()).toEqual(
    ['Theorem 1', 'Theorem 2', 'Theorem 3', 'Theorem 4', 'Proposition 1', 'Corollary 1']
      .concat(['Theorem 1+', 'Theorem 3+', 'Proposition 1+', 'Corollary 1+'])
      .toSorted(),
  );
  expect(paper).toHaveLength(69 + 10);
});

test('every file exists and has the name, as an export or a member of one', () => {
  let names = 0;
  for (const { what, code } of paper) {
    let source = '';
    for (const token of codesIn(code)) {
      if (/\.ts$/.test(token)) {
        expect({ what, file: token, there: existsSync(join(root, pathOf(token))) }).toEqual({
          what,
          file: token,
          there: true,
        });
        source = read(pathOf(token));
      } else {
        names++;
        expect({ what, name: token, there: exportsName(source, token) }).toEqual({
          what,
          name: token,
          there: true,
        });
      }
    }
  }
  expect(names).toBeGreaterThan(90);
});

const named = paper.flatMap(({ what, tests }) =>
  namedTests(tests).map((one) => ({ what, ...one })),
);

test('every title is that of a test, in the file that is named', () => {
  for (const { what, file, title } of named) {
    const found = titlesOf(read(pathOf(file))).some((one) => matches(one, title));
    expect({ what, file, title, found }).toEqual({ what, file, title, found: true });
  }
  expect(named.length).toBeGreaterThan(80);
});

test('every item that is not a remark has a test, or a reason for none', () => {
  const without = paper.filter(({ what, tests }) => tests === '' && !what.endsWith('(remark)'));
  expect(without.map(({ what, code }) => [what, code.slice(0, 16)])).toEqual([
    ['A.58 Substitution', 'nothing to build'],
    ['A.59 Evaluation contexts', 'nothing to build'],
  ]);
});

test('every property that is named after a theorem is there', () => {
  const propositions = ['confinement', 'confinement-with-counselor'];
  for (const file of ['theorems', ...propositions].map(
    (name) => `tests/properties/${name}.test.ts`,
  )) {
    const here = named.filter((one) => one.file === file);
    const titles = titlesOf(read(file)).filter((title) =>
      /^(Theorem|Lemma|Corollary|\(i)/.test(title),
    );
    expect(titles.length).toBeGreaterThan(0);
    expect(titles.filter((title) => !here.some((one) => matches(title, one.title)))).toEqual([]);
  }
});

test('the typed rejections are those of the kernel, in their order', () => {
  const reasons = rowsOf('reason').map(([reason]) => codesIn(reason)[0]);
  const all = unionIn('packages/assize/src/kernel/judge/compiled.ts', 'readonly reason:');
  expect([...reasons, 'unjudged_call', 'invariant_rejected']).toEqual(all);
});

test('the kinds of rules and their options are those of the kernel', () => {
  const kinds = [
    ...read('packages/assize/src/kernel/domain/invariant.ts').matchAll(/readonly kind: '(\w+)'/g),
  ].map(([, kind]) => kind);
  expect(rowsOf('kind').map(([kind]) => kind)).toEqual(kinds);
  const options = rowsOf('option').map(([option]) => /\w+/.exec(codesIn(option)[0] ?? '')?.[0]);
  const declared = [
    ...read('packages/assize/src/kernel/domain/spec-shape.ts').matchAll(
      /\b(\w+): (?:fn|INDEX|z\.\w+\(|pointers|approvals)/g,
    ),
  ];
  for (const option of options)
    expect([
      option,
      declared.some(([, name]) => name === option) || /^(approvals|timeoutMs)$/.test(option ?? ''),
    ]).toEqual([option, true]);
});

test('the errors are those of the kernel, the runtime and the agents', () => {
  const general = unionIn('packages/assize/src/base/errors.ts', 'type GeneralCode =');
  const codes = (head: string): string[] =>
    rowsOf(head)
      .flatMap(([code]) => codesIn(code))
      .filter((code) => !general.includes(code));
  expect(codes('`KernelError`')).toEqual(
    unionIn('packages/assize/src/kernel/errors.ts', 'type KernelErrorCode ='),
  );
  expect(codes('`AgentError`')).toEqual(
    unionIn('packages/agents/src/agents/errors.ts', 'type AgentErrorCode ='),
  );
  const known = unionIn('packages/assize/src/runtime/errors.ts', 'type RuntimeErrorCode =');
  expect(codes('`RuntimeError`').filter((code) => !known.includes(code))).toEqual([]);
});

test('called methods exist, and the numbers are those of the sources', () => {
  const calls = [...page.matchAll(/`(trajectory|assize|trajectory\.\w+)\.(\w+)\(/g)];
  expect(calls.length).toBeGreaterThan(7);
  for (const [, of = '', name = ''] of calls) {
    expect([of, name, name in (CALLED[of]?.prototype ?? {})]).toEqual([of, name, true]);
  }
  for (const name of ['patternText', 'patternFromText', 'overlaps', 'contains']) {
    expect(page).toContain(`\`${name}\``);
    expect(kernel).toHaveProperty(name);
  }
  const numberIn = (file: string, name: string): string =>
    Number(
      new RegExp(`const ${name} = ([\\d_]+);`).exec(read(file))?.[1]?.replaceAll('_', ''),
    ).toLocaleString('en');
  expect(page).toContain(`1 to ${kernel.APPROVALS_MAX} different people`);
  expect(page).toContain(`more than ${QUESTIONS_MAX.toLocaleString('en')} questions`);
  expect(page).toContain(
    `at ${numberIn('packages/assize/src/kernel/errors.ts', 'DETAIL_MAX')} characters`,
  );
  expect(page).toContain(
    `at most ${numberIn('packages/assize/src/runtime/writer/prepared.ts', 'COMMIT_ATTEMPTS_MAX')} times`,
  );
});

test('the links lead somewhere', () => {
  const anchors = (text: string): string[] =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  const pages = readdirSync(join(root, 'docs/guide')).map((name) => read(`docs/guide/${name}`));
  const guide = [...pages.join('\n').matchAll(/\]\(\.\.\/reference\/kernel\.md(#[^)]+)?\)/g)];
  expect(guide.length).toBeGreaterThan(2);
  for (const [, anchor = ''] of guide) if (anchor !== '') links.push(anchor);
  for (const link of links) {
    const there = link.startsWith('#')
      ? anchors(page).includes(link.slice(1))
      : existsSync(join(root, 'docs/reference', link.split('#')[0]!));
    expect([link, there]).toEqual([link, true]);
  }
});

test('the domain with all kinds of rules rules as it says', () => {
  const folder = mkdtempSync(join(root, 'dist-reference-'));
  try {
    const code = /^```ts kinds\.ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
    writeFileSync(join(folder, 'kinds.ts'), code);
    writeFileSync(join(folder, 'use.ts'), USE);
    const printed = execFileSync(process.execPath, ['use.ts'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({
      ok: true,
      rulings: [
        'committed',
        'rejected NUMBERS',
        'rejected KNOWN',
        'rejected LIMIT',
        'committed',
        'escalated UNSEEN',
        'frozen undefined',
        'escalated UNSEEN',
        'committed',
        'rejected CAP',
      ],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const USE = `
import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { checkDomain } from '@assize/testing';
import { shop } from './kinds.ts';

const root = generateKeys();
const writ = issueWrit({
  issuer: root.publicKey, subject: 'agent:clerk', actions: ['**'], scopes: ['role:clerk'],
  not_before: '2026-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: '1',
}, root.privateKey);
const assize = new Assize({ store: await openStore('memory:'), domains: [shop], anchors: [root.publicKey] });
const initial = { cap: 100, limits: { ada: 50, ben: 90 }, orders: {} };
const trajectory = await assize.create(shop, { initial, writs: [writ] });
const rulings = [];
const note = (ruling) => {
  rulings.push(ruling.ruling + (ruling.ruling === 'committed' ? '' : ' ' + ruling.invariantId));
  return ruling;
};
const order = async (id, by, number, price) =>
  note(await trajectory.propose({ action: 'order', role: 'clerk', args: { id, by, number, price }, writ }));
await order('a', 'ada', '1', 10);
await order('b', 'ada', '1', 10);
await order('b', 'eve', '2', 10);
await order('b', 'ada', '2', 45);
await order('b', 'ada', '2', 40);
const { pending } = await order('c', 'ben', '3', 10);
await order('d', 'ben', '4', 10);
const one = note(await trajectory.approvals.approve(pending, { principal: 'boss:grace', method: 'test' }));
note(await trajectory.approvals.approve(one.pending, { principal: 'boss:hedy', method: 'test' }));
await order('d', 'ben', '4', 60);
console.log(JSON.stringify({ ok: checkDomain(shop, { runs: 100 }).ok, rulings }));
`;
