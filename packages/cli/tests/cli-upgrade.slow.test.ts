/** `assize upgrade` on the ledger of a till, with a pending payment. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';

const root = join(import.meta.dirname, '../../..');
const here = inTillFolder();
const { assize, json, refused, file, till, anchorKey, entries } = here;

/** A version of the till's domain. `more`: what differs. */
const version = (n: number, more: string, exports = ''): string => `
import { defineDomain, escalate, invariant, pass, reject } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
import { till as first } from './till.ts';
const rules = first.rules.map(({ spec }) => spec);
const { state, initial } = first.declared;
const second = defineDomain({ ...first.declared, invariants: rules, version: '${n}', ${more} });
export { second as till };
${exports}
`;
const NOTED = `state: state.extend({ note: z.string() }), initial: { ...initial, note: '' }`;
const MIGRATE = `export function migrate(state) { state.note = 'from version 1'; }`;
const AT_MOST_TWO = `invariants: [
  invariant('AT_MOST_TWO', ['/payments'], ({ payments }) =>
    payments.length <= 2 ? pass : reject(payments.length + ' payments, at most 2'),
    { overridable: true }),
  ...rules,
]`;

const NEVER_MORE = AT_MOST_TWO.replace('overridable: true', 'overridable: false');

const OTHER = 'ab'.repeat(32);

let store: string[];
/** `assize upgrade till-1` to the version in a file, with the anchor's key. */
const to = (name: string, ...more: string[]): string[] => {
  const domain = ['--domain', file(`v-${name}.ts`, VERSIONS[name]!)];
  return [
    'upgrade',
    'till-1',
    ...domain,
    '--reason',
    'a new version',
    '--key',
    'till.key',
    ...more,
    ...store,
  ];
};

const VERSIONS: Readonly<Record<string, string>> = {
  noted: version(2, NOTED, MIGRATE),
  unasked: version(3, 'invariants: rules.slice(0, 1)'),
  tight: version(4, AT_MOST_TWO),
  strict: version(10, NEVER_MORE),
  several: version(
    5,
    '',
    `export const other = defineDomain({ ...first.declared, version: '6' });`,
  ),
  foreign: version(7, `name: 'another'`),
  unmigrated: version(8, NOTED),
  constant: version(9, NOTED, 'export const migrate = 1;'),
};

beforeEach(() => {
  store = till();
  anchorKey();
});

const HEX = /\b[0-9a-f]{12}\b/g;
const known = (text: string): string => text.replace(HEX, '#'.repeat(12));

async function pendingId(): Promise<string> {
  return (await json(0, 'pending', ...store)).pending[0].id;
}

