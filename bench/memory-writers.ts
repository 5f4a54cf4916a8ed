/** Contradictions of many writers at once, each in a trajectory and in partitions of its own, beside those of one of them. */
import { type BenchResult, compare, rateResult } from './measure.ts';
import { believed, openWard, said } from './ward.ts';

const WRITERS = 16;
/** Patients of each writer. */
const PATIENTS = 20;

export async function writersBench(where: string, url: string): Promise<BenchResult[]> {
  const ward = await openWard(url, { writers: WRITERS });
  let n = 0;
  const say = (writer: number): Promise<void> =>
    believed(ward.memories[writer]!.assert(said(`${writer} ${n++ % PATIENTS}`, `drug ${n}`)));
  try {
    const [one, all] = await compare(
      [
        {
          name: `${where}: contradictions of one writer`,
          run: async (count) => {
            for (let done = 0; done < count; done++) await say(0);
          },
        },
        {
          name: `${where}: contradictions of ${WRITERS} writers, partitions of their own`,
          run: async (count) => {
            let left = count;
            const write = async (writer: number): Promise<void> => {
              while (left-- > 0) await say(writer);
            };
            await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
          },
        },
      ],
      { rounds: 7, roundMs: 300 },
    );
    return [rateResult(one!, undefined), rateResult(all!, one, { ratioMin: 2.5 })];
  } finally {
    await ward.close();
  }
}
