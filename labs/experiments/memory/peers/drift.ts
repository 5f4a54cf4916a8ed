import type { Verdict } from './peer.ts';

/**
 * The contents of one partition in a memory: the confidence of each fact, and the fact that is
 * noted as current.
 */
export interface MemoryContents {
  readonly confidences: Readonly<Record<string, number>>;
  readonly believed?: string;
}

/** One of two writers of a memory, each in its own process. */
export interface Reviser {
  read(): Promise<MemoryContents>;
  /**
   * This write and the next one apply to the state of the last read.
   * @throws if the memory refuses the write, for example because a row has changed since the read
   */
  revise(who: string, confidence: number): Promise<void>;
  believe(who: string): Promise<void>;
}

/** Either revision alone leaves the first the strongest, and both together do not. */
const REVISED = [
  ['Bob', 0.7],
  ['Carol', 0.8],
] as const;

/** The initial facts of the partition. The first one holds. */
export const BEGUN: Readonly<Record<string, number>> = { Bob: 0.9, Carol: 0.5 };
export const BELIEVED_FIRST = 'Bob';

/**
 * N2 (Corollary 5, D1): two writers revise the confidence of different rows. Each reads the
 * partition, and corrects the current fact if its own revision makes it wrong. The first pass is
 * serial and must end correctly. Otherwise N2 is not applicable. In the second pass, both writers
 * read before either writes. `begun` creates another memory each time, with `BEGUN` in it.
 */
export async function judgeDrift(
  begun: () => Promise<readonly [Reviser, Reviser]>,
): Promise<{ readonly n2: Verdict; readonly seen: string }> {
  const inTurn = await begun();
  const first = await inTurn[0].read();
  if (Object.entries(BEGUN).some(([who, confidence]) => first.confidences[who] !== confidence))
    return {
      n2: '-',
      seen: `N2 is not applicable: of ${saidOf({ confidences: BEGUN, believed: BELIEVED_FIRST })}, as it was said, ${saidOf(first)} comes back.`,
    };
  for (const [n, one] of inTurn.entries()) await write(one, n, await one.read());
  const after = await inTurn[0].read();
  if (isWrong(after))
    return {
      n2: '-',
      seen: `N2 is not applicable: also one after the other they leave ${saidOf(after)}.`,
    };
  const atOnce = await begun();
  const held = [await atOnce[0].read(), await atOnce[1].read()] as const;
  const refusals: string[] = [];
  for (const [n, one] of atOnce.entries())
    await write(one, n, held[n]!).catch((error: unknown) => refusals.push(String(error)));
  const left = await atOnce[0].read();
  const refused =
    refusals.length === 0 ? '' : ` One was refused: ${refusals.join(', ').replace(/\.$/, '')}.`;
  return {
    n2: isWrong(left) ? 'A' : 'X',
    seen: `Two processes revise how sure it is, and keep what is believed as one more memory: one after the other they leave ${saidOf(after)}; where both have read before either writes, ${saidOf(left)}.${refused}`,
  };
}

async function write(one: Reviser, n: number, held: MemoryContents): Promise<void> {
  const [who, confidence] = REVISED[n]!;
  await one.revise(who, confidence);
  const best = strongest({ ...held.confidences, [who]: confidence });
  if (best !== held.believed) await one.believe(best);
}

function isWrong({ confidences, believed }: MemoryContents): boolean {
  return strongest(confidences) !== believed;
}

function strongest(confidences: MemoryContents['confidences']): string {
  return Object.entries(confidences).reduce(
    (best, one) => (one[1] > best[1] ? one : best),
    ['', -1],
  )[0];
}

function saidOf({ confidences, believed = 'nobody' }: MemoryContents): string {
  const all = Object.entries(confidences).map(([who, confidence]) => `${who} ${confidence}`);
  return `${all.length === 0 ? 'nothing' : all.join(' and ')} with ${believed} believed`;
}
