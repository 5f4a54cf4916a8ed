/**
 * The main job on the shop of tau-bench: the 70 solutions of its tasks, as the command line runs
 * them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash, WORLD_LIMITS } from 'assize/internal/canon';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { retailRecordsOf } from '../../../examples/domains/retail/index.ts';
import { smallWorld } from '../../../examples/domains/retail/testing/small-world.ts';
import type { AdjudicationReport } from '../../../examples/domains/tau/index.ts';
import { dataPath, hasData } from '../../../tests/data.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const data = (name: string): string => dataPath('tau-retail', name);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-retail-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, undefined, ...args);

describe.skipIf(!hasData('tau-retail'))(
  'the shop’s job (tau-retail, absent without ASSIZE_DATA)',
  () => {
    async function adjudicated(
      store: string,
      ...args: string[]
    ): Promise<{ code: number | null; report: AdjudicationReport }> {
      const { code, out } = await assize(
        ...[
          'assize-experiments',
          'adjudicate',
          'retail',
          '--data',
          dataPath('tau-retail'),
          '--tasks',
          data('tasks.json'),
        ],
        ...['--expected', data('expected-tasks.jsonl'), '--json', '--store', `sqlite:./${store}`],
        ...args,
      );
      return { code, report: JSON.parse(out) };
    }

    const sums = ({ results, seconds, ...report }: AdjudicationReport) => report;

    test('without the policy 70 solutions leave the records of the benchmark tools', async () => {
      const { code, report } = await adjudicated('tools.db', '--no-invariants');
      expect(report.results.filter(({ differences }) => differences?.length !== 0)).toEqual([]);
      expect({ code, ...sums(report) }).toEqual({
        code: 0,
        runs: 70,
        proposals: 93,
        committed: 90,
        rejected: {},
        escalated: 0,
        tool_errors: 3,
        entries: 1 + 70 + 93,
        verified: true,
        identical: 70,
      });
    });

    describe('under the policy', () => {
      let report: AdjudicationReport;
      const store = ['--store', 'sqlite:./policy.db'];

      beforeAll(async () => {
        const done = await adjudicated('policy.db');
        // One solution is not what the benchmark expects, and that is a negative finding.
        expect(done.code).toBe(1);
        report = done.report;
      });

      test('69 match; the other breaks the policy by exchanging an item for itself', () => {
        expect(sums(report)).toEqual({
          runs: 70,
          proposals: 93,
          committed: 89,
          rejected: { OPTION_DIFFERS: 1 },
          escalated: 0,
          tool_errors: 3,
          entries: 1 + 70 + 93,
          verified: true,
          identical: 69,
        });
        const different = report.results.filter(({ differences }) => differences?.length !== 0);
        expect(different.map(({ task_id }) => task_id)).toEqual([18]);
        expect(different[0]?.calls).toMatchObject([
          {
            name: 'exchange_delivered_order_items',
            ruling: 'rejected',
            invariant_id: 'OPTION_DIFFERS',
          },
        ]);
      });

      test('verify agrees, from the file alone, and so does a deep replay', async () => {
        const { code, out } = await assize('verify', '--deep', '--json', ...store);
        expect(code).toBe(0);
        expect(JSON.parse(out)).toMatchObject({ valid: true, trajectories: 71, entries: 164 });
      });

      test('an agent is granted the user that it authenticated and no other', async () => {
        const run = report.results.find(({ task_id }) => task_id === 64);
        const { out } = await assize('log', run?.trajectory_id as string, '--json', ...store);
        const [branch, first] = JSON.parse(out).log as { id: string }[];
        const shown = JSON.parse(
          (await assize('show', branch?.id as string, '--json', ...store)).out,
        );
        expect(JSON.stringify(shown.payload.writs)).toContain('role:agent:james_sanchez_3954');
        const { payload } = JSON.parse(
          (await assize('show', first?.id as string, '--json', ...store)).out,
        );
        expect(payload.intent.role).toEqual({
          name: 'agent',
          params: { user: 'james_sanchez_3954' },
        });
      });

      test('the state hash of a run is that of the state which its ledger folds into', async () => {
        const run = report.results.find(({ task_id }) => task_id === 20);
        const { out } = await assize('state', run?.trajectory_id as string, '--json', ...store);
        expect(contentHash(retailRecordsOf(JSON.parse(out).state) as never, WORLD_LIMITS)).toBe(
          run?.state_hash,
        );
      });
    });
  },
);

describe('a small shop', () => {
  const call = (name: string, args: unknown) => ({ name, arguments: args });
  const found = call('find_user_id_by_email', { email: 'ann@example.com' });
  const cancel = (order_id: string) =>
    call('cancel_pending_order', { order_id, reason: 'no longer needed' });

  async function ruled(...actions: object[]): Promise<AdjudicationReport['results'][0]['calls']> {
    for (const [name, records] of Object.entries(retailRecordsOf(smallWorld()))) {
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(records));
    }
    writeFileSync(join(folder, 'small.json'), JSON.stringify([{ task_id: 1, actions }]));
    const files = ['--data', '.', '--tasks', 'small.json', '--store', 'sqlite:./small.db'];
    const { code, out } = await assize(
      'assize-experiments',
      'adjudicate',
      'retail',
      '--json',
      ...files,
    );
    expect(code).toBe(0);
    return JSON.parse(out).results[0].calls;
  }

  test('a call without or before authentication is rejected', async () => {
    expect(await ruled(cancel('P'))).toMatchObject([
      { ruling: 'rejected', reason: 'type_mismatch' },
    ]);
    expect(await ruled(cancel('P'), found, cancel('P'))).toMatchObject([
      { ruling: 'rejected', reason: 'type_mismatch' },
      { ruling: 'committed' },
    ]);
  });

  test('a user located later is not the subject of the conversation', async () => {
    const other = call('find_user_id_by_email', { email: 'bob@example.com' });
    const back = call('return_delivered_order_items', {
      order_id: 'B',
      item_ids: ['shirt-red'],
      payment_method_id: 'card',
    });
    expect(await ruled(found, other, back)).toMatchObject([
      { ruling: 'tool_error', message: 'order not found' },
    ]);
  });

  test('bad records are refused by file and place, before there is a store', async () => {
    const { users, products } = retailRecordsOf(smallWorld());
    const records = { users, products, orders: { P: { order_id: 'P' } } };
    for (const [name, value] of Object.entries(records)) {
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(value));
    }
    const files = ['--data', '.', '--tasks', 'small.json', '--store', 'sqlite:./none.db'];
    const { code, err } = await assize('assize-experiments', 'adjudicate', 'retail', ...files);
    expect(code).toBe(2);
    expect(err).toMatch(/orders\.json, \/P\/user_id: /);
  });
});
