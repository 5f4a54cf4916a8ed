import { DidNothing, declareTool, EffectError, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { LostResponse } from '../faulty.ts';
import { scaled } from '../measure.ts';
import { modeOf } from '../modes.ts';
import { seededFraction } from '../seeded-random.ts';
import { OPERATOR_WRIT, openStage, type Stage } from '../stage.ts';

const RUNS = 200;
/** Of a transaction. All of them have to be undone. */
const EFFECTS = 4;
const RATES = [0, 0.1, 0.3, 0.5, 1];

/**
 * How compensations fail. `for now`: each attempt is refused at random. `for good`: the
 * compensations of some effects are refused each time. `lost`: each compensation is executed, and
 * its answer is lost at random.
 */
const SORTS = ['for now', 'for good', 'lost'] as const;
type Sort = (typeof SORTS)[number];

export const compensation: Experiment = {
  name: 'compensation',
  about: 'what becomes of a transaction that is undone when its compensations fail',
  run: async (running) => [await tableOf(running)],
};

/** The results of the transactions of one cell. */
interface Sums {
  runs: number;
  /** Transactions that were compensated completely, without an unresolved effect. */
  clean: number;
  /** Effects that stand at the sink when all is done that can be done by itself. */
  standing: number;
  unresolved: number;
  inDoubt: number;
  /** Effects that stand and are not listed, or are listed as standing and do not. */
  mismatches: number;
  /**
   * Effects that stand after an operator has retried all unresolved effects, at a sink that works
   * again.
   */
  afterwards: number;
}

async function tableOf(running: Running): Promise<Table> {
  const settings = SORTS.flatMap((sort) => RATES.map((rate) => ({ sort, rate })));
  const runs = scaled(RUNS, running);
  const rows: Table['rows'][number][] = [];
  for (const { sort, rate } of settings) {
    const sums: Sums = {
      runs: 0,
      clean: 0,
      standing: 0,
      unresolved: 0,
      inDoubt: 0,
      mismatches: 0,
      afterwards: 0,
    };
    for (let run = 0; run < runs; run++) {
      await yieldToEventLoop(running);
      await undoOne(
        sums,
        sort,
        (n, attempt) => seededFraction('compensation', running.seed, sort, run, n, attempt) < rate,
      );
      running.progress(rows.length * runs + run + 1, settings.length * runs);
    }
    rows.push({ keys: [sort, rate], cells: cellsOf(sums) });
  }
  return {
    source: 'Compensations (§5)',
    title: `transactions of ${EFFECTS} effects that are undone, by how often a compensation fails`,
    keys: ['fails', 'cf'],
    columns: [
      'clean (%)',
      'left standing',
      'unresolved',
      'in doubt',
      'mismatches',
      'after a person',
    ],
    rows,
    notes: [
      `${runs} transactions a row, each of whose ${EFFECTS} effects has acted when it is undone. A compensation is tried three times. For now: each try is refused by chance. For good: those of some effects always. Lost: each is done, and its answer lost by chance, at a sink that knows keys.`,
      'Mismatches: effects that stand at the sink and are not left to a person, or are left as unresolved and do not stand. Nobody can tell of what is in doubt. After a person: what stands when they had all that was left tried again, and the sink was well.',
    ],
    plot: {
      sort: 'line',
      x: 'cf',
      y: 'transactions that leave nothing, %',
      columns: ['clean (%)'],
    },
  };
}

function cellsOf({
  runs,
  clean,
  standing,
  unresolved,
  inDoubt,
  mismatches,
  afterwards,
}: Sums): Cell[] {
  return [(100 * clean) / runs, standing, unresolved, inDoubt, mismatches, afterwards].map(
    (measured) => ({
      measured,
    }),
  );
}

async function undoOne(
  sums: Sums,
  sort: Sort,
  fails: (n: number, attempt: number) => boolean,
): Promise<void> {
  const sink = new Sink(sort, fails);
  const stage = await openStage({ mode: modeOf('Tx-Full'), tools: [sink.tool], retries: 0 });
  try {
    await aborted(stage);
    const left = await stage.assize.recoverEffects();
    const listed = new Set(left.map(({ key }) => key));
    const unresolved = left.filter(({ phase }) => phase === 'unresolved');
    const standing = sink.standing();
    sums.runs++;
    if (left.length === 0 && standing.size === 0) sums.clean++;
    sums.standing += standing.size;
    sums.unresolved += unresolved.length;
    sums.inDoubt += left.length - unresolved.length;
    sums.mismatches += [...standing].filter((key) => !listed.has(key)).length;
    sums.mismatches += unresolved.filter(({ key }) => !standing.has(key)).length;
    sink.isWell = true;
    for (const { epoch, n } of left)
      await stage.assize.resolveEffect({
        epoch,
        n,
        as: 'retry',
        by: 'human:tester',
        writ: OPERATOR_WRIT,
        evidence: 'the sink is well again',
      });
    sums.afterwards += sink.standing().size;
  } finally {
    await stage.close();
  }
}

class InVain extends Error {
  override readonly name = 'InVain';
}

async function aborted({ transact }: Stage): Promise<void> {
  try {
    await transact({ writes: ['thing:**'] }, async (tx) => {
      for (let n = 0; n < EFFECTS; n++) await tx.call('thing.make', { n });
      throw new InVain('it comes to nothing');
    });
  } catch (error) {
    if (!(error instanceof InVain) && !(error instanceof EffectError)) throw error;
  }
}

// Created once for all instances: the schema compiles its input check.
const MADE = z.strictObject({ n: z.int() });

/**
 * A sink that makes things and removes those whose compensations succeed. Its own log shows
 * the standing effects.
 */
class Sink {
  readonly tool: Tool;
  isWell = false;
  readonly #log: { readonly did: 'make' | 'take away'; readonly key: string }[] = [];
  readonly #attempts = new Map<number, number>();

  constructor(sort: Sort, fails: (n: number, attempt: number) => boolean) {
    this.tool = declareTool({
      name: 'thing.make',
      input: MADE,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['thing:{n}'],
      execute: (_, { key }) => {
        this.#log.push({ did: 'make', key });
        return null;
      },
      compensate: ({ n }, _, { key }) => {
        const attempt = this.#attempts.get(n) ?? 0;
        this.#attempts.set(n, attempt + 1);
        const isHit = !this.isWell && fails(n, sort === 'for good' ? 0 : attempt);
        if (isHit && sort !== 'lost') throw new DidNothing('it can’t be taken away now');
        this.#log.push({ did: 'take away', key });
        if (isHit) throw new LostResponse('the answer was lost');
        return { undone: 'all' };
      },
    });
  }

  standing(): Set<string> {
    const standing = new Set<string>();
    for (const { did, key } of this.#log) {
      if (did === 'make') standing.add(key);
      else standing.delete(key);
    }
    return standing;
  }
}