describe('an upgrade', () => {
  test('takes the version and the migration from the config', async () => {
    file('v-config.ts', VERSIONS['noted']!);
    file(
      'assize.config.ts',
      "import { migrate, till } from './v-config.ts';\nexport default { domains: [till], migrations: { till: migrate } };\n",
    );
    const made = await json(
      0,
      'upgrade',
      'till-1',
      '--reason',
      'a note',
      '--key',
      'till.key',
      ...store,
    );
    expect(made).toMatchObject({
      ruling: 'committed',
      patches: [{ op: 'add', path: '/note', value: 'from version 1' }],
    });
  });

  test('is tried, and then made, as JSON', async () => {
    const waiting = await pendingId();
    const before = await entries(...store);
    const { not_overridable, ...tried } = await json(0, ...to('noted', '--dry-run'));
    expect(not_overridable).toEqual(['CAP', 'LARGE']);
    expect(tried).toEqual({
      ruling: 'committed',
      dry_run: true,
      trajectory_id: 'till-1',
      from: { name: 'till', version: '1', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      to: { name: 'till', version: '2', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      patches: [{ op: 'add', path: '/note', value: 'from version 1' }],
      vector: [
        { invariant_id: 'CAP', result: 'pass' },
        { invariant_id: 'LARGE', result: 'pass' },
      ],
      carried: [waiting],
      closed: [],
    });
    expect(await entries(...store)).toEqual(before);
    const made = await json(0, ...to('noted'));
    const place = { seq: before.length, entry_id: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(made).toEqual({ ...tried, dry_run: false, ...place });
    expect((await assize('log', 'till-1', ...store)).out).toMatch(/assize\.upgrade +committed/);
    expect((await json(0, 'state', 'till-1', '--pointer', '/note', ...store)).state).toBe(
      'from version 1',
    );
    expect(await pendingId()).toBe(waiting);
    expect((await assize('verify', ...store)).code).toBe(0);
  });

  test('a dry run prints its changes and the pending proposals as text', async () => {
    const waiting = (await pendingId()).slice(0, 12);
    const tried = await assize(...to('noted', '--dry-run'));
    const told = 'upgraded from till@1 (############) to till@2 (############), with 1 change';
    const changes = '  add /note\n  ############ stays pending\n';
    const rules =
      '  no approval overrides a rejection by CAP, LARGE; declare overridable where one may\n';
    expect({ ...tried, out: known(tried.out) }).toEqual({
      code: 0,
      out: `would be ${told}\n${changes}${rules}`,
      err: '',
    });
    expect(tried.out).toContain(`${waiting} stays pending`);
    const made = await assize(...to('noted'));
    expect({ ...made, out: known(made.out) }).toEqual({
      code: 0,
      out: `${told}, by ############\n${changes}`,
      err: '',
    });
  });

  test('closes a proposal that is different under the new version', async () => {
    const waiting = await pendingId();
    const { out } = await assize(...to('unasked', '--dry-run'));
    expect(out).toMatch(new RegExp(`^  ${waiting.slice(0, 12)} is closed: .+$`, 'm'));
    const { carried, closed } = await json(0, ...to('unasked'));
    expect({ carried, closed }).toEqual({
      carried: [],
      closed: [{ id: waiting, detail: expect.any(String) }],
    });
    expect((await json(0, 'pending', ...store)).pending).toEqual([]);
  });
});

describe('a refused upgrade', () => {
  test('is a result: exit 1, with the rule', async () => {
    const why = {
      reason: 'invariant_rejected',
      detail: expect.stringContaining('at most 2'),
      invariant_id: 'AT_MOST_TWO',
    };
    const tried = await json(1, ...to('tight', '--dry-run'));
    expect(tried).toMatchObject({
      ruling: 'rejected',
      dry_run: true,
      trajectory_id: 'till-1',
      ...why,
    });
    expect(tried).not.toHaveProperty('seq');
    const text = await assize(...to('tight', '--dry-run'));
    expect(text).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^would be rejected: .*at most 2 \(AT_MOST_TWO\)\n {2}no approval overrides .*\n$/,
      ),
    });
    const made = await json(1, ...to('tight'));
    expect(made).toMatchObject({ ruling: 'rejected', dry_run: false, seq: 6, ...why });
    expect((await entries(...store)).at(-1)).toMatchObject({ seq: 6, kind: 'rejection' });
    expect((await assize(...to('tight'))).out).toMatch(/^rejected: .* \(AT_MOST_TWO\)\n$/);
  });

  test('without the migration says what does not fit', async () => {
    const { reason, detail, invariant_id } = await json(1, ...to('unmigrated', '--dry-run'));
    expect({ reason, detail, invariant_id }).toEqual({
      reason: 'type_mismatch',
      detail: expect.stringContaining('note'),
      invariant_id: null,
    });
  });

  test('is committed by a counselor that overrides', async () => {
    const made = await json(0, ...to('tight', '--override', 'boss:ann'));
    expect(made).toMatchObject({
      ruling: 'committed',
      vector: [{ invariant_id: 'AT_MOST_TWO', result: 'reject' }, {}, {}],
    });
  });

  test('lists the rules without override', async () => {
    const says =
      /no approval overrides a rejection by AT_MOST_TWO.*; declare overridable where one may/;
    for (const more of [['--dry-run'], ['--override', 'boss:ann']])
      expect(await assize(...to('strict', ...more))).toMatchObject({
        code: 1,
        out: expect.stringMatching(says),
      });
    expect((await json(1, ...to('strict', '--dry-run'))).not_overridable).toContain('AT_MOST_TWO');
    expect((await json(1, ...to('tight', '--dry-run'))).not_overridable ?? []).not.toContain(
      'AT_MOST_TWO',
    );
  });

  test('the text says that an upgrade was overridden', async () => {
    const { code, out } = await assize(...to('tight', '--override', 'boss:ann'));
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^ {2}overridden AT_MOST_TWO: .*at most 2$/m),
    ]);
  });
});

const without = (args: readonly string[], option: string): string[] =>
  args.toSpliced(args.indexOf(option), 2);
const replaced = (args: readonly string[], option: string, value: string): string[] =>
  args.with(args.indexOf(option) + 1, value);

describe('misuse is an error, as a sentence and as JSON, and records nothing', () => {
  test.each<[string, () => string[], string, RegExp]>([
    [
      'another counselor',
      () => to('tight', '--override', 'clerk:bob'),
      'unauthorised_counselor',
      /clerk:bob/,
    ],
    [
      'another domain',
      () => to('foreign'),
      'bad_input',
      /exports no version of till\. Export the new version only/,
    ],
    ['several versions', () => to('several'), 'bad_input', /exports 2 versions of till/],
    [
      'a migrate that is not a function',
      () => to('constant'),
      'bad_input',
      /migrate of .* is not a function/,
    ],
    [
      'the version in force',
      () => replaced(to('noted'), '--domain', 'till.ts'),
      'already_done',
      /till@1/,
    ],
    [
      'a missing file',
      () => replaced(to('noted'), '--domain', 'none.ts'),
      'unreadable_file',
      /none\.ts does not exist/,
    ],
    [
      'an unknown trajectory',
      () => to('noted').with(1, 'till-9'),
      'not_found',
      /no trajectory till-9/,
    ],
    [
      'a key that is not an anchor',
      () => replaced(to('noted'), '--key', file('o.key', OTHER)),
      'usage',
      /not an anchor/,
    ],
    ['no key', () => without(to('noted'), '--key'), 'usage', /no root key.*--key FILE/],
    ['no reason', () => without(to('noted'), '--reason'), 'usage', /--reason <text>/],
    [
      'no domain',
      () => without(to('noted'), '--domain'),
      'usage',
      /no other version of till.*--domain FILE/,
    ],
  ])('%s', async (_, args, code, saying) => {
    const before = await entries(...store);
    await refused(args(), saying);
    const { out } = await assize(...args(), '--json');
    expect(JSON.parse(out).error.code).toBe(code);
    expect(await entries(...store)).toEqual(before);
  });

  test('a second upgrade to the same version', async () => {
    await json(0, ...to('noted'));
    await refused(to('noted'), /till@2/);
  });
});
