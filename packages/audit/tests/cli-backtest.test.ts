/** `assize lab backtest`, as a process of its own, on the ledger of the demo. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const store = 'sqlite:./assize-demo.db';
let folder: string;
async function assize(...args: readonly string[]): Promise<Ended> {
  const { err, ...ended } = await runCommand(folder, store, ...args);
  // A slow machine says how far it is.
  return { ...ended, err: err.replace(/^[a-z ]+: \d+\/\d+ \(\d+ %\).*\n/gm, '') };
}

const LENIENT = `
import { defineDomain } from 'assize';
import { udt } from '@assize/cli/unstable/domains/udt';
export const lenient = defineDomain({
  ...udt.declared,
  version: '2',
  invariants: udt.rules.map(({ spec }) => spec).filter(({ id }) => id !== 'DEFINITIVE_WINDOW'),
});
export const other = defineDomain({ ...udt.declared, name: 'other' });
`;
const STRICT = `
import { defineDomain } from 'assize';
import { udt } from '@assize/cli/unstable/domains/udt';
export const strict = defineDomain({
  ...udt.declared,
  version: '2',
  invariants: udt.rules.map(({ spec }) => (spec.id === 'RELAPSE_RESPONSE_IS_HUMAN' ? { ...spec, approvals: 2 } : spec)),
});
`;
const TABLE = {
  id: 'lab',
  otherwise: 'allow',
  rules: [
    {
      id: 'doctors-only',
      effect: 'deny',
      actions: ['respond_to_relapse'],
      because: 'Doctors only.',
    },
    { id: 'orders', effect: 'needs_approval', actions: ['order_test'] },
  ],
};
const SCHEMA = `
entity Principal; entity Role; entity Trajectory; action any;
action enroll, order_test, collect_sample, record_result, submit_claim, respond_to_relapse in [any]
  appliesTo { principal: [Principal], resource: [Trajectory], context: { role: String } };
`;
const CEDAR = `
permit(principal, action, resource);
@id("doctors-only") @because("Doctors only.") forbid(principal, action == Action::"respond_to_relapse", resource);
@id("orders") @approval("required") permit(principal, action == Action::"order_test", resource);
`;

beforeAll(async () => {
  // Inside the repository, so that `assize` is this package for the domains.
  folder = mkdtempSync(join(root, 'dist-backtest-'));
  expect((await assize('demo')).code).toBe(0);
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('lenient.ts', LENIENT);
  write('strict.ts', STRICT);
  write('table.json', JSON.stringify(TABLE));
  write('lab.cedar', CEDAR);
  write('lab.cedarschema', SCHEMA);
  write('broken.cedar', 'permit(principal,');
  write('broken.json', '{"id":"x"}');
  write('latin.cedar', '');
  writeFileSync(join(folder, 'latin.cedar'), Buffer.from([0x2f, 0x2f, 0xe9]));
  write('nothing.ts', 'export const nothing = 1;\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cedar = ['--policy', 'lab.cedar', '--schema', 'lab.cedarschema'];

describe('a ruling that would differ', () => {
  test('is printed, counted, and reported by the exit code', async () => {
    const { code, out, err } = await assize('lab', 'backtest', 'david-1', '--policy', 'table.json');
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(/^entry +action +was ruled +would be ruled +why$/m);
    expect(out).toMatch(
      /^david-1@2 +order_test +committed +escalated \(policy_needs_approval: orders\) +Rule orders applies\.$/m,
    );
    expect(out).toMatch(
      /^david-1@9 +respond_to_relapse +escalated \(RELAPSE_RESPONSE_IS_HUMAN\) +rejected \(policy_denied: doctors-only\) +Doctors only\.; the decision of seq 11 \(committed\) would not have been needed$/m,
    );
    expect(out).toMatch(/^Tried: the policy lab \([0-9a-f]{12}\)\.$/m);
    expect(out).toContain(
      '19 proposals adjudicated: 13 the same, 6 different (5 committed → escalated, 1 escalated → rejected).\n' +
        'Not adjudicated: 1 human decision on pending proposals; 1 of them would not have been needed.\n',
    );
  });

  test('is the same by a rule table and by Cedar, but for the words', async () => {
    const rulings = async (...args: string[]): Promise<unknown> => {
      const { code, out } = await assize('lab', 'backtest', 'david-1', '--json', ...args);
      expect(code).toBe(1);
      const { reports, ...sum } = JSON.parse(out) as any;
      return [
        sum,
        reports[0].differences.map(({ seq, now }: any) => [seq, now.ruling, now.reason, now.rule]),
      ];
    };
    expect(await rulings(...cedar)).toEqual(await rulings('--policy', 'table.json'));
  });

  test('under another domain version, with or without a policy, by any name', async () => {
    for (const domain of ['lenient.ts', 'udt@lenient.ts', './lenient.ts']) {
      const { code, out } = await assize('lab', 'backtest', 'david-1', '--domain', domain);
      expect(code).toBe(1);
      expect(out).toMatch(
        /^david-1@14 +submit_claim +rejected \(DEFINITIVE_WINDOW\) +committed +no longer: /m,
      );
      expect(out).toMatch(/^Tried: udt@2 \([0-9a-f]{12}\) for 1 \([0-9a-f]{12}\)\.$/m);
      expect(out).toContain('17 the same, 2 different (2 rejected → committed)');
    }
    const both = await assize(
      'lab',
      'backtest',
      'david-1',
      '--domain',
      'lenient.ts',
      ...cedar,
      '--limit',
      '3',
      '--json',
    );
    const { different, reports } = JSON.parse(both.out) as any;
    expect([both.code, different, reports[0].differences.length]).toEqual([1, 8, 3]);
  });

  test('with the approvers that it would need, if they differ', async () => {
    const { code, out } = await assize('lab', 'backtest', 'david-1', '--domain', 'strict.ts');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^david-1@9 +respond_to_relapse +escalated \(RELAPSE_RESPONSE_IS_HUMAN\) to 1 × \w+ +escalated \(RELAPSE_RESPONSE_IS_HUMAN\) to 2 × \w+ /m,
    );
    expect(out).toContain('18 the same, 1 different (1 escalated → escalated).\n');
    const json = await assize('lab', 'backtest', 'david-1', '--domain', 'strict.ts', '--json');
    const [{ differences }] = (JSON.parse(json.out) as any).reports;
    expect(differences).toMatchObject([{ recorded: { approvals: 1 }, now: { approvals: 2 } }]);
    expect(differences[0].recorded.channel).toBe(differences[0].now.channel);
  });

  test('nothing: exit 0', async () => {
    const { code, out, err } = await assize(
      'lab',
      'backtest',
      'david-1',
      'david-1',
      '--domain',
      'udt',
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      'Tried: only the recorded udt@1.\n19 proposals adjudicated: 19 the same, 0 different.\n' +
        'Not adjudicated: 1 human decision on pending proposals.\n',
    );
  });
});

test.each<[string[], RegExp]>([
  [['david-1'], /--policy FILE, --domain DOMAIN, or both/],
  [['--policy', 'table.json'], /missing required argument 'trajectory'/],
  [['nobody', '--policy', 'table.json'], /The store has no trajectory nobody/],
  [['david-1', '--policy', 'lab.cedar'], /Pass --schema FILE/],
  [
    ['david-1', '--policy', 'table.json', '--schema', 'lab.cedarschema'],
    /The option --schema needs a Cedar policy/,
  ],
  [['david-1', '--schema', 'lab.cedarschema'], /The option --schema needs a Cedar policy/],
  [['david-1', '--policy', 'none.json'], /none\.json cannot be read: the file does not exist/],
  [['david-1', '--policy', 'broken.json'], /broken\.json: .*otherwise/],
  [
    ['david-1', '--policy', 'broken.cedar', '--schema', 'lab.cedarschema'],
    /broken\.cedar: .*line 1, column 18: .*unexpected end of input/,
  ],
  [
    ['david-1', '--policy', 'latin.cedar', '--schema', 'lab.cedarschema'],
    /latin\.cedar is not UTF-8 text/,
  ],
  [
    ['david-1', '--policy', 'lab.cedar', '--schema', 'lab.cedar'],
    /lab\.cedar: The Cedar schema cannot be used/,
  ],
  [
    ['david-1', '--domain', 'budget'],
    /The trajectories have the domains udt, and --domain names budget/,
  ],
  [['david-1', '--domain', 'none.ts'], /The domain file .*none\.ts does not exist/],
  [['david-1', '--domain', 'nothing.ts'], /exports no domain/],
  [['david-1', '--domain', 'budget@lenient.ts'], /has no domain budget\. Name one of: udt, other/],
  [['david-1', '--domain', 'udt@none.ts'], /The domain file .*none\.ts does not exist/],
  [['david-1', '--policy', 'table.json', '--limit', '0'], /whole number from 1/],
])('%j is misuse, in one sentence', async (args, message) => {
  const { code, out, err } = await assize('lab', 'backtest', ...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
});
