import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  FORGER,
  type KeyCase,
  keyCases,
  NEW,
  OLD,
} from '../../../../../tests/support/ledger/key-cases.ts';
import {
  ChainWriter,
  commitMembers,
  RowsReader,
  rejectionMembers,
  rootMembers,
} from '../../../../../tests/support/ledger/rows.ts';
import { checkRow, type EntrySigner } from '../entry/entry-text.ts';
import { Replayer, verifyTrajectory } from '../replay/replay.ts';
import { runsOf } from '../replay/run.ts';
import { Chain } from './chain.ts';

async function faultsOf({ rows, named }: Pick<KeyCase, 'rows' | 'named'>): Promise<string[]> {
  const replayer = new Replayer(new RowsReader(rows), undefined, named && new Set(named));
  const names = [...new Set(rows.map(({ trajectory_id }) => trajectory_id))];
  const reports = await Promise.all(names.map((name) => verifyTrajectory(replayer, name)));
  return reports
    .flatMap(({ fault }) => (fault === undefined ? [] : [fault]))
    .map(
      ({ trajectory_id, seq, code, rule = 'no rule' }) => `${trajectory_id} ${seq} ${code} ${rule}`,
    )
    .sort();
}

test.each(keyCases)('$name', async ({ rows, named, faults }) => {
  expect(await faultsOf({ rows, ...(named && { named }) })).toEqual(faults);
});

type Signing = EntrySigner | undefined;
const signings = fc.array(fc.constantFrom<Signing>(undefined, OLD, NEW, FORGER), {
  minLength: 1,
  maxLength: 8,
});

function written(by: readonly Signing[]): ChainWriter {
  const writer = new ChainWriter('t');
  for (const [at, signer] of by.entries()) {
    const members = at === 0 ? rootMembers() : at % 2 === 0 ? commitMembers() : rejectionMembers();
    writer.push(
      writer.row(at === 0 ? 'root' : at % 2 === 0 ? 'commit' : 'rejection', members, signer),
    );
  }
  return writer;
}

test('after the first signed entry only its key is accepted (property)', async () => {
  await fc.assert(
    fc.asyncProperty(signings, async (by) => {
      const first = by.findIndex((signer) => signer !== undefined);
      const other =
        first < 0 ? -1 : by.findIndex((signer, at) => at > first && signer !== by[first]);
      const expected = other < 0 ? [] : [`t ${other} bad_signature place.signed`];
      expect(await faultsOf({ rows: written(by).rows })).toEqual(expected);
    }),
    { numRuns: cases(200) },
  );
});

test('a run joins only a chain with its key (property)', () => {
  fc.assert(
    fc.property(signings, (by) => {
      const entries = written(by).rows.map(checkRow);
      const [first, ...rest] = entries;
      const chain = new Chain('t');
      chain.accept(first!);
      for (const run of runsOf(rest)) {
        const of = new Set(
          rest
            .slice(run.seq - 1, run.seq - 1 + run.count)
            .map(({ payload }) => payload.signature?.key),
        );
        expect([...of]).toEqual([run.key]);
        const isNext = chain.seq === run.seq;
        expect(chain.join(run)).toBe(isNext && run.key === chain.key);
      }
    }),
    { numRuns: cases(200) },
  );
});
