import { type BenchResult, percentile } from './measure.ts';
import { believed, said, type Ward } from './ward.ts';

/**
 * Number of periods of a key with a short history and of one with a long history, and number of
 * statements per proposal.
 */
const FEW_PERIODS = 10;
const MANY_PERIODS = 10_000;
const PERIODS_AT_ONCE = 500;
const SAMPLES = 300;

/**
 * Changes of a key with few periods, and of one with many, in turns; a change looks at the last of
 * them.
 */
export async function histories(
  { memories: [memory] }: Ward,
  store: string,
): Promise<BenchResult[]> {
  const at = (n: number): string =>
    `${new Date(Date.UTC(2000, 0, 1) + n * 60_000).toISOString().slice(0, 23)}000Z`;
  const lengths = [FEW_PERIODS, MANY_PERIODS];
  for (const length of lengths)
    for (let from = 0; from < length; from += PERIODS_AT_ONCE)
      await believed(
        memory.assertMany(
          Array.from({ length: Math.min(PERIODS_AT_ONCE, length - from) }, (_, i) => ({
            ...said(`with ${length} periods`, `drug ${from + i}`),
            valid: { from: at(from + i), to: at(from + i + 1) },
          })),
        ),
      );
  const times: [few: number[], many: number[]] = [[], []];
  for (let n = 0; n < SAMPLES; n++) {
    for (const [i, length] of lengths.entries()) {
      const { subject, predicate } = said(`with ${length} periods`, '');
      const start = performance.now();
      await believed(
        memory.change({ subject, predicate, object: `change ${n}`, from: at(length + n) }),
      );
      times[i]!.push((performance.now() - start) * 1_000);
    }
  }
  const [few, lots] = times.map((each) => percentile(each, 50)) as [number, number];
  const baseline = { name: `of a key with ${FEW_PERIODS}`, value: few };
  return [
    {
      name: `a change of a key with ${MANY_PERIODS} periods, ${store}: p50`,
      value: lots,
      unit: 'µs',
      baseline,
      ratio: lots / few,
    },
  ];
}
