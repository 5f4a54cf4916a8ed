/**
 * Many processes that propose to one trajectory, compared with one process with as many callers, in
 * alternation. Measures rulings per second, and the number of wasted adjudications of each. One of
 * the conflicting proposals always wins, so a conflict loses work and never a ruling.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Assize, type Domain, generateKeys, openStore } from 'assize';
import { type BenchResult, formatTable, median } from './measure.ts';
import { onPostgres } from './on-postgres.ts';
import { benchWrit, shop, shopState } from './shop.ts';

export const MEMBERS = 1_000;

/** The counts of one process in one round. */
export interface Round {
  readonly rulings: number;
  /** The number of adjudications: no proposal is refused before its code runs. */
  readonly adjudications: number;
}
const CONTENDER = fileURLToPath(new URL('./contender.ts', import.meta.url));
const ROUNDS = 3;
/**
 * Proposals per round: of the single process, and of each caller of the contending processes. Those
 * leave each other room.
 */
const ALONE = 1_000;
const EACH = 50;

export async function contentionBench(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    results.push(
      ...(await measure('SQLite', 4, 1, (name) => `sqlite:${join(folder, `${name}.db`)}`)),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const onServer = await onPostgres(async (base) => {
    const url = (name: string): string => `${base}?schema=${name}`;
    const found: BenchResult[] = [];
    for (const callers of [1, 8])
      found.push(...(await measure('PostgreSQL', 8, callers, (name) => url(`${name}_${callers}`))));
    return found;
  });
  return [...results, ...onServer];
}

async function measure(
  where: string,
  processes: number,
  callers: number,
  url: (name: string) => string,
): Promise<BenchResult[]> {
  const many = await Contenders.begin(url('many'), processes, callers);
  const one = await Contenders.begin(url('one'), 1, processes * callers);
  const rates: { readonly many: number; readonly one: number }[] = [];
  const wasted: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const [alone, together] = [
      await one.propose(ALONE),
      await many.propose(EACH * callers * processes),
    ];
    if (round < 0) continue;
    rates.push({ many: together.perSecond, one: alone.perSecond });
    wasted.push(together.wasted);
  }
  await many.end();
  await one.end();
  const name = `${where}: ${processes} processes on one trajectory, ${callers === 1 ? 'a caller' : `${callers} callers`} each`;
  const baseline = {
    name: `one process, ${processes * callers} callers`,
    value: median(rates.map((rate) => rate.one)),
  };
  return [
    {
      name,
      value: median(rates.map((rate) => rate.many)),
      unit: '/s',
      baseline,
      ratio: median(rates.map((rate) => rate.many / rate.one)),
    },
    { name: `${name}: adjudications in vain, per ruling`, value: median(wasted), unit: '' },
  ];
}

/** Processes that have a trajectory open. */
class Contenders {
  readonly #children: readonly ChildProcess[];
  readonly #outputs: readonly AsyncIterator<string>[];

  static async begin(url: string, processes: number, callers: number): Promise<Contenders> {
    const keys = generateKeys();
    const writ = benchWrit(keys, 't');
    const store = await openStore(url);
    const assize = new Assize({ store, domains: [shop as Domain], anchors: [keys.publicKey] });
    await assize.create(shop as Domain, { trajectoryId: 't', initial: shopState(MEMBERS) });
    await store.close();
    const args = [CONTENDER, url, keys.publicKey, JSON.stringify(writ)];
    const contenders = new Contenders(
      Array.from({ length: processes }, (_, i) =>
        spawn(process.execPath, [...args, String(i * 131), String(callers)], {
          stdio: ['pipe', 'pipe', 'inherit'],
        }),
      ),
    );
    await contenders.#lines();
    return contenders;
  }

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
    this.#outputs = children.map((child) => createInterface(child.stdout!)[Symbol.asyncIterator]());
  }

  /** The total number of proposals. */
  async propose(count: number): Promise<{ readonly perSecond: number; readonly wasted: number }> {
    const start = performance.now();
    for (const child of this.#children)
      child.stdin!.write(`${Math.ceil(count / this.#children.length)}\n`);
    const rounds = (await this.#lines()).map((line) => JSON.parse(line) as Round);
    const ms = performance.now() - start;
    const [rulings, adjudications] = [sum(rounds, 'rulings'), sum(rounds, 'adjudications')];
    return { perSecond: (rulings / ms) * 1_000, wasted: (adjudications - rulings) / rulings };
  }

  async end(): Promise<void> {
    const ended = this.#children.map((child) => once(child, 'exit'));
    for (const child of this.#children) child.stdin!.end();
    await Promise.all(ended);
  }

  /** The next line of each process. */
  async #lines(): Promise<string[]> {
    const lines = await Promise.all(this.#outputs.map((output) => output.next()));
    return lines.map(({ done, value }) => {
      if (done === true) throw new Error('a process that proposes has ended');
      return value;
    });
  }
}

function sum(rounds: readonly Round[], what: keyof Round): number {
  return rounds.reduce((total, round) => total + round[what], 0);
}

if (import.meta.main) console.log(formatTable(await contentionBench()));
