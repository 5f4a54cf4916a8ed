/**
 * The calls and source files of a proposal under two rules, and of a statement of a memory, as the
 * engine counts them. They vary by a few calls, because the engine inlines some functions.
 * `npm run size` holds the figures to their limits. Run it alone: `node bench/code-path.ts`.
 */
import { Session } from 'node:inspector/promises';
import { createAssize, defineDomain, escalate, pass, reject } from 'assize';
import { z } from 'zod';
import { type BenchResult, formatTable } from './measure.ts';

/** The most calls and files of each operation. Lower a limit when its figure falls. */
const LIMITS = {
  'a proposal under 2 rules': { calls: 567, files: 98 },
  'a statement of a memory': { calls: 1_475, files: 125 },
};

const domain = defineDomain({
  name: 'spending',
  version: '1',
  state: z.object({ spent: z.number(), ok: z.boolean().optional() }),
  initial: { spent: 0 },
  processes: { spending: { writes: ['/spent', '/ok'] } },
  roles: { buyer: { processes: ['spending'] } },
  actions: {
    spend: {
      process: 'spending',
      args: z.object({ euros: z.number().positive() }),
      apply: (state, { euros }) => {
        state.spent += euros;
      },
    },
  },
  counselors: { manager: () => true },
  memory: { predicates: { takes: { cardinality: 'single-valued', strategy: 'lww' } } },
  invariants: ({ invariant }) => [
    invariant('CAP', ['/spent'], ({ spent }) => (spent <= 1_000 ? pass : reject('too much'))),
    invariant(
      'ASK',
      ['/spent', '/ok'],
      ({ spent, ok }) => (spent <= 500 || ok === true ? pass : escalate('a manager must see it')),
      {
        channel: 'manager',
        onApprove: (state) => {
          state.ok = true;
        },
      },
    ),
  ],
});

/** Each operation, after a first one that did what only a first one does. */
export async function codePathBench(): Promise<BenchResult[]> {
  const world = await createAssize({ store: 'memory:', domain });
  const propose = () => world.propose({ action: 'spend', role: 'buyer', args: { euros: 1 } });
  const memory = world.trajectory.memory({ space: 's', writ: world.writ });
  const valid = { from: '2026-01-01T00:00:00Z' };
  const state = (object: string) =>
    memory.assert({ subject: 'a', predicate: 'takes', object, valid });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  try {
    await propose();
    const proposal = await passedBy('a proposal under 2 rules', session, propose);
    await state('b');
    return [...proposal, ...(await passedBy('a statement of a memory', session, () => state('c')))];
  } finally {
    session.disconnect();
    await world.close();
  }
}

async function passedBy(
  name: keyof typeof LIMITS,
  session: Session,
  run: () => Promise<unknown>,
): Promise<BenchResult[]> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const counts = result
    .filter(({ url }) => /\/packages\/[\w-]+\/src\//.test(url))
    .map(({ functions }) =>
      functions
        // The fields of a class are part of its constructor.
        .filter(({ functionName }) => functionName !== '<instance_members_initializer>')
        .reduce((sum, { ranges }) => sum + ranges[0]!.count, 0),
    )
    .filter((count) => count > 0);
  const calls = counts.reduce((sum, count) => sum + count, 0);
  return [
    { name, value: calls, unit: 'calls', goal: { max: LIMITS[name].calls } },
    {
      name: '  source files of them',
      value: counts.length,
      unit: 'files',
      goal: { max: LIMITS[name].files },
    },
  ];
}

if (import.meta.main) console.log(formatTable(await codePathBench()));
