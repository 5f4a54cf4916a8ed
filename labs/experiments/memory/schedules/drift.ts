import { ISOS, type Iso, level } from '../isolation/index.ts';
import { type Belief, isDrifted, strongest } from './detect.ts';
import { execute } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import type { Schedule, Step } from './schedule.ts';

/** The sizes and contentions of Table 23. */
const SIZES: readonly number[] = [2, 4, 8, 16];
const CONTENTIONS: readonly number[] = [0.5, 0.75, 1];

/**
 * Table 23, "N2 partition" (Corollary 5): two revisions of confidence in a partition of each size.
 * They run concurrently with the probability of the contention, and serially otherwise. Each reads
 * the whole partition and corrects the current fact if its own revision makes it wrong. Only
 * concurrent revisions can leave the current fact wrong. The rate under RC and SI tends to the
 * contention, for every size.
 */
export function driftGrid(random: Bytes, schedules = 200): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const rows = ISOS.flatMap((iso) =>
    SIZES.flatMap((size) =>
      CONTENTIONS.map((contention): Row => {
        const row = {
          cell: { level: iso, size, contention },
          expected: iso === 'SR' ? 0 : contention,
          found: drifted(iso, size, contention, schedules, chance),
        };
        return { ...row, ...printed(iso, size, contention) };
      }),
    ),
  );
  return { name: 'N2 by partition', source: 'Corollary 5, Table 23', isExact: false, rows };
}

/**
 * The values of single cells that Table 23 prints: those of certain cells, and one that is not
 * certain.
 */
function printed(iso: Iso, size: number, contention: number): Pick<Row, 'reported' | 'because'> {
  if (iso === 'SR') return { reported: 0 };
  if (contention === 1) return { reported: 1 };
  if (iso !== 'RC' || size !== 2 || contention !== 0.5) return {};
  return { reported: 0.52, because: '104 of 200 schedules of another generator' };
}

function drifted(
  iso: Iso,
  size: number,
  contention: number,
  schedules: number,
  chance: RandomDraws,
): number {
  const belief: Belief = {
    cache: 'belief',
    rows: Array.from({ length: size }, (_, i) => `row${i}`),
  };
  let count = 0;
  for (let i = 0; i < schedules; i++) {
    const initial = partition(belief, chance);
    const steps = revisions(belief, chance, chance.isSo(contention));
    if (isDrifted(belief, execute(steps, level(iso), { initial }).values)) count += 1;
  }
  return count / schedules;
}

/** The first row is believed, with .9; the others have .5 or less. */
function partition({ cache, rows }: Belief, chance: RandomDraws): ReadonlyMap<string, number> {
  const confidences = rows.map((row, i): [string, number] => [
    row,
    i === 0 ? 0.9 : chance.next() / 2,
  ]);
  return new Map([[cache, 0], ...confidences]);
}

/** The believed row goes down to .7, another up to .8: either alone leaves the belief as it is. */
function revisions(belief: Belief, chance: RandomDraws, atOnce: boolean): Schedule {
  const other = 1 + chance.below(belief.rows.length - 1);
  const both = [revision(1, belief, 0, 0.7), revision(2, belief, other, 0.8)];
  if (!atOnce)
    return (chance.isSo(0.5) ? both : both.toReversed()).flatMap(({ reads, writes }) => [
      ...reads,
      ...writes,
    ]);
  // Both have read before either commits; beyond that in any order.
  return [
    ...chance.merged(both.map(({ reads }) => reads)),
    ...chance.merged(both.map(({ writes }) => writes)),
  ];
}

interface Revision {
  readonly reads: readonly Step[];
  readonly writes: readonly Step[];
}

function revision(tx: number, belief: Belief, place: number, confidence: number): Revision {
  const reads = [belief.cache, ...belief.rows].map((item): Step => ({ tx, kind: 'read', item }));
  const writes: Step[] = [
    { tx, kind: 'write', item: belief.rows[place]!, value: confidence },
    {
      tx,
      kind: 'write',
      item: belief.cache,
      value: (seen) =>
        seen.get(belief.cache) === strongest(belief, seen) ? undefined : strongest(belief, seen),
    },
    { tx, kind: 'commit' },
  ];
  return { reads, writes };
}
