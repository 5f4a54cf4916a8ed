/**
 * Contradictions of many concurrent writers, each in its own trajectory and partitions, beside
 * those of one of them, and beside what as many connections get done that each commit one row after
 * the other, where a server has them.
 */
import { type BenchResult, compare, type Rate, rateResult } from './measure.ts';
import { believed, openWard, said } from './ward.ts';

export const WRITERS = 16;
/** Patients of each writer. */
const PATIENTS = 20;

/** Commits one row by that connection. */
export type BareCommit = (connection: number) => Promise<unknown>;

export async function writersBench(
  where: string,
  url: string,
  bare?: BareCommit,
): Promise<BenchResult[]> {
  const ward = await openWard(url, { writers: WRITERS });
  let n = 0;
  const say = (writer: number): Promise<void> =>
    believed(ward.memories[writer]!.assert(said(`${writer} ${n++ % PATIENTS}`, `drug ${n}`)));
  try {
    const contradictions = await rates(`${where}: contradictions`, 'partitions of their own', say);
    // A single file has one writer at a time.
    if (bare === undefined) return results(contradictions);
    return [
      ...results(contradictions, { ratioMin: 2.5 }),
      ...results(await rates(`${where}: bare commits`, 'a row each', bare)),
    ];
  } finally {
    await ward.close();
  }
}

async function rates(
  what: string,
  where: string,
  step: (writer: number) => Promise<unknown>,
): Promise<[Rate, Rate]> {
  const [one, all] = await compare(
    [
      {
        name: `${what} of one writer`,
        run: async (count) => {
          for (let done = 0; done < count; done++) await step(0);
        },
      },
      {
        name: `${what} of ${WRITERS} writers, ${where}`,
        run: async (count) => {
          let left = count;
          const write = async (writer: number): Promise<void> => {
            while (left-- > 0) await step(writer);
          };
          await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
        },
      },
    ],
    { rounds: 7, roundMs: 300 },
  );
  return [one!, all!];
}

function results([one, all]: readonly [Rate, Rate], goal?: BenchResult['goal']): BenchResult[] {
  return [rateResult(one, undefined), rateResult(all, one, goal)];
}
