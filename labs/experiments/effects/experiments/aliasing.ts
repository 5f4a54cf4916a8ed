import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { CASES, type Case } from '../aliases/cases.ts';
import { resolvesMeanwhile } from '../aliases/in-turn.ts';
import { NAMINGS, type Naming, Worlds } from '../aliases/worlds.ts';
import type { Experiment, Running } from '../experiment.ts';
import { modeOf } from '../modes.ts';
import { openStage } from '../stage.ts';

const SORTS: readonly Case['of'][] = ['files', 'APIs', 'pages', 'orders'];
/** The possible faults of each naming. */
const MISTAKES = NAMINGS.flatMap((naming) => [`${naming}: missed`, `${naming}: false`]);

export const aliasing: Experiment = {
  name: 'aliasing',
  about: 'one thing by two names: conflicts that are missed, and waits for nothing',
  uses: [],
  run: async (running) => {
    const folder = await mkdtemp(join(tmpdir(), 'assize-aliasing-'));
    try {
      return [await aliasesTable(running, new Worlds(folder))];
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/**
 * The result of a case: whether the later transaction waited for the earlier one, in either order.
 */
interface Outcome {
  readonly of: Case['of'];
  readonly naming: Naming;
  readonly meet: boolean;
  readonly waited: boolean;
}

/** Each pair of names in each naming, in these worlds. */
export async function aliasesTable(
  running: Running,
  worlds: Pick<Worlds, 'meet' | 'scopeOf' | 'resolvers'>,
): Promise<Table> {
  const outcomes: Outcome[] = [];
  for (const [i, each] of CASES.entries()) {
    for (const naming of NAMINGS) {
      await yieldToEventLoop(running);
      const waits = [
        await waited(worlds, each, naming),
        await waited(worlds, turned(each), naming),
      ];
      for (const one of waits)
        outcomes.push({ of: each.of, naming, meet: worlds.meet(each), waited: one });
    }
    running.progress(i + 1, CASES.length);
  }
  const cellsOf = (sorts: readonly Case['of'][]): Cell[] => {
    const all = outcomes.filter(({ of }) => sorts.includes(of));
    const count = (of: readonly Outcome[]): Cell => ({ measured: of.length });
    return [
      count(all.filter(({ naming, meet }) => naming === 'resolved' && meet)),
      count(all.filter(({ naming, meet }) => naming === 'resolved' && !meet)),
      ...NAMINGS.flatMap((naming) => [
        count(all.filter((each) => each.naming === naming && each.meet && !each.waited)),
        count(all.filter((each) => each.naming === naming && !each.meet && each.waited)),
      ]),
    ];
  };
  return {
    source: 'Aliases (§4.3)',
    title:
      'two transactions that touch one thing by two names, or two things by names that look alike',
    keys: ['names of'],
    columns: ['one thing', 'two things', ...MISTAKES],
    rows: [
      ...SORTS.map((of) => ({ keys: [of], cells: cellsOf([of]) })),
      { keys: ['all'], cells: cellsOf(SORTS) },
    ],
    notes: [
      `${CASES.length} pairs of names, each in both orders: the older one stays at work until the younger has acted, or can't. Missed: it is one thing, or one inside of the other, and the younger acted immediately. False: it is two, and the younger waited. Read off the order in which the tool was called.`,
      'As written: names are scopes as they stand. Coarse: one scope for each sort. Resolved: adapters and resolvers. Of files, the disk of this machine says what is one; names that differ in Unicode form alone have one scope on any.',
    ],
    plot: { sort: 'bar', x: 'names of', y: 'pairs, in either order', columns: MISTAKES },
  };
}

function turned({ of, one, other, meet }: Case): Case {
  return { of, one: other, other: one, meet };
}

async function waited(
  worlds: Parameters<typeof aliasesTable>[1],
  { of, one, other }: Case,
  naming: Naming,
): Promise<boolean> {
  const acted: string[] = [];
  const resolvers = naming === 'resolved' ? { resolvers: worlds.resolvers } : {};
  const stage = await openStage({
    mode: modeOf('Tx-Full'),
    tools: [toolInto(acted)],
    ...resolvers,
  });
  try {
    const [first, second] = [one, other].map((name) => worlds.scopeOf(of, name, naming)) as [
      string,
      string,
    ];
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const older = stage.transact({ writes: [first] }, async (tx) => {
      begun.resolve();
      await goOn.promise;
      await tx.call('work.on', { scope: first, who: 'older' });
    });
    // Where it is refused, it never begins.
    await Promise.race([begun.promise, older]);
    const younger = stage.transact({ writes: [second] }, (tx) =>
      tx.call('work.on', { scope: second, who: 'younger' }),
    );
    await resolvesMeanwhile(younger);
    goOn.resolve();
    await Promise.all([older, younger]);
    return acted[0] === 'older';
  } finally {
    await stage.close();
  }
}

/** Acts when its transaction may. */
function toolInto(acted: string[]): Tool {
  return declareTool({
    name: 'work.on',
    input: z.strictObject({ scope: z.string(), who: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ({ scope }) => [scope],
    execute: ({ who }) => {
      acted.push(who);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
}
