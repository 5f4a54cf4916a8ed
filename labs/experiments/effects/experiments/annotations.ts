import { declaredTools, type ToolDeclaration } from '@assize/tools/internal/declared';
import {
  type CallContext,
  type CompensationResult,
  declareTool,
  EffectError,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { resolvesMeanwhile } from '../aliases/in-turn.ts';
import { claimsOf } from '../callers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { scaled } from '../measure.ts';
import { modeOf } from '../modes.ts';
import { seededFraction } from '../seeded-random.ts';
import { openStage, type Stage } from '../stage.ts';

const RUNS = 200;
/** The share of agent pairs that work on one thing. */
const SHARED = 0.5;
/** The share of agents that fail at the end. */
const FAILS = 0.3;

/** The wrong part of the tool declarations. */
const MISTAKES = [
  'nothing',
  'scopes too broad',
  'scopes too narrow',
  'wrong class',
  'no compensation',
] as const;
type Mistake = (typeof MISTAKES)[number];

export const annotations: Experiment = {
  name: 'annotations',
  about: 'tools that are declared wrong: lost updates, waits, leaks, and what is refused by name',
  run: async (running) => [await mistakesTable(running), refusalsTable()],
};

/** The results of the agent pairs under one mistake. */
interface Sums {
  runs: number;
  /** Runs after which a counter is not what was committed. */
  violations: number;
  /** Runs in which an agent waited for another one that works on something else. */
  waits: number;
  /** Mails and bookings of agents that came to nothing, at the sinks. */
  leaks: number;
  /** The effects that need a human decision. */
  listed: number;
  /** The agents that an error refused by name, because their scope has an unresolved effect. */
  refused: number;
}

async function mistakesTable(running: Running): Promise<Table> {
  const runs = scaled(RUNS, running);
  const rows: Table['rows'][number][] = [];
  for (const [m, mistake] of MISTAKES.entries()) {
    const sums: Sums = { runs: 0, violations: 0, waits: 0, leaks: 0, listed: 0, refused: 0 };
    for (let run = 0; run < runs; run++) {
      await yieldToEventLoop(running);
      await pairOf(sums, mistake, (...what) =>
        seededFraction('annotations', running.seed, run, ...what),
      );
      running.progress(m * runs + run + 1, MISTAKES.length * runs);
    }
    rows.push({ keys: [mistake], cells: cellsOf(sums) });
  }
  return {
    source: 'Annotation errors (§3.4)',
    title: 'two concurrent agents, with tools that are declared wrong',
    keys: ['wrong'],
    columns: [
      'lost updates',
      'waits for nothing',
      'leaks',
      'of these left to a person',
      'refused meanwhile',
    ],
    rows,
    notes: [
      `${runs} pairs of agents a row, half of them on one counter: each reads it, writes one more, books, and sends a mail; ${100 * FAILS} % fail at the end. Counters, bookings and mails are read off the sinks. A lost update: the counter is not the number of commits. A leak: a booking or mail of an agent that came to nothing. Refused meanwhile: agents who came to what is left to a person.`,
      'Too broad: one scope for all counters. Too narrow: each agent has a scope of its own. Wrong class: mail is said to be reversible and to act directly. No compensation: a booking is said to be reversible, and why it may stay.',
    ],
    plot: { sort: 'bar', x: 'wrong', y: 'how many' },
  };
}

function cellsOf({ violations, waits, leaks, listed, refused }: Sums): Cell[] {
  return [violations, waits, leaks, listed, refused].map((measured) => ({ measured }));
}

async function pairOf(
  sums: Sums,
  mistake: Mistake,
  chance: (...what: readonly (string | number)[]) => number,
): Promise<void> {
  const world = new World();
  const stage = await openStage({
    mode: modeOf('Tx-Full'),
    tools: world.toolsWith(mistake),
    retries: 0,
  });
  try {
    const isShared = chance('shared') < SHARED;
    const agents = [
      { who: 'one', item: 'x', fails: chance('fails', 0) < FAILS },
      { who: 'two', item: isShared ? 'x' : 'y', fails: chance('fails', 1) < FAILS },
    ] as const;
    const reads = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const older = worked(stage, world, agents[0], async () => {
      reads.resolve();
      await goOn.promise;
    });
    // Where it fails, it never comes so far.
    await Promise.race([reads.promise, older]);
    const younger = worked(stage, world, agents[1], async () => {});
    const isFree = await resolvesMeanwhile(younger);
    goOn.resolve();
    const came = await Promise.all([older, younger]);
    const left = await stage.assize.recoverEffects();
    sums.runs++;
    if (!world.isCorrect(came)) sums.violations++;
    if (!isShared && !isFree) sums.waits++;
    sums.leaks += world.leaks(came);
    sums.refused += came.filter((agent) => agent.came === 'refused').length;
    sums.listed += left.length;
  } finally {
    await stage.close();
  }
}

interface Agent {
  readonly who: string;
  readonly item: string;
  readonly fails: boolean;
}

interface Worked extends Agent {
  /** `refused`: something there is left to a person. */
  readonly came: 'committed' | 'in vain' | 'refused';
}

class InVain extends Error {
  override readonly name = 'InVain';
}

/** Reads, thinks, and writes what it makes of that. */
async function worked(
  { transact }: Stage,
  world: World,
  agent: Agent,
  thinks: () => Promise<void>,
): Promise<Worked> {
  const { who, item, fails } = agent;
  const calls = [
    { tool: 'counter.read', input: { item, who } },
    { tool: 'counter.write', input: { item, who, value: 0 } },
    { tool: 'room.book', input: { who } },
    { tool: 'mail.send', input: { who } },
  ];
  const claims = calls.map(({ tool, input }) => claimsOf(world.tool(tool), input));
  const options = {
    reads: claims.flatMap(({ reads }) => reads),
    writes: claims.flatMap(({ writes }) => writes),
  };
  try {
    const { ruling } = await transact(options, async (tx) => {
      const value = (await tx.call('counter.read', { item, who })) as number;
      await thinks();
      await tx.call('counter.write', { item, who, value: value + 1 });
      await tx.call('room.book', { who });
      await tx.call('mail.send', { who });
      if (fails) throw new InVain('it comes to nothing');
    });
    return { ...agent, came: ruling.ruling === 'committed' ? 'committed' : 'in vain' };
  } catch (error) {
    if (error instanceof InVain) return { ...agent, came: 'in vain' };
    if (error instanceof EffectError && error.code === 'resource_in_doubt')
      return { ...agent, came: 'refused' };
    throw error;
  }
}

// Created once for all instances: the schema compiles its input check.
const COUNTER = z.strictObject({ item: z.string(), who: z.string() });
const COUNTED = z.strictObject({ item: z.string(), who: z.string(), value: z.int() });
const PERSON = z.strictObject({ who: z.string() });

/** Counters, bookings and mails, as their sinks have them. */
class World {
  readonly #counters = new Map<string, number>();
  readonly #booked = new Map<string, string>();
  readonly #sent: string[] = [];
  #tools: readonly Tool[] = [];

  tool(name: string): Tool {
    return this.#tools.find((tool) => tool.name === name) as Tool;
  }

  isCorrect(agents: readonly Worked[]): boolean {
    return agents.every(({ item }) => {
      const committed = agents.filter(
        (agent) => agent.item === item && agent.came === 'committed',
      ).length;
      return (this.#counters.get(item) ?? 0) === committed;
    });
  }

  leaks(agents: readonly Worked[]): number {
    const inVain = new Set(agents.filter(({ came }) => came !== 'committed').map(({ who }) => who));
    return [...this.#booked.values(), ...this.#sent].filter((who) => inVain.has(who)).length;
  }

  toolsWith(mistake: Mistake): readonly Tool[] {
    const scope = SCOPES[mistake] ?? 'counter:{item}';
    const compensate = (_: unknown, __: unknown, { key }: CallContext): CompensationResult => {
      this.#booked.delete(key);
      return { undone: 'all' };
    };
    this.#tools = [
      declareTool({
        name: 'counter.read',
        input: COUNTER,
        class: 'read',
        reads: [scope],
        execute: ({ item }) => this.#counters.get(item) ?? 0,
      }),
      declareTool({
        name: 'counter.write',
        input: COUNTED,
        class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
        writes: [scope],
        execute: ({ item, value }) => {
          this.#counters.set(item, value);
          return null;
        },
        uncompensated: 'it is held until the commit',
      }),
      declareTool({
        name: 'room.book',
        input: PERSON,
        class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
        writes: ['room:{who}'],
        execute: ({ who }, { key }) => {
          this.#booked.set(key, who);
          return null;
        },
        ...(mistake === 'no compensation' ? { uncompensated: 'nobody minds' } : { compensate }),
      }),
      this.#mail(mistake === 'wrong class'),
    ];
    return this.#tools;
  }

  #mail(isWrong: boolean): Tool {
    const shared = {
      name: 'mail.send',
      input: PERSON,
      writes: ['mail:{who}'],
      execute: ({ who }: { readonly who: string }) => {
        this.#sent.push(who);
        return null;
      },
    };
    if (!isWrong)
      return declareTool({
        ...shared,
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      });
    return declareTool({
      ...shared,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      // As if a mail could be called back.
      compensate: () => ({ undone: 'all' }),
    });
  }
}

const SCOPES: Partial<Record<Mistake, string>> = {
  'scopes too broad': 'counter',
  'scopes too narrow': 'counter:{item}:{who}',
};

/** Declarations that say of themselves what is wrong with them. */
const REFUSED: readonly {
  readonly what: string;
  readonly change: { readonly [member: string]: unknown };
}[] = [
  { what: 'no class', change: { class: undefined } },
  {
    what: 'an unknown class',
    change: { class: { reversibility: 'maybe', delivery: 'buffered', sink: 'keyed' } },
  },
  { what: 'nothing that it writes', change: { writes: undefined } },
  { what: 'a scope that does not parse', change: { writes: ['room://{who}'] } },
  { what: 'a scope with a star in a word', change: { writes: ['room:x*'] } },
  { what: 'reversible, without compensation', change: { compensate: undefined } },
  {
    what: 'irreversible, with compensation',
    change: { class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' } },
  },
  {
    what: 'queryable, and nobody to ask',
    change: { class: { reversibility: 'reversible', delivery: 'buffered', sink: 'queryable' } },
  },
  {
    what: 'somebody to ask, and not queryable',
    change: { reconcile: () => ({ happened: false }) },
  },
  { what: 'only reads, and writes', change: { class: 'read', compensate: undefined } },
  { what: 'a malformed name', change: { name: 'Room Book' } },
  { what: 'no input', change: { input: undefined } },
  { what: 'nothing that it does', change: { execute: undefined } },
  { what: 'an unknown member', change: { undo: () => null } },
  { what: 'a member of another sort', change: { sensitive: 'yes' } },
];

/** The errors that two declarations show together: a key of one may be a key of the other. */
const OF_TWO: readonly { readonly what: string; readonly change: Partial<ToolDeclaration> }[] = [
  { what: 'a name that another tool has', change: {} },
  { what: 'keys that another tool may have', change: { name: 'room.hire' } },
];

const DECLARED: ToolDeclaration = {
  name: 'room.book',
  input: {
    type: 'object',
    properties: { who: { type: 'string' } },
    required: ['who'],
    additionalProperties: false,
  },
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['room:{who}'],
  key: 'room/{who}',
  execute: { call: 'book' },
};

function refusalsTable(): Table {
  const sound: ToolSpec = {
    name: 'room.book',
    input: PERSON,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['room:{who}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  };
  return {
    source: 'Annotation errors (§3.4)',
    title: 'declarations that are refused by name before anything is called',
    keys: ['declared with'],
    columns: ['answer'],
    rows: [
      ...REFUSED.map(({ what, change }) => ({
        keys: [what],
        cells: [{ measured: answerTo(() => declareTool({ ...sound, ...change } as ToolSpec)) }],
      })),
      ...OF_TWO.map(({ what, change }) => ({
        keys: [what],
        cells: [
          {
            measured: answerTo(() =>
              declaredTools([DECLARED, { ...DECLARED, ...change }], { book: () => null }),
            ),
          },
        ],
      })),
    ],
    notes: [
      'A scope that is too broad or too narrow, and a class that is not what the tool does, nobody can see by looking.',
    ],
  };
}

function answerTo(declare: () => unknown): string {
  try {
    declare();
    return 'taken';
  } catch (error) {
    if (error instanceof EffectError) return error.reason;
    throw error;
  }
}
